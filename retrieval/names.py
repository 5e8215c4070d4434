"""Whom and what a question names, also with a letter or two wrong."""

from __future__ import annotations

from difflib import SequenceMatcher

import regex

from .text import list_words

FUZZY_LETTERS = 4
FUZZY_RATIO = 0.8
"""From this share of common letters on, a capitalised word of four letters or more is taken for the name."""

LETTERS_WRONG = 2
"""By so many letters at most one name is longer than the other."""

_LETTERS = regex.compile(r"[\p{L}\p{M}]+")


def names_in(question: str) -> set[str]:
    """The words of a question that may be names, folded: those of four letters or more that begin with a capital."""
    capitals = (word for word in _LETTERS.findall(question) if word[0].isupper())
    return {folded for word in capitals for folded in list_words(word) if len(folded) >= FUZZY_LETTERS}


def is_like(name: str, other: str) -> bool:
    """Whether the two may be one name, one of them with a letter or two wrong."""
    return abs(len(name) - len(other)) <= LETTERS_WRONG and SequenceMatcher(None, name, other).ratio() >= FUZZY_RATIO


class NamesIn:
    """The names that a question may hold.

    A word that is a part of somebody's name counts however it is written; one that only resembles it counts when it
    begins with a capital, so that no common word is taken for a name.
    """

    def __init__(self, question: str) -> None:
        self._words = set(list_words(question))
        self._capitals = names_in(question)
        self._known: dict[str, bool] = {}

    def hold(self, name: str) -> bool:
        """Whether the question names whoever is called so. Nobody is called nothing."""
        if name not in self._known:
            self._known[name] = any(self._holds(part) for part in list_words(name))
        return self._known[name]

    def _holds(self, part: str) -> bool:
        if len(part) < FUZZY_LETTERS:
            return len(part) > 1 and part in self._words
        return part in self._words or any(is_like(part, word) for word in self._capitals)

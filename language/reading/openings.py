"""What clauses open with: statements about different subjects are told from each other without being parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .parse import irregular
from .stems import DATES, stem, words_of
from .words import NOT_NAMES, listed

_CLAUSES = re.compile(
    r"[^\w\s'’&/-]+|\s[-–—]\s|\b(?:and|or|nor|but|yet|so|plus|while|whereas|who|whom|whose|which|that|because|since|if"
    r"|when|where|although|though|after|before|until|once|for)\b",
    re.IGNORECASE,
)
"""What stands between clauses, and between other parts: too many parts are as good as the right ones."""
_DETERMINERS = listed("the a an his her its their our")
_OWNER = re.compile(r"[\w-]+['’]s?\s+(?=\w)")
_PLURALS = (("s", ""), ("es", ""), ("ies", "y"), ("ves", "fe"), ("men", "man"))
_AGENT = re.compile(r"\bby\b", re.IGNORECASE)


def openings(text: str) -> frozenset[str] | None:
    """Return the beginnings of a word of the subject of each clause, without its owners: "The user's sister paints".

    Words that open no clause may be among them. None if a subject may be elsewhere, as in a passive.
    """
    if _AGENT.search(text):
        return None
    found = []
    for place, part in enumerate(_CLAUSES.split(text)):
        owned = part.strip()
        words = owned.split(maxsplit=1)
        if len(words) > 1 and words[0].lower() in _DETERMINERS:
            owned = words[1]
        while owner := _OWNER.match(owned):
            owned = owned[owner.end() :]
        first = next(iter(words_of(owned)), "")
        if not first and place:
            continue
        if not first or first in NOT_NAMES or first[0].isdigit() or first.endswith("ly") or DATES.fullmatch(first):
            return None
        found.append(first)
    return beginnings(found)


def beginnings(words: Iterable[str]) -> frozenset[str]:
    """Return the first four letters of words and of what may be their singulars."""
    return frozenset().union(*map(_beginnings, words))


@lru_cache(maxsize=10_000)
def _beginnings(word: str) -> frozenset[str]:
    singulars = {stem(word.removesuffix(ending) + instead) for ending, instead in _PLURALS if word.endswith(ending)}
    return frozenset(form[:4] for form in {word, stem(irregular(word)), *singulars})

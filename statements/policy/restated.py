"""Whether a text holds a rejected statement by its words, beside others or in disguise, however far its vector is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from language.gates.passages import pieces_of
from language.reading.compare import content_words
from language.shown import letters_of

from .resembling import adds_to, count_denials

_PARTS = re.compile(
    r"[,;:()—–]|\s-\s|\b(?:and|but|or|because|so|while|although|though|who|which|that)\b", re.IGNORECASE
)
_OF_THE_USER = re.compile(r"^(?:the )?user\b(?:['’]s)? *", re.IGNORECASE)
_FEWEST_WORDS, _FEWEST_LETTERS = 2, 10


class RejectedWords:
    """The words of rejected statements, to look for in other texts."""

    def __init__(self, rejected: Iterable[str]) -> None:
        self._each = [_Part(text, _OF_THE_USER.sub("", text)) for text in rejected]

    def are_in(self, said: str) -> bool:
        """Whether a sentence, a part of it or its letters without blanks and marks hold one of the statements.

        A part ends at a comma or a conjunction, and may leave out "the user". A statement with a single content word is
        compared by its letters only.
        """
        if not self._each:
            return False
        parts = [_Part(part, part) for part in _parts_of(said)]
        words = frozenset().union(*(part.words for part in parts))
        return any(_holds(parts, words, rejected) for rejected in self._each)


class _Part:
    def __init__(self, text: str, spelled: str) -> None:
        self.text, self.words = text, content_words(text)
        self.letters, self.denials = letters_of(spelled), count_denials(text)


def _holds(parts: Sequence[_Part], words: frozenset[str], rejected: _Part) -> bool:
    if len(rejected.words - {"user"}) >= _FEWEST_WORDS and rejected.words <= words:
        return any(rejected.words <= part.words and adds_to(part.text, rejected.text) for part in parts)
    if len(rejected.letters) < _FEWEST_LETTERS:
        return False
    return any(rejected.letters in part.letters and part.denials == rejected.denials for part in parts)


def _parts_of(said: str) -> Iterator[str]:
    for sentence in pieces_of(said):
        yield sentence
        for part in _PARTS.split(sentence):
            if part.strip() and part != sentence:
                yield part if "user" in part.lower() else f"The user {part.strip()}"

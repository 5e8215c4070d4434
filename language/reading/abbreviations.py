"""Spell out what another text tells: "OCD" by "obsessive-compulsive disorder", "half past two" by "14:30"."""

from __future__ import annotations

import re

from .clock import told_like
from .content import LIGHT, Content

_ABBREVIATION = re.compile(r"(?<![\w.&])[A-Z](?:\.?&?[A-Z]){1,6}\b(?!\.[A-Z])")
_FEWEST = 3
"""Abbreviations of fewer letters stand for names only: any two words may begin with them."""
_SKIPPED = LIGHT | {"for"}
_WORDS = re.compile(r"[^\W_]+")


def spelled_out(one: Content, other: Content) -> tuple[Content, Content]:
    """Return the two with each abbreviation in one replaced by the words in the other that it is short for.

    Likewise times without a half of the day by the same time with one.
    """
    first, second = _spell_out(one.text, other.text), _spell_out(other.text, one.text)
    return (one if first == one.text else Content(first)), (other if second == other.text else Content(second))


def _spell_out(text: str, other: str) -> str:
    return _ABBREVIATION.sub(lambda found: _words_of(found[0], other) or found[0], told_like(text, other))


def _words_of(abbreviation: str, text: str) -> str:
    """Return the consecutive words of a text that begin with the letters, or "". Function words may have none."""
    letters = re.sub(r"\W", "", abbreviation).lower()
    words = list(_WORDS.finditer(text))
    for start in range(len(words)):
        at = 0
        for word in words[start:]:
            low = word[0].lower()
            is_told = low[0] == letters[at] and (len(letters) >= _FEWEST or word[0][0].isupper())
            if is_told:
                at += 1
            elif at == 0 or low not in _SKIPPED:
                break
            if at == len(letters):
                return text[words[start].start() : word.end()]
    return ""

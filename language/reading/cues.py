"""Cues in a statement and its message that it corrects, negates or replaces an earlier statement."""

from __future__ import annotations

import re
from copy import copy
from functools import cached_property

from .claims import Thing, is_dated
from .stems import LIGHT, words_of

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.:]\d+[^.!?\n]*)*")
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*\.?")
_NOT_THIS = re.compile(
    r"\b(?:not|never|isn['’]t|instead of|rather than|no longer|forget|switched from|i said|i wrote"
    r"|(?:through|done) with|keep (?:saying|writing|calling)|\w+n['’]t (?:go|work|live|study|play) (?:to|at|in|for))\b"
    r"((?: [\w'’-]+){1,5})",
    re.IGNORECASE,
)
_OUT = re.compile(
    r"(\w+) (?:isn['’]t|is not|wasn['’]t) (?:for|my thing)\b|(\w+)(?: is|['’]s) (?:off|out)\b", re.IGNORECASE
)
_CHANGED = re.compile(
    r"\b(?:now|nowadays|from now on|these days|instead|since|any ?more|no longer|as of|by now|meanwhile|became|changed"
    r"|switched|swapped|extended|again|back|starting|rebooked|pushed|in the end|change of plans?|left(?=\.?$))\b",
    re.IGNORECASE,
)
_CORRECTED = re.compile(
    r"\b(?:actually|correction|sorry|meant|mistake|typo|wrong|a lie|no wait|rather|turns out|after all|no,? no)\b",
    re.IGNORECASE,
)
_WAS_WRONG = re.compile(
    r"\b(?:(?:had|got|have|wrote|said) (?:it|that|this) (?:all )?wrong"
    r"|(?:mixed|muddled) (?:it|them|that|those|the \w+) up|corrected me"
    r"|you keep (?:saying|writing|calling)|misspelled|misheard|take (?:it )?back)\b",
    re.IGNORECASE,
)
_NEVER_YET = re.compile(r"\b(?:has|have|'ve) (?:never|not)\b|\bha(?:s|ve)n['’]t\b", re.IGNORECASE)
_IN_ADDITION = re.compile(r"\b(?:also|too|as well|another|other|second|besides|in addition)\b", re.IGNORECASE)


class ChangeCues:
    """The cues: which words are negated, and whether the statement is news, a correction or an addition."""

    existing = ""

    def __init__(self, new: str, said: str) -> None:
        self.new = new
        value = {word for word in words_of(new) if word not in LIGHT}
        about = [each for each in _SENTENCE.findall(said) if not value.isdisjoint(words_of(each))]
        heard = " . ".join([new, *about])
        self.is_news = bool(_CHANGED.search(heard))
        self.is_correction = bool(_CORRECTED.search(heard) or _WAS_WRONG.search(said))
        self.is_addition = bool(_IN_ADDITION.search(heard))
        self.negated = {
            word for match in _NOT_THIS.finditer(f"{new} . {said}") for word in words_of(match[1]) if word not in LIGHT
        }
        self.negated |= {word for match in _OUT.finditer(said) for word in words_of(match[1] or match[2])}
        self.negated |= {word.removesuffix("s") for word in self.negated if len(word) > 3}
        self.negated |= {re.sub(r"(?:st|nd|rd|th)$", "", word) for word in self.negated if word[:1].isdigit()}

    def of(self, existing: str) -> ChangeCues:
        """Return the cues beside an existing statement: those of the new one are the same beside all."""
        cues = copy(self)
        cues.existing = existing
        return cues

    @cached_property
    def is_perfect_negated(self) -> bool:
        """Whether the existing statement says that something has not happened yet."""
        return _NEVER_YET.search(self.existing) is not None

    @cached_property
    def only_figures_differ(self) -> bool:
        """Whether the statements differ only in figures that are not dates."""
        return _differ_in_figures(self.existing, self.new)


def _differ_in_figures(one: str, other: str) -> bool:
    """Whether two texts differ only in figures that are not dates."""
    first, second = ([word for word in words_of(text) if not _CHANGED.fullmatch(word)] for text in (one, other))
    pairs = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
    dated = any(is_dated(Thing(word, frozenset())) for word in {*first, *second})
    return len(first) == len(second) and not dated and all(FIGURE.fullmatch(word) for pair in pairs for word in pair)


def _figures(thing: Thing) -> frozenset[str]:
    return frozenset(word for word in thing.words() if FIGURE.fullmatch(word))


def is_count(one: Thing, other: Thing) -> bool:
    """Whether two arguments differ only in their figures."""
    first, second = _figures(one), _figures(other)
    return bool(first) and bool(second) and first != second and one.words() - first == other.words() - second

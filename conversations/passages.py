"""Texts out of which passages were taken: where words stand, and how the text reads without them. No database.

Positions are those of the text as it was said, whatever was taken out of it since.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from language.reading.sentences import split_sentences

MARK = "[withheld]"
"""What stands in the place of words that were taken out."""
_UNKNOWN = "\0"
"""Stands for a character that was erased; no stored text holds it."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters ``start`` (included) to ``end`` (excluded) of a text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the two have characters in common."""
        return self.start < other.end and other.start < self.end


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same characters as spans that are in order and neither overlap nor touch."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


class Original:
    """A text as it was said, as far as it is still known.

    ``shown`` is how it reads now, and ``taken`` what was taken out, with the words, which are empty where they were
    erased since.
    """

    def __init__(self, shown: str, taken: Iterable[tuple[Span, str]] = ()) -> None:
        passages = list(taken)
        pieces, read, at = [], 0, 0
        for span in merged(each for each, _ in passages):
            kept = span.start - at
            pieces += [shown[read : read + kept], _UNKNOWN * (span.end - span.start)]
            read, at = read + kept + len(MARK), span.end
        characters = list("".join([*pieces, shown[read:]]))
        for span, words in passages:
            if words:
                characters[span.start : span.end] = words
        self.text = "".join(characters)

    @property
    def whole(self) -> Span:
        """All of it."""
        return Span(0, len(self.text))

    def words(self, span: Span) -> str:
        """What stands there; empty when any of it was erased."""
        words = self.text[span.start : span.end]
        return "" if _UNKNOWN in words else words

    def known(self, span: Span) -> list[Span]:
        """The parts of a span that hold words and were not erased."""
        parts = re.finditer(f"[^{_UNKNOWN}]+", self.text[span.start : span.end])
        found = [Span(span.start + each.start(), span.start + each.end()) for each in parts]
        return [each for each in found if self.text[each.start : each.end].strip()]

    def without(self, spans: Iterable[Span]) -> str:
        """How it reads when these are taken out."""
        return MARK.join(self.pieces(spans))

    def pieces(self, spans: Iterable[Span]) -> list[str]:
        """What is left of it when these are taken out: what stands before, between and after them."""
        pieces, at = [], 0
        for span in merged(spans):
            pieces.append(self.text[at : span.start])
            at = span.end
        return [*pieces, self.text[at:]]

    def sentences(self) -> Iterator[Span]:
        """Where its sentences stand."""
        return (Span(each.start, each.end) for each in split_sentences(self.text))

    def holding(self, quote: str) -> list[Span]:
        """The sentences that hold a quotation; all of the text when it is nowhere, since then any may say it."""
        found = [Span(*match.span()) for match in find_all(quote, self.text, any_case=True)]
        around = [each for each in self.sentences() if any(each.overlaps(one) for one in found)]
        return merged([*around, *found]) or [self.whole]


def find_all(quote: str, content: str, *, any_case: bool = False) -> list[re.Match[str]]:
    """Where a text has these words; as they are spelled, if it has them so anywhere, else or always in any case."""
    words = r"\s+".join(re.escape(word) for word in quote.split())
    if not words:
        return []
    spelled = [] if any_case else list(re.finditer(words, content))
    return spelled or list(re.finditer(words, content, re.IGNORECASE))

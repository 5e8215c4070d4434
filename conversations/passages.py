"""Redacted texts: positions of words, and the text with passages withheld. No database access.

All positions refer to the original text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from language.reading.sentences import split_sentences
from retrieval.text import list_words

MARK = "[withheld]"
"""The text shown in place of withheld words."""
_LABEL = re.compile(r"^\W*(?:\d+[.)](?:\s+|$))?(?:[^\W\d][\w'’-]*(?: [\w'’-]+){0,2}:\s+)?")
_UNKNOWN = "\0"
"""Placeholder for an erased character; no stored text contains it."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters ``start`` (included) to ``end`` (excluded) of a text."""

    start: int
    end: int

    def overlaps(self, other: Span) -> bool:
        """Whether the spans share characters."""
        return self.start < other.end and other.start < self.end


def merged(spans: Iterable[Span]) -> list[Span]:
    """Merge spans into sorted ones that neither overlap nor touch."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.start <= found[-1].end:
            found[-1] = Span(found[-1].start, max(found[-1].end, span.end))
        else:
            found.append(span)
    return found


class Original:
    """The original of a redacted text, as far as it was not erased.

    ``shown`` is the current text; ``taken`` are the redacted spans with their words, empty if they were erased.
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
        """The span of the whole text."""
        return Span(0, len(self.text))

    def words(self, span: Span) -> str:
        """Return the text of a span, or '' when any of it was erased."""
        words = self.text[span.start : span.end]
        return "" if _UNKNOWN in words else words

    def known(self, span: Span) -> list[Span]:
        """Return the parts of a span that were not erased and are not blank."""
        parts = re.finditer(f"[^{_UNKNOWN}]+", self.text[span.start : span.end])
        found = [Span(span.start + each.start(), span.start + each.end()) for each in parts]
        return [each for each in found if self.text[each.start : each.end].strip()]

    def without(self, spans: Iterable[Span]) -> str:
        """Return the text with these spans replaced by the mark."""
        return MARK.join(self.pieces(spans))

    def pieces(self, spans: Iterable[Span]) -> list[str]:
        """Return the text before, between and after these spans."""
        pieces, at = [], 0
        for span in merged(spans):
            pieces.append(self.text[at : span.start])
            at = span.end
        return [*pieces, self.text[at:]]

    def sentences(self) -> Iterator[Span]:
        """Yield the spans of its sentences."""
        return (Span(each.start, each.end) for each in split_sentences(self.text))

    def holding(self, quote: str, *, verbatim: bool = False) -> list[Span]:
        """Return the spans of the sentences that hold a quotation, or the whole text when it is not found.

        ``verbatim``: only of the quotation.
        """
        found = [Span(*match.span()) for match in find_all(quote, self.text, any_case=True)]
        sentences = () if verbatim else self.sentences()
        around = [each for each in sentences if any(each.overlaps(one) for one in found)]
        return merged([*around, *found]) or [self.whole]


def passages_saying(text: str, said: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """Yield which of the sentences a text says over several of its sentences or lines, and their span.

    ``said`` are words in their order, between single spaces (``list_words``). Marks between the lines don't count, such
    as those of quotations, headings and lists, nor numbers and labels of up to three words before a colon at their
    beginning.
    """
    spans = list(Original(text).sentences())
    if len(spans) < 2:
        return
    lines = [text[span.start : span.end] for span in spans]
    for each in (lines, [_LABEL.sub("", line) for line in lines]):
        words = [(word, span) for line, span in zip(each, spans, strict=True) for word in list_words(line)]
        flat = f" {' '.join(word for word, _ in words)} "
        for place, wanted in enumerate(said):
            at = flat.find(wanted)
            while at >= 0:
                first = flat.count(" ", 0, at)
                begin, end = words[first][1], words[first + wanted.count(" ") - 2][1]
                if begin != end:
                    yield place, Span(begin.start, end.end)
                at = flat.find(wanted, at + 1)


def asks(sentence: str) -> bool:
    """Whether a sentence is a question: it says nothing."""
    return sentence.rstrip().endswith("?")


def find_all(quote: str, content: str, *, any_case: bool = False) -> list[re.Match[str]]:
    """Find all matches of a quotation, with any white space between its words.

    Matches in the same case are preferred; without any, or with ``any_case``, case is ignored.
    """
    words = r"\s+".join(re.escape(word) for word in quote.split())
    if not words:
        return []
    spelled = [] if any_case else list(re.finditer(words, content))
    return spelled or list(re.finditer(words, content, re.IGNORECASE))

"""Corrections in chat messages, by patterns without a parse: whether there is one, and the old and new value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PUTS_RIGHT = re.compile(
    r"\b(?:no longer|not any ?more|\w+n['’]t \w[^.!?]{0,60} any ?more|I (?:meant|misspoke|was (?:wrong|mistaken))"
    r"|that(?:['’]s| is| was) (?:wrong|not right|a mistake))\b"
    r"|\bcorrection:|\bI tell a lie\b|\b(?:actually|sorry|no)\b,?[^.!?]{1,120}\bnot\b|, not [^.!?,]{1,40}[.!]?$",
    re.IGNORECASE | re.MULTILINE,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!]*")
_OPENING = r"(?:(?:actually|sorry|no|oh|oops|wait|well|and|but|correction|I mean|my mistake|hang on)\b[\s,:!–—-]*)*"
_ARTICLE = r"(?:(?:the|a|an|my|his|her|their|our)\s+)?"
_FEW = r"[\w'’-]+(?:\s+[\w'’-]+){0,3}"
_INSTEAD = re.compile(
    rf"(?P<body>.+?)\s*(?P<apart>[,;–—-]?)\s+(?:and\s+|but\s+)?not\s+{_ARTICLE}(?P<was>{_FEW})\s*[.!]*", re.I
)
_NAMED_ONLY = re.compile(
    rf"{_OPENING}(?:(?:(?:it|that|this|they|he|she|I)(?:['’](?:s|re|m)|\s+(?:is|was|are|were|am|should be|meant|mean))"
    rf"|make (?:it|that))\s+(?:(?:called|named)\s+)?{_ARTICLE}|the\s+|(?=[\w'’-]+$))(?P<now>{_FEW})",
    re.IGNORECASE,
)
_LAST_WORDS = [
    re.compile(rf"(?P<before>[\w'’-]+)\s+{_ARTICLE}(?P<now>{words})$", re.IGNORECASE)
    for words in (r"[\w'’-]+", r"[\w'’-]+\s+[\w'’-]+")
]


def puts_right(said: str) -> bool:
    """Whether a message corrects or ends something said before; a question does not."""
    return "?" not in said and _PUTS_RIGHT.search(said) is not None


@dataclass(frozen=True, slots=True)
class Correction:
    """A sentence with a new value and a negated old one: ``body`` before the *not*, ``old_value`` after it."""

    sentence: str
    body: str
    old_value: str

    def contains_old_value(self, statement: str) -> bool:
        """Whether a statement contains the negated words."""
        return self._find_old_value(statement) is not None

    def apply_to(self, statement: str) -> str | None:
        """The corrected statement; None if the correction does not apply to it, or is incomplete."""
        found = self._find_old_value(statement)
        now = self._new_value(found["before"] or "") if found else None
        if found is None or now is None:
            return None
        article = found["article"]
        if article.strip().lower() in {"a", "an"}:
            article = "an " if now[0].lower() in "aeiou" else "a "
        return f"{statement[: found.start('article')]}{article}{now}{statement[found.end('was') :]}"

    def without_negated_ending(self, statement: str) -> str:
        """A statement without its ending that only negates the old value."""
        return re.sub(rf",? not {_ARTICLE}{re.escape(self.old_value)}(?=\.?$)", "", statement, flags=re.IGNORECASE)

    def _find_old_value(self, statement: str) -> re.Match[str] | None:
        words = re.escape(self.old_value)
        return re.search(
            rf"(?:(?P<before>[\w'’-]+)\s+)??(?P<article>{_ARTICLE})\b(?P<was>{words})\b(?!['’]s)", statement, re.I
        )

    def _new_value(self, before: str) -> str | None:
        only = _NAMED_ONLY.fullmatch(self.body)
        if only is not None:
            return only["now"]
        ends = (each.search(self.body) for each in _LAST_WORDS)
        verb = before.lower().rstrip("s")
        return next((end["now"] for end in ends if end and verb and end["before"].lower().rstrip("s") == verb), None)


def corrections_in(said: str) -> Iterator[Correction]:
    """Yield the sentences of a message with both a new and an old value."""
    for sentence in _SENTENCE.findall(said) if puts_right(said) else ():
        found = _INSTEAD.fullmatch(sentence.strip())
        if found is not None and (found["apart"] or _NAMED_ONLY.fullmatch(found["body"])):
            yield Correction(sentence.strip(), found["body"], found["was"])

"""Corrections in chat messages, found by patterns without a parse, and what they make of a statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from .gist import base
from .predicates import CHANGES, ENDS, PARTINGS
from .values import new_wording

_PUTS_RIGHT = re.compile(
    r"\b(?:no longer|not any ?more|\w+n['’]t \w[^.!?]{0,60} any ?more|I (?:meant|misspoke|was (?:wrong|mistaken))"
    r"|that(?:['’]s| is| was) (?:wrong|not right|a mistake))\b"
    r"|\bI(?:['’]ve| have)? (?:just )?(?:quit|left|stopped|gave up|given up)\b[^.!?]*\bnow\b"
    r"|\bcorrection:|\bI tell a lie\b|\b(?:actually|sorry|no)\b,?[^.!?]{1,120}(?:\bnot\b|n['’]t\b)"
    r"|, not [^.!?,]{1,40}[.!]?$",
    re.IGNORECASE | re.MULTILINE,
)
_NOWADAYS = re.compile(
    r"\b(?:I|we|my \w+)\b[^.!?;]{1,80}?\b(?:now|nowadays|these days|instead|from (?:now|here) on)\b", re.IGNORECASE
)
_DID = re.compile(
    r"\b(?:I|we)(?:['’]ve| have)?(?: (?:just|finally|recently|have|got)){0,2} ([a-z]+)\b(?: (up|off|out|away|in)\b)?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?\n]+[.!]*")
_OPENING = r"(?:(?:actually|sorry|no|oh|oops|wait|well|and|but|correction|I mean|my mistake|hang on)\b[\s,:!–—-]*)*"
_ARTICLE = r"(?:(?:the|a|an|my|his|her|their|our)\s+)?"
_FEW = r"[\w'’-]+(?:\s+[\w'’-]+){0,3}"
_INSTEAD = re.compile(
    rf"(?P<body>.+?)\s*(?P<apart>[,;–—-]?)\s+(?:and\s+|but\s+)?not\s+{_ARTICLE}(?P<was>{_FEW})\s*[.!]*", re.I
)
_NOT_BUT = re.compile(rf"{_OPENING}not\s+{_ARTICLE}(?P<was>{_FEW})\s*[,;–—]\s*{_ARTICLE}{_FEW}\s*[.!]*", re.IGNORECASE)
"""A sentence that is only the old value and the new one: "Not Emil, Anton." """
_IT_IS = r"(?:it|that|this)(?:['’]s| is| was)"
_IT_IS_NOT = re.compile(
    rf"{_OPENING}(?:{_IT_IS} not|(?:it|that|this) (?:is|was)n['’]t) {_ARTICLE}(?P<was>{_FEW})\s*[,;.–—]\s*(?:but )?"
    rf"{_IT_IS} {_ARTICLE}(?P<now>{_FEW})\s*[.!]*",
    re.IGNORECASE,
)
"""The same in two clauses: "It's not Bruges, it's Ostend." """
_WHOSE = re.compile(
    rf"{_OPENING}(?P<who>he|she)(?:['’]s not| is not| isn['’]t| was not| wasn['’]t) (?P<was>[\w-]+['’]s)(?: [\w-]+)+"
    rf"\s*[,;.–—]\s*(?:but )?(?:he|she)(?:['’]s| is| was) (?P<now>[\w-]+['’]s)\s*[.!]*",
    re.IGNORECASE,
)
"""Whose relative somebody is: "She isn't Nora's godmother, she's Lise's." """
_NAMED_ONLY = re.compile(
    rf"{_OPENING}(?:(?:(?:it|that|this|they|he|she|I)(?:['’](?:s|re|m)|\s+(?:is|was|are|were|am|should be|meant|mean))"
    rf"|make (?:it|that))\s+(?:(?:called|named)\s+)?{_ARTICLE}|the\s+|(?=[\w'’-]+$))(?P<now>{_FEW})",
    re.IGNORECASE,
)


def puts_right(said: str) -> bool:
    """Whether a message corrects or ends something said before; a question does not."""
    return "?" not in said and _PUTS_RIGHT.search(said) is not None


def tells_change(said: str) -> bool:
    """Whether somebody may say that something of theirs ended or is otherwise now; a question does not.

    "I sold the Volvo; I drive a Skoda now." Nothing is parsed: it decides how soon a message is read, not what it says.
    """
    if "?" in said:
        return False
    found = ((base(each[1].lower()), (each[2] or "").lower()) for each in _DID.finditer(said))
    did = (words for verb, particle in found for words in (verb, f"{verb} {particle}"))
    return _NOWADAYS.search(said) is not None or not _over().isdisjoint(did)


@cache
def _over() -> frozenset[str]:
    return frozenset(" ".join(map(base, verb.split())) for verb in ENDS | CHANGES | PARTINGS)


@dataclass(frozen=True, slots=True)
class Correction:
    """A sentence with a new value and a negated old one; ``short``: both, in fewer words."""

    sentence: str
    old_value: str
    short: str = ""

    def contains_old_value(self, statement: str) -> bool:
        """Whether a statement contains the negated words."""
        return re.search(rf"\b{re.escape(self.old_value)}\b(?!['’]s)", statement, re.IGNORECASE) is not None

    def apply_to(self, statement: str) -> str | None:
        """The corrected statement; None if the correction does not apply to it, or is incomplete."""
        wording = new_wording(statement, self.short or self.sentence) if self.contains_old_value(statement) else None
        return wording.content if wording is not None and wording.contrasts else None


def corrections_in(said: str) -> Iterator[Correction]:
    """Yield the sentences of a message with both a new and an old value."""
    only = _NOT_BUT.fullmatch(said.strip())
    if only is not None:
        yield Correction(only[0], only["was"])
        return
    if (both := _IT_IS_NOT.fullmatch(said.strip()) or _WHOSE.fullmatch(said.strip())) is not None:
        yield Correction(both[0], both["was"], f"it's not {both['was']}, it's {both['now']}")
        return
    for sentence in _SENTENCE.findall(said) if puts_right(said) else ():
        found = _INSTEAD.fullmatch(sentence.strip())
        opens = found is not None and re.fullmatch(_OPENING, found["body"], re.IGNORECASE)  # "No, not the pipe."
        if found is not None and not opens and (found["apart"] or _NAMED_ONLY.fullmatch(found["body"])):
            yield Correction(sentence.strip(), found["was"])


def puts_other_right(said: str, memory: str) -> bool:
    """Whether a message corrects a value, and none that a memory has: "the Goethe school, not the Lessing school"."""
    corrected = list(corrections_in(said))
    return bool(corrected) and not any(each.contains_old_value(memory) for each in corrected)

"""How two words of statements about a person are related: by WordNet and by kinship."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from .lexicon import ALIKE, Relation, relation
from .stems import stem
from .words import KIN_WORDS, listed

_SYNONYMS = Path(__file__).with_name("synonyms.txt")
"""Synonyms that WordNet lacks. The first word of each line replaces the others.

Related words that differ in meaning ("violin" and "viola") must not be listed.
"""
Part = Literal["noun", "verb", "adjective", "adverb", "name", "figure", "preposition", "other"]

_GENERIC = listed(
    """something someone thing person people way time place get go make take give put keep come become use enjoy do have
    begin everything everyone man woman live life"""
)
_ONE_EACH = listed(
    """mother father grandmother grandfather sister brother aunt uncle wife husband daughter son cousin niece nephew
    granddaughter grandson grandchild great-grandmother great-grandfather stepmother stepfather"""
)
SAME_KIN = {
    word: kin
    for kin, (_, words) in KIN_WORDS.items()
    if kin in _ONE_EACH
    for word in words - {"girl", "boy", "lad", "nanny"}
}
SAME_KIN |= {word.replace("-", ""): kin for word, kin in SAME_KIN.items()}
KIN = frozenset(SAME_KIN.values()) | listed(
    """child parent sibling twin spouse partner fiancé fiancée girlfriend boyfriend friend stepchild stepson
    stepdaughter godmother godfather godchild goddaughter godson grandparent guardian boss manager supervisor colleague
    coworker
    assistant intern client mentor teacher tutor coach neighbour flatmate landlord landlady tenant doctor dentist
    therapist lawyer accountant vet team nanny"""
)
"""Nouns for a relation between people."""


@dataclass(frozen=True, slots=True)
class Token:
    """A content word: its form in lower case, its lemma, its part of speech and its index."""

    index: int
    low: str
    lemma: str
    part: Part
    tag: str

    @property
    def is_kin(self) -> bool:
        """Whether it is a kinship or relation noun."""
        return self.lemma in KIN or self.low.endswith("-in-law")

    @property
    def weight(self) -> float:
        """Its weight in a comparison: less for generic words."""
        return 0.3 if self.lemma in _GENERIC or self.low in _GENERIC else 1.0


def related(one: Token, other: Token) -> Relation | Literal["names"]:  # noqa: PLR0911
    """How two words are related; "names" for two names."""
    if one.lemma == other.lemma or one.low == other.low:
        return "same"
    if "figure" in {one.part, other.part}:
        return ""
    if one.is_kin or other.is_kin:
        return _kin_related(one, other)
    if one.part == other.part == "name":
        return "derived" if relation(one.low, other.low) == "derived" else "names"
    if stem(one.lemma) == stem(other.lemma):
        return "same"
    if one.part == other.part and "name" not in {one.part, other.part} and form_of(one.lemma) == form_of(other.lemma):
        return "synonym"
    found = [relation(first, second) for first in {one.lemma, one.low} for second in {other.lemma, other.low}]
    best = max(found, key=lambda each: (ALIKE.get(each, 0.0), each == "opposite", bool(each)))
    shared = 5
    if (
        not best
        and one.part != other.part
        and min(len(one.lemma), len(other.lemma)) >= shared
        and one.lemma[:shared] == other.lemma[:shared]
    ):
        return "derived"
    return best


def _kin_related(one: Token, other: Token) -> Relation:
    found = relation(one.lemma, other.lemma)
    if found in {"same", "synonym", "derived"}:
        return found
    if one.is_kin and other.is_kin:
        return "sibling"
    return found if found == "kind" else ""


def form_of(low: str) -> str:
    """The normal form of a word in lower case: of synonyms the first."""
    root = _rooted(low)
    return _synonyms().get(root, root)


@cache
def _synonyms() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in _SYNONYMS.read_text(encoding="utf-8").splitlines():
        words = [] if line.startswith("#") else line.split()
        for word in words[1:]:
            found.setdefault(_rooted(word), _rooted(words[0]))
    return found


def _rooted(low: str) -> str:
    """The word without inflectional endings."""
    low = stem(low)
    if not low.isalpha() or len(low) < 4:
        return low
    low = re.sub(r"(?<=[sxh])es$|(?<=[^s])s$|(?<=...)ing$|(?<=...)ed$", "", re.sub(r"ies$", "y", low))
    return re.sub(r"([^aeiou])\1$", r"\1", stem(low)).removesuffix("e")

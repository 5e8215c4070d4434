"""How two words of statements about a person are related: by WordNet and by kinship."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .lexicon import ALIKE, Relation, relation
from .stems import stem
from .synonyms import form_of
from .words import KIN_WORDS, listed

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

"""Classifies a new statement relative to an existing one. No database.

A band depends on their cosine similarity and on a comparison by grammar or a model. Similarity alone never makes
duplicates: "lends money to Ana" and "borrows money from Ana" are as similar as two wordings of one fact.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum

from django.conf import settings

from language.base import Comparison
from language.reading.compare import Saying, stored_saying
from language.reading.words import listed

from ..models import Memory


class Band(IntEnum):
    """What to do with the new statement, in order of increasing closeness.

    NEW: add it. UNSURE: add it, and mark it for consolidation. CONTRADICT: add it; both can't be true. RECREATE: it
    replaces the other, which was true until now or wrong. UPDATE: a rewording of the other. REINFORCE: a duplicate.
    """

    NEW = 0
    UNSURE = 1
    CONTRADICT = 2
    RECREATE = 3
    UPDATE = 4
    REINFORCE = 5


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Minimum cosine similarity of each band."""

    auto: float
    update: float
    check_low: float
    fallback_low: float

    @classmethod
    def of(cls, field: str) -> Thresholds:
        """Return the configured thresholds; stricter ones for a ``field``."""
        return cls(
            auto=settings.MEMORY_FIELD_AUTO_SIMILARITY if field else settings.MEMORY_AUTO_SIMILARITY,
            update=settings.MEMORY_FIELD_UPDATE_SIMILARITY if field else settings.MEMORY_UPDATE_SIMILARITY,
            check_low=settings.MEMORY_CHECK_LOW_SIMILARITY,
            fallback_low=settings.MEMORY_FALLBACK_LOW_SIMILARITY,
        )


def band(similarity: float, verdict: Comparison, thresholds: Thresholds) -> Band:
    """Return the band of two statements. Monotonic in their similarity."""
    if verdict == "same" and similarity >= thresholds.auto:
        return Band.REINFORCE
    if verdict == "same" and similarity >= thresholds.update:
        return Band.UPDATE
    if verdict in _AT_ODDS and similarity >= thresholds.check_low:
        return _AT_ODDS[verdict]
    return Band.UNSURE if similarity >= thresholds.fallback_low else Band.NEW


_AT_ODDS = {"replaces": Band.RECREATE, "contradicts": Band.CONTRADICT}


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A similar memory. ``apart``: it has another subject, or is hidden. ``saying``: its content, if parsed already."""

    memory_id: str
    content: str
    similarity: float
    apart: bool = False
    saying: Saying | None = None

    def band(self, new: Saying, thresholds: Thresholds, verdicts: Mapping[str, Comparison] | None = None) -> Band:
        """Return the band of a statement and this memory, by the model's ``verdicts`` or else by grammar.

        Parsed only where it matters, since that takes milliseconds. A memory that is ``apart`` is UNSURE at most.
        Statements without a common word are NEW.
        """
        verdict: Comparison = "different"
        existing = self.saying or stored_saying(self.content)
        if self.is_comparable(thresholds):
            verdict = (verdicts or {}).get(self.content) or new.to(existing)
        found = band(self.similarity, verdict, thresholds)
        if found == Band.UNSURE and not self.apart and new.matters.isdisjoint(existing.matters):
            return Band.NEW
        return found

    def is_comparable(self, thresholds: Thresholds) -> bool:
        """Whether the band depends on the texts."""
        return not self.apart and self.similarity >= thresholds.check_low


def nearest_band(
    new: Saying,
    neighbours: Iterable[Neighbour],
    thresholds: Thresholds,
    verdicts: Mapping[str, Comparison] | None = None,
) -> tuple[Band, list[Neighbour]]:
    """Return the greatest band with any neighbour, and the neighbours in it, nearest first."""
    found = [(neighbour.band(new, thresholds, verdicts), neighbour) for neighbour in neighbours]
    greatest = max((each for each, _ in found), default=Band.NEW)
    inside = [neighbour for each, neighbour in found if each == greatest]
    return greatest, sorted(inside, key=lambda neighbour: -neighbour.similarity)


# --- Two signals of one tone or goal ---------------------------------------------------------------------------------

AGREED = frozenset({Memory.Field.TONE, Memory.Field.GOAL})
"""Fields that two signals from two conversations settle. All others only the person does."""

_VALUE_WORDS = listed(
    """the user users user's a an to of in on for with and or be is are was i my me they their them want wants like
    likes prefer prefers would rather has have ask asked asks expect expects appreciate appreciates value values
    wish wishes plan plans hope hopes hoping intend intends aim aims goal goals dream dreams this year objective
    ambition resolution one tone style answer answers reply replies response responses explanation explanations
    communication conversation conversations wording preferred please keep make use that it should at by
    determined trying working towards"""
)
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_SAME_TONE = {
    **dict.fromkeys(("brief", "short", "shorter", "succinct", "terse", "crisp", "conciseness", "brevity"), "concise"),
    **dict.fromkeys(("casual", "relaxed", "conversational", "informally", "informality"), "informal"),
    **dict.fromkeys(("warm", "warmer", "kind"), "friendly"),
    **dict.fromkeys(("blunt", "straightforward", "directness", "to-the-point"), "direct"),
    **dict.fromkeys(("thorough", "long", "longer", "detail"), "detailed"),
    **dict.fromkeys(("formally", "formality"), "formal"),
}


def value_of(content: str) -> str:
    """Return the sorted content words of a tone or goal, by which two signals are compared."""
    words = (word.casefold() for word in _WORD.findall(content))
    return " ".join(sorted({_SAME_TONE.get(word, word) for word in words if word not in _VALUE_WORDS}))

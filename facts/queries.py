"""Reads behind the writing of facts: the same statement, and its nearest neighbours."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from accounts.principals import Principal
from conversations.actions import Cause
from conversations.echoes import Repetition, RepetitionQuery, find_repetitions
from language.base import Comparison, Vectors
from retrieval.search import nearest
from statements.policy import fingerprints
from statements.wording import Embedded

from . import policy
from .models import FactEvidence, LegacyFact
from .querysets import FactQuerySet


@dataclass(frozen=True, slots=True)
class FactNeighbour:
    """A present fact near a statement; ``mine`` when it is the person's own, else another member's shared one."""

    fact_id: UUID
    content: str
    mine: bool
    similarity: float

    def relation(self, content: str, verdicts: Mapping[str, Comparison]) -> str | None:
        """What a statement is to this fact, by the verdicts of ``same_fact`` on this fact's wording."""
        return policy.relation(self.content, content, self.similarity, verdicts.get(self.content, "different"))


def same_words(principal: Principal, legacy_id: UUID, content: str, *, but: UUID | None = None) -> LegacyFact | None:
    """The person's present fact with the same words, whatever its case, accents and punctuation."""
    rows = _own(principal, legacy_id).exclude(pk=but) if but else _own(principal, legacy_id)
    wanted = fingerprints(principal.user_id, content) if principal.user_id else []
    return rows.filter(fingerprint__in=wanted).order_by("extracted_at").first()


def neighbours(
    principal: Principal,
    legacy_id: UUID,
    vector: Vectors,
    embedding_model: str,
    *,
    but: UUID | None = None,
) -> list[FactNeighbour]:
    """The facts nearest to a vector, the person's own first, then what other members share, each nearest first.

    Facts that are held back are none: a model is asked about neighbours, and must not read those.

    Exact. At most ``FACT_NEIGHBOURS`` of either, all at least ``FACT_RELATED_SIMILARITY`` near. ``but`` is left out.
    """
    own = _own(principal, legacy_id).comparable()
    others = LegacyFact.objects.of_others(principal).filter(legacy_id=legacy_id)
    found: list[tuple[UUID, bool, float]] = []
    for rows, mine in ((own, True), (others, False)):
        hits = nearest(
            rows.exclude(pk=but) if but else rows,
            vector,
            embedding_model,
            settings.FACT_NEIGHBOURS,
            settings.FACT_RELATED_SIMILARITY,
        )
        found.extend((hit.id, mine, hit.similarity or 0.0) for hit in hits)
    contents = dict(LegacyFact.objects.filter(pk__in=[pk for pk, _, _ in found]).values_list("pk", "content"))
    return [FactNeighbour(pk, contents[pk], mine, similarity) for pk, mine, similarity in found if pk in contents]


def _own(principal: Principal, legacy_id: UUID) -> FactQuerySet:
    # Also what waits for the person and an agent may not see: it must not be added a second time.
    own = LegacyFact.objects.filter(user_id=principal.user_id) if principal.user_id else LegacyFact.objects.none()
    return own.filter(legacy_id=legacy_id).present()


def also_said(principal: Principal, fact_id: UUID) -> list[Repetition]:
    """What else of its author's says what a fact says that they don't want kept. The legacy's name alone does not."""
    fact = LegacyFact.objects.mine(principal).filter(pk=fact_id).select_related("legacy").first()
    if fact is None:
        return []
    text, names = Embedded.of_row(fact), [fact.legacy.name]
    return find_repetitions(principal, ("fact", fact.pk), fact.content, text.vector, text.embedding_model, names=names)


def facts_say_again(principal: Principal, sought: RepetitionQuery) -> list[Repetition]:
    """The person's own facts that say the same as something that is not to be kept."""
    return LegacyFact.objects.mine(principal).present().saying_again(sought, "fact")


def facts_kept_of(user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> Iterable[str]:
    """What stays a fact that rests on messages of which words are withheld."""
    behind = FactEvidence.objects.filter(message__in=message_ids).values("fact")
    rows = LegacyFact.objects.filter(user_id=user_id, state=LegacyFact.State.ACTIVE, pk__in=behind)
    return (content for pk, content in rows.values_list("pk", "content") if str(pk) != cause.id)

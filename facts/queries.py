"""Queries of the actions on facts: duplicates, nearest neighbours, repetitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings

from accounts.principals import Principal
from conversations.actions import Cause
from conversations.echoes import RejectedText, Repetition, RepetitionQuery, find_repetitions
from language.base import Comparison, Vectors
from retrieval.search import nearest
from statements.actions import rejected_statements, wordings
from statements.policy import fingerprints
from statements.refused_wordings import are_refused, reads_all
from statements.said_again import statements_say_again
from statements.wording import Embedded

from . import policy
from .models import FACT, FactEvidence, FactVersion, LegacyFact
from .querysets import FactQuerySet


@dataclass(frozen=True, slots=True)
class FactNeighbour:
    """A present fact similar to a statement: the person's own (``mine``), or shared by another member."""

    fact_id: UUID
    content: str
    mine: bool
    similarity: float

    def relation(self, content: str, verdicts: Mapping[str, Comparison]) -> str | None:
        """Return the kind of link from a statement to this fact; ``verdicts`` are the model's by this fact's text."""
        return policy.relation(self.content, content, self.similarity, verdicts.get(self.content, "different"))


def same_words(principal: Principal, legacy_id: UUID, content: str, *, but: UUID | None = None) -> LegacyFact | None:
    """Return the person's present fact with the same words, ignoring case, accents and punctuation."""
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
    """Return the facts nearest to a vector: the person's own, then those shared by others, each nearest first.

    Quarantined facts are left out, because a model compares the neighbours and must not read those. The search is
    exact, with at most ``FACT_NEIGHBOURS`` of either and a similarity of at least ``FACT_RELATED_SIMILARITY``. ``but``
    is the id of a fact to leave out.
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
    # Including waiting facts that an agent may not see, so that they are not added twice.
    own = LegacyFact.objects.filter(user_id=principal.user_id) if principal.user_id else LegacyFact.objects.none()
    return own.filter(legacy_id=legacy_id).present()


def also_said(principal: Principal, fact_id: UUID, *, archived: bool = False) -> list[Repetition]:
    """Return the author's other texts that say what a fact says. The legacy's name alone does not count.

    ``archived``: see ``find_repetitions``.
    """
    fact = LegacyFact.objects.mine(principal).filter(pk=fact_id).select_related("legacy").first()
    if fact is None:
        return []
    text, names = Embedded.of_row(fact), [fact.legacy.name]
    return find_repetitions(
        principal,
        ("fact", fact.pk),
        wordings(FACT, fact),
        text.vector,
        text.embedding_model,
        names=names,
        archived=archived,
    )


def refused_wordings(principal: Principal, rows: Iterable[LegacyFact]) -> set[UUID]:
    """Return the own facts of ``for_prompt`` whose earlier wording the principal must not read (``are_refused``)."""
    told = {
        row.pk: row.block_content  # type: ignore[attr-defined]  # annotated by for_prompt
        for row in rows
        if row.user_id == principal.user_id and row.block_content != row.content  # type: ignore[attr-defined]
    }
    if not told or principal.user_id is None or reads_all(principal):
        return set()
    refused = are_refused(principal.user_id, list(told.values()))
    return {pk for pk, no in zip(told, refused, strict=True) if no}


def unrefused_versions(principal: Principal, versions: Iterable[FactVersion]) -> list[FactVersion]:
    """Return the versions of an own fact without the earlier ones that the principal must not read."""
    told = list(versions)
    earlier = [each for each in told if each.recorded_to is not None]
    if not earlier or principal.user_id is None or reads_all(principal):
        return told
    refused = are_refused(principal.user_id, [each.content for each in earlier])
    gone = {each.pk for each, no in zip(earlier, refused, strict=True) if no}
    return [each for each in told if each.pk not in gone]


def facts_say_again(principal: Principal, sought: RepetitionQuery) -> list[Repetition]:
    """Return the person's own facts that say what they asked not to keep."""
    return statements_say_again(principal, LegacyFact.objects.mine, sought, "fact")


def facts_rejected(user_id: UUID, not_kept: bool) -> list[RejectedText]:
    """Return the rejected and deleted facts of a person, if still stored; ``not_kept`` as in ``rejected_texts``."""
    return rejected_statements(FACT, user_id, not_kept)


def facts_kept_of(user_id: UUID, message_ids: Collection[UUID], cause: Cause) -> Iterable[str]:
    """Return the contents of active facts, except the cause, with evidence in messages that are partly withheld."""
    behind = FactEvidence.objects.filter(message__in=message_ids).values("fact")
    rows = LegacyFact.objects.filter(user_id=user_id, state=LegacyFact.State.ACTIVE, pk__in=behind)
    return (content for pk, content in rows.values_list("pk", "content") if str(pk) != cause.id)

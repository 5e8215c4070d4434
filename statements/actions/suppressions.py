"""Suppressions, added and removed inside the action that takes a statement away or brings it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast

from journal.actions import LedgerWrite
from journal.exceptions import Gated
from retrieval.vectors import stale

from ..models import Suppression
from ..policy import fingerprint, fingerprints
from ..wording import Embedded


def suppression_add(
    write: LedgerWrite, user_id: UUID, text: Embedded, object_id: object, *, legacy_id: UUID | None = None
) -> Suppression:
    """Mark a text as something that must not come back by itself, inside the transaction that removes the object.

    A second one for the same words takes the place of the first. The text is not stored.
    """
    _must_hold(write, user_id)
    known, words = Suppression.objects.of(user_id, legacy_id), fingerprint(user_id, text.content)
    stood = known.filter(fingerprint=words).values_list("object_id", flat=True).first()
    write.touch("suppressions", (words, stood))  # What undo puts back.
    suppression, _ = known.update_or_create(
        fingerprint=words,
        defaults={
            "user_id": user_id,
            "legacy_id": legacy_id,
            "object_id": str(object_id),
            "embedding": text.vector,
            "embedding_model": text.embedding_model,
        },
    )
    return suppression


def suppression_remove(
    write: LedgerWrite,
    user_id: UUID,
    *,
    texts: Sequence[str] = (),
    object_id: object = "",
    legacy_id: UUID | None = None,
) -> int:
    """Let a thing be remembered again: the person says it themselves, or restores the object. Returns how many went.

    Removed are those of the same words and of the object, not those of similar statements: who corrects a rejected
    statement does not bring the rejected one back.
    """
    _must_hold(write, user_id)
    wanted = Q(fingerprint__in=[value for text in texts for value in fingerprints(user_id, text)])
    if object_id:
        wanted |= Q(object_id=str(object_id))
    known = Suppression.objects.of(user_id, legacy_id).filter(wanted)
    found = list(known.values_list("pk", "fingerprint", "object_id"))
    for _, words, suppressed in found:
        write.touch("suppressions", (words, suppressed))
    if found:
        Suppression.objects.filter(pk__in=[pk for pk, _, _ in found]).delete()
    return len(found)


def suppression_check(
    write: LedgerWrite, user_id: UUID, text: Embedded, *, own_word: bool, legacy_id: UUID | None = None
) -> None:
    """Let the person's own word remove what stands against it, and refuse anybody else's.

    Raises Gated (422 ``rejected_before``).
    """
    if own_word:
        suppression_remove(write, user_id, texts=[text.content], legacy_id=legacy_id)
    elif any(Suppression.objects.matching(user_id, [text], legacy_id=legacy_id)):
        raise rejected_before()


def rejected_before() -> Gated:
    """The refusal of what a suppression stands against."""
    return Gated("The person rejected or deleted this before. Only they can bring it back.", code="rejected_before")


def suppressions_follow(rows: QuerySet[Any], user_ids: Sequence[UUID], embedding_model: str) -> int:
    """Give suppressions the vector of the row that they stand for, once ``embedding_model`` has made one for that.

    ``rows`` are statements with a person and a fingerprint. Returns how many. A suppression holds no text, so one whose
    row was purged keeps the vector that it has.
    """
    theirs = (
        rows.filter(user_id=OuterRef("user_id"), fingerprint=OuterRef("fingerprint"), embedding_model=embedding_model)
        .annotate(key=Cast("pk", CharField()))
        .filter(key=OuterRef("object_id"))
    )
    older = stale(Suppression.objects.filter(user_id__in=user_ids), embedding_model).filter(Exists(theirs))
    return older.update(embedding=Subquery(theirs.values("embedding")[:1]), embedding_model=embedding_model)


def _must_hold(write: LedgerWrite, user_id: UUID) -> None:
    if user_id not in write.ledgers:
        raise ValueError("Suppressions are written under the person's ledger lock.")

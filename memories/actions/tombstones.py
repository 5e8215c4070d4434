"""Tombstones, laid and lifted inside the action that removes or restores."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q

from journal.actions import LedgerWrite
from journal.exceptions import Gated
from language.base import Vectors

from .. import policy
from ..models import Tombstone
from ..wording import Embedded


def tombstone_lay(
    write: LedgerWrite,
    *,
    user_id: UUID,
    legacy_id: UUID | None,
    object_id: object,
    text: str,
    embedding: Vectors | list[float] | None,
    embedding_model: str,
) -> Tombstone:
    """Mark a text as something that must not come back by itself, inside the transaction that removes the object.

    A second one for the same words takes the place of the first. The text is not stored.
    """
    _must_hold(write, user_id)
    stone, _ = Tombstone.objects.of(user_id, legacy_id).update_or_create(
        fingerprint=policy.fingerprint(user_id, text),
        defaults={
            "user_id": user_id,
            "legacy_id": legacy_id,
            "object_id": str(object_id),
            "embedding": embedding,
            "embedding_model": embedding_model,
        },
    )
    return stone


def tombstone_lift(
    write: LedgerWrite,
    *,
    user_id: UUID,
    legacy_id: UUID | None,
    texts: Sequence[str] = (),
    object_id: object = "",
) -> int:
    """Let a thing be remembered again: the person says it themselves, or restores the object. Returns how many fell.

    Lifted are the tombstones of the same words and of the object, not those of similar statements: who corrects a
    rejected statement does not bring the rejected one back.
    """
    _must_hold(write, user_id)
    wanted = Q(fingerprint__in=[value for text in texts for value in policy.fingerprints(user_id, text)])
    if object_id:
        wanted |= Q(object_id=str(object_id))
    lifted, _ = Tombstone.objects.of(user_id, legacy_id).filter(wanted).delete()
    return lifted


def tombstone_pass(write: LedgerWrite, user_id: UUID, text: Embedded, *, own_word: bool) -> None:
    """Let the person's own word lift what stands against it, and refuse anybody else's.

    ``text`` says something about the person. Raises Gated (422 ``rejected_before``).
    """
    if own_word:
        tombstone_lift(write, user_id=user_id, legacy_id=None, texts=[text.content])
    elif any(Tombstone.objects.matching(user_id, None, [(text.content, text.vector)], text.embedding_model)):
        raise Gated("The person rejected or deleted this before. Only they can bring it back.", code="rejected_before")


def _must_hold(write: LedgerWrite, user_id: UUID) -> None:
    if user_id not in write.ledgers:
        raise ValueError("Tombstones are written under the person's ledger lock.")

"""Detection of rejected statements in other texts: names, notes, subjects, topics, metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, OuterRef
from django.db.models.functions import Cast

from accounts.policy import rejected_before
from accounts.scope import acting_name
from conversations.echoes import WithheldWords, rejected_texts, repeats_withheld
from retrieval.text import list_words

from ..models import RejectionReason, StatementKind, Suppression
from ..policy import fingerprints
from ..policy.naming import as_of_user

_MOST_COMPARED = 200


def rejected_statements(kind: StatementKind[Any], user_id: UUID, not_kept: bool) -> list[str]:
    """Return the latest 200 suppressed statements of a kind.

    ``not_kept``: only those not to be kept, without those that are merely not true.
    """
    known = Suppression.objects.filter(user_id=user_id, fingerprint=OuterRef("fingerprint"))
    stands_for = known.filter(object_id=Cast(OuterRef("pk"), CharField()))
    rows = kind.rows.filter(Exists(stands_for), user_id=user_id)
    rows = rows.exclude(state_reason=RejectionReason.NOT_TRUE.label) if not_kept else rows
    return list(rows.order_by("-updated_at").values_list("content", flat=True)[:_MOST_COMPARED])


def repeats_rejected(user_id: UUID, texts: Sequence[str]) -> bool:
    """Whether a text equals a rejected one, contains all its words, or repeats withheld words."""
    texts = [text for text in texts if text.strip()]
    if not texts:
        return False
    name = acting_name()
    said = [
        each
        for text in texts
        for as_said in (text, f"The user {text}", as_of_user(text, name))
        for each in fingerprints(user_id, as_said)
    ]
    if Suppression.objects.filter(user_id=user_id, fingerprint__in=said).exists() or repeats_withheld(user_id, texts):
        return True
    rejected = rejected_texts(user_id)
    if not rejected:
        return False
    if {_as_words(text) for text in texts} & {_as_words(text) for text in rejected}:
        return True
    compared = WithheldWords(rejected, ["user"])
    return any(map(compared.is_held_by, compared.stems(texts)))


def words_check(user_id: UUID, texts: Sequence[str]) -> None:
    """Raise Gated (422 ``rejected_before``) if texts beside a statement repeat a rejected one."""
    if repeats_rejected(user_id, texts):
        raise rejected_before()


def _as_words(text: str) -> tuple[str, ...]:
    return tuple(list_words(text))

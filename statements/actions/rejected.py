"""Whether words that stand beside statements say what a person rejected: names, notes, metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, OuterRef
from django.db.models.functions import Cast

from accounts.policy import rejected_before
from conversations.echoes import WithheldWords, repeats_withheld
from retrieval.text import list_words

from ..models import RejectionReason, StatementKind, Suppression
from ..policy import fingerprints

_MOST_COMPARED = 200

Rejected = Callable[[UUID], Iterable[str]]
_rejected: list[Rejected] = []


def rejects(rejected: Rejected) -> None:
    """Have a room say which of its texts a person rejected or took away, as far as they are there still."""
    _rejected.append(rejected)


def rejected_statements(kind: StatementKind[Any], user_id: UUID, *, not_kept: bool = False) -> list[str]:
    """The latest 200 statements of a kind that suppressions of a person's stand for.

    ``not_kept``: without those that are only not true, of which the record keeps what was said.
    """
    known = Suppression.objects.filter(user_id=user_id, fingerprint=OuterRef("fingerprint"))
    stands_for = known.filter(object_id=Cast(OuterRef("pk"), CharField()))
    rows = kind.rows.filter(Exists(stands_for), user_id=user_id)
    rows = rows.exclude(state_reason=RejectionReason.NOT_TRUE.label) if not_kept else rows
    return list(rows.order_by("-updated_at").values_list("content", flat=True)[:_MOST_COMPARED])


def says_rejected(user_id: UUID, texts: Sequence[str]) -> bool:
    """Whether a text is what the person rejected, holds all its words, or says again what they don't want kept."""
    texts = [text for text in texts if text.strip()]
    if not texts:
        return False
    said = [each for text in texts for as_said in (text, f"The user {text}") for each in fingerprints(user_id, as_said)]
    if Suppression.objects.filter(user_id=user_id, fingerprint__in=said).exists() or repeats_withheld(user_id, texts):
        return True
    rejected = [text for of_room in _rejected for text in of_room(user_id)]
    if not rejected:
        return False
    if {_as_words(text) for text in texts} & {_as_words(text) for text in rejected}:
        return True
    compared = WithheldWords(rejected, ["user"])
    return any(map(compared.is_held_by, compared.stems(texts)))


def words_check(user_id: UUID, texts: Sequence[str]) -> None:
    """Refuse words that say beside a statement what the person rejected. Raises Gated (422 ``rejected_before``)."""
    if says_rejected(user_id, texts):
        raise rejected_before()


def _as_words(text: str) -> tuple[str, ...]:
    return tuple(list_words(text))

"""Verification of a receipt against the database."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db import connection, models
from django.db.models import Q

from conversations.models import Conversation, ConversationImport, Message, Withheld
from conversations.passages import MARK
from facts.models import LegacyFact
from journal.holdings import can_hold_text, holdings
from journal.models import Change, Erased, Erasure, IdempotencyRecord, UndoStep
from memories.models import Memory, Place
from statements.models import Suppression

_ROWS: dict[str, type[models.Model]] = {
    "memory": Memory,
    "fact": LegacyFact,
    "place": Place,
    "conversation": Conversation,
    "import": ConversationImport,
}
_OF_ANOTHER_ACCOUNT = (Withheld, "keyed_by")
"""Digests of an account that took in the person's export are keyed with their id, which leads nowhere any more."""


def left_of(erasure: Erasure) -> Iterator[str]:
    """Return the remains of an erasure, one line each, without text."""
    if erasure.state != Erasure.State.DONE:
        yield f"it is {erasure.state}"
        return
    if erasure.scope == "everything":
        yield from _of_person(erasure.user_id)
        return
    erased = list(erasure.objects_erased.values_list("kind", "object_id"))
    if not erased and erasure.removed:
        yield "its ids are not kept any more, so nothing can be looked up"
    for kind, model in _ROWS.items():
        ids = [object_id for of, object_id in erased if of == kind]
        yield from _count(f"{kind} that is there", model._base_manager.filter(pk__in=ids).count())
    messages = [object_id for of, object_id in erased if of == "message"]
    words = Message.objects.filter(pk__in=messages).exclude(content=MARK, speaker="")
    yield from _count("message that says something", words.count())
    kept = Withheld.objects.filter(Q(message__in=messages) | Q(cause_id__in=[each for _, each in erased]))
    yield from _count("passage that is kept apart", kept.restorable().count())
    for holding in holdings():
        if holding.model is Withheld:
            continue  # Rows stay for the digest, with which imports are compared.
        for key in (each for each in holding.model._meta.concrete_fields if each.related_model is Message):
            rows = holding.model._base_manager.filter(**{f"{key.name}__in": messages})
            yield from _count(f"{holding.model._meta.verbose_name} of a message", rows.count())
    ids = [object_id for _, object_id in erased]
    noted = Change.objects.filter(ledger_id=erasure.user_id, object_id__in=ids).exclude(meta={})
    yield from _count("reason in the log", noted.exclude(event="ERASE").count())
    results = IdempotencyRecord.objects.filter(object_ids__has_any_keys=ids or [""])
    yield from _count("result of a request", results.count())
    yield from _count("step back", UndoStep.objects.filter(object_id__in=ids).count())
    more = Q(embedding__isnull=False) | ~Q(traces="")
    yield from _count(
        "vector or hashed words of what was rejected", Suppression.objects.filter(more, object_id__in=ids).count()
    )


def _of_person(user_id: UUID) -> Iterator[str]:
    """Search every column of every table that could reference the person."""
    for holding in holdings():
        if holding.model in {Erasure, Erased, Session}:
            continue
        table = holding.model._meta.db_table
        for column in holding.model._meta.concrete_fields:
            if (holding.model, column.name) == _OF_ANOTHER_ACCOUNT:
                continue
            target = column.target_field if isinstance(column, models.ForeignKey) else column
            if isinstance(target, models.UUIDField):
                condition, value = f'"{column.column}" = %s', str(user_id)
            elif can_hold_text(column) and not isinstance(column, models.BinaryField) and not column.generated:
                condition, value = f'"{column.column}"::text LIKE %s', f"%{user_id}%"
            else:
                continue
            with connection.cursor() as cursor:
                cursor.execute(f'SELECT count(*) FROM "{table}" WHERE {condition}', [value])  # noqa: S608 - our own names
                (count,) = cursor.fetchone() or (0,)
            yield from _count(f"row of {table} that names the person in {column.column}", count)
    sessions = (each.get_decoded() for each in Session.objects.iterator())
    yield from _count("session", sum(str(user_id) in each.values() for each in sessions))


def _count(what: str, count: int) -> Iterator[str]:
    if count:
        yield f"{count:,} × {what}"

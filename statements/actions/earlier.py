"""Suppressions of earlier wordings: of a statement that its person refused, and of one that they reworded.

Those of a refused statement are refused by their words, like its current wording. A wording that the person replaced,
written again by somebody else, waits for them while the reworded statement exists and is not refused itself. So does a
paraphrase of it that is not nearer to the current wording: the vector is kept while the version has its text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby, pairwise
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import CharField, Exists, OuterRef, QuerySet
from django.db.models.functions import Cast

from accounts.scope import acting_name
from journal.models import ActorKind
from retrieval.prepared import PreparedStatement, build_statement

from ..models import Statement, StatementKind, Suppression
from ..policy import fingerprint
from ..policy.naming import as_of_user
from ..querysets import Row, StatementQuerySet
from .single import StatementWrite

_ADD = """
INSERT INTO memories_tombstone (user_id, legacy_id, fingerprint, object_id, embedding, embedding_model, traces, version,
    created_at)
SELECT {user}::uuid, wanted.legacy_id, wanted.fingerprint, wanted.object_id, stated.embedding,
    coalesce(stated.embedding_model, ''), '', stated.version, now()
FROM unnest({legacies}::uuid[], {fingerprints}::text[], {objects}::text[]) AS wanted (legacy_id, fingerprint, object_id)
LEFT JOIN {rows} AS stated ON stated.id = wanted.object_id::{key} AND stated.user_id = {user}::uuid
    AND stated.fingerprint = wanted.fingerprint AND stated.embedding IS NOT NULL
ON CONFLICT (user_id, legacy_id, fingerprint) DO NOTHING
RETURNING object_id, fingerprint
"""

_Held = tuple[UUID | None, str]
"""A legacy, or None for memories, and a fingerprint."""


def suppress_earlier(
    kind: StatementKind[Row], rows: Iterable[Row], *, replaced_only: bool = False
) -> Mapping[str, Sequence[tuple[str, None]]]:
    """Suppress the earlier wordings of one person's statements, or only those that the person replaced.

    Returns the new suppressions by object, as ``suppressions_undo`` takes them. Wordings that are suppressed already
    stay so.
    """
    found: Mapping[_Held, Row] = earlier_wordings(kind, rows, replaced_only=replaced_only)
    return _add(kind, found)


def earlier_wordings(
    kind: StatementKind[Row], rows: Iterable[Row], *, replaced_only: bool = False
) -> Mapping[_Held, Row]:
    """Return the fingerprints of the earlier wordings of statements, the oldest first, each with its statement.

    Also those with "the user" in place of the person's name, of the current wording as well. ``replaced_only``: only of
    the wordings that the person replaced.
    """
    by_id, name = {row.pk: row for row in rows}, acting_name()
    contents = [] if replaced_only else [(row, as_of_user(row.content, name)) for row in by_id.values()]
    key, several = f"{kind.name}_id", [row.pk for row in by_id.values() if row.version > 1]
    versions = kind.versions._default_manager.filter(**{f"{key}__in": several}).order_by(key, "number")
    told = versions.values_list(key, "content", "written_by", "actor_kind") if several else ()
    for pk, worded in groupby(told, key=lambda version: version[0]):
        for (_, content, *_), (_, _, written_by, actor) in pairwise(worded):
            if content and (not replaced_only or is_by_person(written_by, actor)):
                contents += [(by_id[pk], content), (by_id[pk], as_of_user(content, name))]
    found = {(kind.legacy_of(row), fingerprint(row.user_id, content)): row for row, content in contents}
    return {held: row for held, row in found.items() if held[1] != row.fingerprint}


def is_by_person(written_by: str, actor_kind: str) -> bool:
    """Whether a version was worded or decided by the person: not by an agent, by staff or by a job."""
    return not written_by or actor_kind == ActorKind.PERSON


def suppress_replaced(change: StatementWrite[Any], content: str) -> None:
    """Suppress the wording that the person has just replaced in a locked statement, with its stored vector."""
    row = change.row
    said = {fingerprint(row.user_id, each) for each in (content, as_of_user(content, acting_name()))}
    wanted = {(change.kind.legacy_of(row), words): row for words in said - {row.fingerprint}}
    touch_suppressions(change, _add(change.kind, wanted))


def touch_suppressions(change: StatementWrite[Any], stood: Mapping[str, Sequence[tuple[str, None]]]) -> None:
    """Keep for undo that a change added suppressions."""
    for pair in stood.get(str(change.row.pk), ()):
        change.write.touch("suppressions", pair)


def _add(kind: StatementKind[Any], wanted: Mapping[_Held, Statement]) -> Mapping[str, Sequence[tuple[str, None]]]:
    if not wanted:
        return {}
    (user_id,) = {row.user_id for row in wanted.values()}
    values = {
        "user": user_id,
        "legacies": [legacy_id for legacy_id, _ in wanted],
        "fingerprints": [words for _, words in wanted],
        "objects": [str(row.pk) for row in wanted.values()],
    }
    added: dict[str, list[tuple[str, None]]] = defaultdict(list)
    key = str(kind.model._meta.pk.db_type(connection))
    for object_id, words in _adding(kind.model._meta.db_table, key).run(values):
        added[object_id].append((words, None))
    return added


@cache
def _adding(rows: str, key: str) -> PreparedStatement:
    return build_statement(_ADD.replace("{rows}", rows).replace("{key}", key), {}, lasting=True)


def forget_replaced(rows: QuerySet[Suppression]) -> None:
    """Keep of wordings whose text is deleted the fingerprint alone."""
    rows.filter(version__isnull=False).update(embedding=None, embedding_model="", version=None)


def drop_replaced(rows: StatementQuerySet[Any], ids: Collection[Any]) -> None:
    """Delete the suppressions of wordings of statements that are purged and were not refused, else their vectors."""
    own = Suppression.objects.filter(
        user_id=OuterRef("user_id"), fingerprint=OuterRef("fingerprint"), object_id=Cast(OuterRef("pk"), CharField())
    )
    kept = rows.filter(~Exists(own), pk__in=ids, version__gt=1)
    forget_replaced(Suppression.objects.filter(object_id__in=[str(pk) for pk in ids]))
    Suppression.objects.filter(object_id__in=[str(pk) for pk in kept.values_list("pk", flat=True)]).delete()

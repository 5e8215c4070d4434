"""Suppressions of many statements at once, in one statement of the database for any number of them.

Each function tells what stood before: by fingerprint the object that a suppression was for, or None where there was
none. That is what ``suppressions_put_back`` takes, with the revision at which each was touched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db import connection, models

from ..models import Suppression

Stood = list[tuple[str, str | None]]

_ADD = """
INSERT INTO {suppressions} AS known (user_id, legacy_id, fingerprint, object_id, embedding, embedding_model, created_at)
SELECT DISTINCT ON (user_id, {scope}, fingerprint) user_id, {scope}, fingerprint, id::text, embedding, embedding_model,
    now()
FROM {rows} AS stated
WHERE stated.id = ANY (%(ids)s)
ORDER BY user_id, {scope}, fingerprint, id
ON CONFLICT (user_id, legacy_id, fingerprint) DO UPDATE
SET object_id = excluded.object_id, embedding = excluded.embedding, embedding_model = excluded.embedding_model
RETURNING new.object_id, new.fingerprint, old.object_id
"""
_REMOVE = """
DELETE FROM {suppressions} AS known USING {rows} AS stated
WHERE stated.id = ANY (%(ids)s) AND known.user_id = stated.user_id AND known.legacy_id {is_scope}
    AND (known.fingerprint = stated.fingerprint OR known.object_id = stated.id::text)
RETURNING stated.id::text, known.fingerprint, known.object_id
"""
_STOOD = """
SELECT DISTINCT ON ({scope}, stood.fingerprint) stood.id::text AS id, {scope} AS legacy_id, stood.fingerprint,
    stood.object_id,
    CASE WHEN stated.fingerprint = stood.fingerprint THEN stated.embedding END AS embedding,
    CASE WHEN stated.fingerprint = stood.fingerprint THEN stated.embedding_model ELSE '' END AS embedding_model
FROM unnest(%(ids)s::{key}[], %(fingerprints)s::text[], %(stood)s::text[], %(revs)s::bigint[])
    AS stood (id, fingerprint, object_id, rev)
LEFT JOIN {rows} AS stated ON stated.id = stood.id
ORDER BY {scope}, stood.fingerprint, stood.rev
"""
_KNOWN = f"""
WITH wanted AS ({_STOOD})
SELECT wanted.id, wanted.fingerprint, known.object_id
FROM wanted LEFT JOIN {{suppressions}} AS known ON known.user_id = %(user)s AND known.fingerprint = wanted.fingerprint
    AND known.legacy_id {{is_wanted}}
WHERE known.object_id IS DISTINCT FROM wanted.object_id
"""  # noqa: S608 - put together of our own text
_PUT_BACK = f"""
WITH wanted AS ({_STOOD}), removed AS (
    DELETE FROM {{suppressions}} AS known USING wanted
    WHERE wanted.object_id IS NULL AND known.user_id = %(user)s
        AND known.legacy_id {{is_wanted}} AND known.fingerprint = wanted.fingerprint
)
INSERT INTO {{suppressions}} AS known (user_id, legacy_id, fingerprint, object_id, embedding, embedding_model,
    created_at)
SELECT %(user)s, legacy_id, fingerprint, object_id, embedding, embedding_model, now()
FROM wanted
WHERE object_id IS NOT NULL
ON CONFLICT (user_id, legacy_id, fingerprint) DO UPDATE SET object_id = excluded.object_id
"""  # noqa: S608 - put together of our own text


def suppressions_add(model: type[models.Model], ids: Sequence[Any]) -> Mapping[str, Stood]:
    """Mark what rows of a model say as something that must not come back by itself. Says what stood, by stated."""
    return _stood(_run(_ADD, model, {"ids": list(ids)}))


def suppressions_remove(model: type[models.Model], ids: Sequence[Any]) -> Mapping[str, Stood]:
    """Let what rows of a model say be learned again. Says what stood, by stated."""
    return _stood(_run(_REMOVE, model, {"ids": list(ids)}))


def suppressions_put_back(
    model: type[models.Model], user_id: UUID, stood: Mapping[Any, Sequence[Sequence[Any]]]
) -> Mapping[str, Stood]:
    """Let the suppressions of a person that objects touched stand as they stood. Says what stood until now, by object.

    ``stood`` holds by object fingerprint, suppressed object and revision. Where several touched the same suppression,
    or one did twice, what stood at the earliest revision counts. What stands so already is not told. One
    that comes back has the vector of the row of ``model`` with the object's id, if that says the same; else it holds by
    its words alone.
    """
    # Where an object touched one twice in a transaction, the earlier is further back.
    earliest = {(key, each[0]): (each[1], each[2]) for key, found in stood.items() for each in reversed(found)}
    if not earliest:
        return {}
    values = {
        "user": user_id,
        "ids": [key for key, _ in earliest],
        "fingerprints": [fingerprint for _, fingerprint in earliest],
        "stood": [object_id for object_id, _ in earliest.values()],
        "revs": [rev for _, rev in earliest.values()],
    }
    known = _stood(_run(_KNOWN, model, values))
    _run(_PUT_BACK, model, values)
    return known


def _run(statement: str, model: type[models.Model], values: Mapping[str, Any]) -> Sequence[tuple[str, str, str | None]]:
    scoped = any(each.name == "legacy" for each in model._meta.get_fields())
    names = {
        "suppressions": Suppression._meta.db_table,
        "rows": model._meta.db_table,
        "scope": "stated.legacy_id" if scoped else "NULL::uuid",
        # Not IS NOT DISTINCT FROM: no index serves that.
        "is_scope": "= stated.legacy_id" if scoped else "IS NULL",
        "is_wanted": "= wanted.legacy_id" if scoped else "IS NULL",
        "key": "uuid" if isinstance(model._meta.pk, models.UUIDField) else "text",
    }
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**names), values)
        return cursor.fetchall() if cursor.description else []


def _stood(rows: Sequence[tuple[str, str, str | None]]) -> Mapping[str, Stood]:
    found: dict[str, Stood] = defaultdict(list)
    for key, fingerprint, object_id in rows:
        found[key].append((fingerprint, object_id))
    return found

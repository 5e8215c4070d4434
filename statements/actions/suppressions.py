"""Suppressions: added and removed in the actions that delete and restore statements.

The bulk functions run one SQL statement each. They return the previous suppressions by object: the fingerprint, and
the object that it was for, or None if there was none. ``suppressions_undo`` takes these, with the revision of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from django.db import connection, models
from django.db.models import CharField, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast

from accounts.policy import rejected_before
from accounts.principals import Principal
from accounts.scope import acting_name
from journal.actions import LedgerWrite
from language.reading.gist import gists
from retrieval.prepared import PreparedStatement, build_statement, column_parameters, column_values
from retrieval.vectors import stale

from ..models import Suppression
from ..policy import fingerprint, fingerprints, gist_fingerprints
from ..policy.naming import as_of_user
from ..policy.resembling import RESEMBLES, traces_of
from ..querysets import SuppressionMatches
from ..wording import Embedded
from .earlier import suppress_earlier, touch_suppressions
from .rejected import knows_rejected
from .single import StatementWrite

_ONCE = ("user_id", "legacy_id", "fingerprint")

EarlierSuppressions = list[tuple[str, str | None]]

_ADD = """
INSERT INTO {suppressions} AS known (user_id, legacy_id, fingerprint, object_id, embedding, embedding_model, created_at)
SELECT DISTINCT ON (user_id, {scope}, fingerprint) user_id, {scope}, fingerprint, id::text, embedding, embedding_model,
    now()
FROM {rows} AS stated
WHERE stated.id = ANY (%(ids)s)
ORDER BY user_id, {scope}, fingerprint, id
ON CONFLICT (user_id, legacy_id, fingerprint) DO UPDATE
SET object_id = excluded.object_id, embedding = excluded.embedding, embedding_model = excluded.embedding_model,
    version = NULL
RETURNING new.object_id, new.fingerprint, old.object_id
"""
_REMOVE = """
DELETE FROM {suppressions} AS known USING {rows} AS stated
WHERE stated.id = ANY (%(ids)s) AND known.user_id = stated.user_id AND known.legacy_id {is_scope}
    AND (known.fingerprint = stated.fingerprint OR known.object_id = stated.id::text)
RETURNING stated.id::text, known.fingerprint, known.object_id
"""
_REMOVE_SAID = """
DELETE FROM memories_tombstone
WHERE user_id = {user}::uuid AND legacy_id IS NOT DISTINCT FROM {legacy}::uuid
    AND (fingerprint = ANY ({fingerprints}::text[]) OR object_id = {object}::text)
RETURNING fingerprint, object_id
"""
_STOOD = """
SELECT DISTINCT ON ({scope}, stood.fingerprint) stood.id::text AS id, {scope} AS legacy_id, stood.fingerprint,
    stood.object_id,
    same.embedding, coalesce(same.embedding_model, '') AS embedding_model
FROM unnest(%(ids)s::{key}[], %(fingerprints)s::text[], %(stood)s::text[], %(revs)s::bigint[])
    AS stood (id, fingerprint, object_id, rev)
LEFT JOIN {rows} AS stated ON stated.id = stood.id
LEFT JOIN LATERAL (
    SELECT said.embedding, said.embedding_model FROM {rows} AS said
    WHERE said.user_id = %(user)s AND said.fingerprint = stood.fingerprint AND said.embedding IS NOT NULL
    ORDER BY said.id = stood.id DESC, said.id
    LIMIT 1
) AS same ON true
ORDER BY {scope}, stood.fingerprint, stood.rev
"""
_KNOWN = f"""
WITH wanted AS ({_STOOD})
SELECT wanted.id, wanted.fingerprint, known.object_id, known.id, wanted.object_id IS NULL
FROM wanted LEFT JOIN {{suppressions}} AS known ON known.user_id = %(user)s AND known.fingerprint = wanted.fingerprint
    AND known.legacy_id {{is_wanted}}
WHERE known.object_id IS DISTINCT FROM wanted.object_id
"""  # noqa: S608 - put together of our own text
_PUT_BACK = f"""
WITH wanted AS ({_STOOD})
INSERT INTO {{suppressions}} AS known (user_id, legacy_id, fingerprint, object_id, embedding, embedding_model,
    created_at)
SELECT %(user)s, legacy_id, fingerprint, object_id, embedding, embedding_model, now()
FROM wanted
ON CONFLICT (user_id, legacy_id, fingerprint) DO UPDATE SET object_id = excluded.object_id
"""  # noqa: S608 - put together of our own text


def suppression_add(
    write: LedgerWrite,
    user_id: UUID,
    text: Embedded,
    object_id: object,
    *,
    legacy_id: UUID | None = None,
    is_stored: bool = True,
) -> None:
    """Add a suppression of a text, in the transaction that removes the object. Only the person can bring it back.

    It replaces an earlier one for the same words. The text is not stored; unless ``is_stored``, in a row of the object
    that a purge deletes later, its traces are kept from now on.
    """
    _must_hold(write, user_id)
    columns = {
        "user_id": user_id,
        "legacy_id": legacy_id,
        "fingerprint": fingerprint(user_id, text.content),
        "object_id": str(object_id),
        "embedding": text.vector,
        "embedding_model": text.embedding_model,
        "traces": "" if is_stored else traces_of(user_id, text.saying.features),
        "version": None,
    }
    for stood in _adding(tuple(columns)).run(column_values(Suppression, columns)):
        write.touch("suppressions", stood)  # What undo restores.


@cache
def _adding(names: tuple[str, ...]) -> PreparedStatement:
    given = ", ".join(column_parameters(Suppression, names).values())
    replaced = ", ".join(f"{name} = excluded.{name}" for name in names if name not in _ONCE)
    return build_statement(
        f"""
        INSERT INTO memories_tombstone AS known ({", ".join(names)}, created_at) VALUES ({given}, now())
        ON CONFLICT ({", ".join(_ONCE)}) DO UPDATE SET {replaced}
        RETURNING new.fingerprint, old.object_id
        """,  # noqa: S608 - names of our own columns
        {},
        lasting=True,
    )


def suppression_remove(
    write: LedgerWrite,
    user_id: UUID,
    *,
    texts: Sequence[str] = (),
    object_id: object = "",
    legacy_id: UUID | None = None,
) -> int:
    """Remove the suppressions of these texts and of an object, and return how many.

    Called when the person says it again or restores the object. Suppressions of similar statements stay, because a
    corrected statement must not bring back the rejected one.
    """
    _must_hold(write, user_id)
    said = {*texts, *(as_of_user(text, acting_name()) for text in texts)}
    stated = {gist for text in texts for gist in gists(text, acting_name())}
    words = [value for text in said for value in fingerprints(user_id, text)]
    content = [value for gist in stated for value in gist_fingerprints(user_id, gist)]
    values = {"user": user_id, "legacy": legacy_id, "fingerprints": [*words, *content], "object": str(object_id)}
    found = _removing().run(values)
    for gone in found:
        write.touch("suppressions", gone)
    return len(found)


@cache
def _removing() -> PreparedStatement:
    return build_statement(_REMOVE_SAID, {}, lasting=True)


def suppression_check(
    write: LedgerWrite,
    user_id: UUID,
    text: Embedded,
    *,
    own_word: bool,
    legacy_id: UUID | None = None,
    principal: Principal | None = None,
    against: SuppressionMatches | None = None,
) -> str:
    """Check a text against the suppressions. The person's own word removes those of its words.

    For anybody else, it raises Gated (422 ``rejected_before``) if the words are suppressed, unless the ``principal``
    must not learn of that (``knows_rejected``). Returns the reason why the text has to wait for review, because it may
    mean something rejected or not be a statement; otherwise "". ``against``: what it matches, if that is known.
    """
    if own_word:
        suppression_remove(write, user_id, texts=[text.content], legacy_id=legacy_id)
        return ""
    if against is None:
        (against,) = Suppression.objects.matches(user_id, [text], legacy_id=legacy_id)
    if against.words and (principal is None or knows_rejected(principal, user_id, against.words)):
        raise rejected_before()
    return against.review_reason(text)


def suppress(change: StatementWrite[Any]) -> None:
    """Add the suppressions of a locked statement and of its earlier wordings."""
    row = change.row
    text = Embedded.of_row(row) if "embedding" in vars(row) else _as_stored(change)
    suppression_add(change.write, row.user_id, text, row.pk, legacy_id=change.kind.legacy_of(row))
    touch_suppressions(change, suppress_earlier(change.kind, [row]))


def unsuppress(change: StatementWrite[Any]) -> None:
    """Remove the suppressions of a locked statement and of its words, but not those that the person replaced."""
    row, legacy_id = change.row, change.kind.legacy_of(change.row)
    suppression_remove(change.write, row.user_id, texts=[row.content], object_id=row.pk, legacy_id=legacy_id)
    touch_suppressions(change, suppress_earlier(change.kind, [row], replaced_only=True))


def resemblance_lift(change: StatementWrite[Any]) -> None:
    """Remove the suppressions that an approved statement resembled. Does nothing if it waited for another reason."""
    row, kind = change.row, change.kind
    if row.state_reason == RESEMBLES:
        suppression_lift(change.write, row.user_id, _as_stored(change), legacy_id=kind.legacy_of(row))


def reason_to_review(change: StatementWrite[Any]) -> str:
    """Return the reason why a locked statement has to wait for review, or "".

    It may mean something that the person rejected, or not be a statement. The person's own words and reviewed
    statements never wait.
    """
    row, kind = change.row, change.kind
    if row.reviewed_at is not None or not row.written_by:
        return ""
    text = _as_stored(change)
    (against,) = Suppression.objects.matches(row.user_id, [text], legacy_id=kind.legacy_of(row))
    return against.review_reason(text)


def resemblance_check(change: StatementWrite[Any], principal: Principal) -> str:
    """Check a locked statement that an agent brings back against what the person rejected since it went.

    Raises Gated and returns the reason to wait like ``suppression_check``, but only for what it resembles.
    """
    row = change.row
    legacy_id = change.kind.legacy_of(row)
    reason = suppression_check(
        change.write, row.user_id, _as_stored(change), own_word=False, legacy_id=legacy_id, principal=principal
    )
    return reason if reason == RESEMBLES else ""


def _as_stored(change: StatementWrite[Any]) -> Embedded:
    """Read the text in a separate query: columns loaded into ``change.row`` would be saved with it."""
    stored = change.kind.rows.only("content", "embedding", "embedding_model")
    # Only a memory can be verbatim.
    return Embedded.of_row(stored.get(pk=change.row.pk), verbatim=getattr(change.row, "verbatim", False))


def suppression_lift(
    write: LedgerWrite,
    user_id: UUID,
    text: Embedded,
    *,
    legacy_id: UUID | None = None,
) -> None:
    """Remove the suppressions that match a text by words or meaning. Called when the person approved the text.

    An approved fact lifts no rejected memory, and the other way round.
    """
    (against,) = Suppression.objects.matches(user_id, [text], legacy_id=legacy_id, near=False)
    gone = Suppression.objects.of(user_id, legacy_id).filter(pk__in=[*against.words, *against.meaning])
    for stood in gone.values_list("fingerprint", "object_id"):
        write.touch("suppressions", stood)
    gone.delete()


def suppressions_follow(rows: QuerySet[Any], user_ids: Sequence[UUID], embedding_model: str) -> int:
    """Copy the vectors of ``embedding_model`` from statements to their suppressions, and return how many.

    ``rows`` are statements with a person and a fingerprint. A suppression holds no text, so one whose statement was
    purged keeps its older vector.
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


# --- Many at once --------------------------------------------------------------------------------------------------


def suppressions_add(model: type[models.Model], ids: Sequence[Any]) -> Mapping[str, EarlierSuppressions]:
    """Add the suppressions of rows of a model. Returns the previous suppressions by row id."""
    return _by_object(_run(_ADD, model, {"ids": list(ids)}))


def suppressions_remove(model: type[models.Model], ids: Sequence[Any]) -> Mapping[str, EarlierSuppressions]:
    """Remove the suppressions of rows of a model. Returns the previous suppressions by row id."""
    return _by_object(_run(_REMOVE, model, {"ids": list(ids)}))


def suppressions_undo(
    model: type[models.Model], user_id: UUID, stood: Mapping[Any, Sequence[Sequence[Any]]]
) -> Mapping[str, EarlierSuppressions]:
    """Restore a person's suppressions that changes of objects added or removed.

    ``stood`` maps an object's id to (fingerprint, suppressed object or None, revision). For a fingerprint with several
    entries, the one with the earliest revision counts. Returns the values before this call of those that changed, by
    object. A restored suppression gets the vector of a row of ``model`` with the same words, preferably that of the
    object; without such a row it matches by words alone.
    """
    # Of two entries of one object for a fingerprint, the first in the list is the earlier one.
    earliest = {(key, each[0]): (each[1], each[2]) for key, found in stood.items() for each in reversed(found)}
    if not earliest:
        return {}
    known = _run(_KNOWN, model, _told(user_id, earliest))
    # Deleted by id, so that the planner looks up each row once whatever number it estimates.
    Suppression.objects.filter(pk__in=[pk for *_, pk, goes in known if goes]).delete()
    comes = {(str(key), words) for key, words, _, _, goes in known if not goes}
    back = {each: stands for each, stands in earliest.items() if (str(each[0]), each[1]) in comes}
    if back:
        _run(_PUT_BACK, model, _told(user_id, back))
    return _by_object([row[:3] for row in known])


def _told(user_id: UUID, stood: Mapping[tuple[Any, str], tuple[str | None, int]]) -> dict[str, Any]:
    """Return the parameters of ``_STOOD``."""
    return {
        "user": user_id,
        "ids": [key for key, _ in stood],
        "fingerprints": [words for _, words in stood],
        "stood": [object_id for object_id, _ in stood.values()],
        "revs": [rev for _, rev in stood.values()],
    }


def _run(statement: str, model: type[models.Model], values: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
    scoped = any(each.name == "legacy" for each in model._meta.get_fields())
    names = {
        "suppressions": Suppression._meta.db_table,
        "rows": model._meta.db_table,
        "scope": "stated.legacy_id" if scoped else "NULL::uuid",
        # IS NOT DISTINCT FROM can't use the index.
        "is_scope": "= stated.legacy_id" if scoped else "IS NULL",
        "is_wanted": "= wanted.legacy_id" if scoped else "IS NULL",
        "key": "uuid" if isinstance(model._meta.pk, models.UUIDField) else "text",
    }
    with connection.cursor() as cursor:
        cursor.execute(statement.format(**names), values)
        return cursor.fetchall() if cursor.description else []


def _by_object(rows: Sequence[tuple[Any, ...]]) -> Mapping[str, EarlierSuppressions]:
    found: dict[str, EarlierSuppressions] = defaultdict(list)
    for key, words, object_id in rows:
        found[key].append((words, object_id))
    return found

"""The transaction of a change to one statement: lock, check, save, log, keep for undo."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, must_find
from journal.models import Erasure
from retrieval.prepared import (
    SHAPES,
    PreparedStatement,
    Shaped,
    build_statement,
    column_parameters,
    column_values,
    read,
    read_objects,
    update_row,
)

from ..models import ERASURE_WAITS, Statement, StatementKind
from ..querysets import Row

GONE = frozenset({"archived", "rejected"})
PRESENT = frozenset({"proposed", "active", "quarantined"})
_UNREAD = object()


@dataclass
class StatementWrite(Generic[Row]):
    """A statement whose owners' ledgers are locked. Set its columns and log the changes; they are saved on exit.

    ``meta`` is added to every change that is logged for it.
    """

    kind: ClassVar[StatementKind[Any]]

    write: LedgerWrite
    row: Row
    now: datetime = field(default_factory=timezone.now)
    meta: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def changeable(cls, principal: Principal) -> Shaped:
        """Return the statements that a principal may change."""
        raise NotImplementedError

    def log(
        self, event: str, *, old_version: int | None = None, conversation_id: UUID | None = None, **meta: Any
    ) -> int:
        """Log a change of the statement under the person's next revision, and return that."""
        return self.write.change(
            self.row.user_id,
            event,
            self.kind.name,
            self.row.pk,
            old_version=old_version,
            new_version=self.row.version,
            conversation_id=conversation_id,
            **self.meta,
            **meta,
        )

    def add_version(self, rev: int, *, ended: Mapping[str, Any] | None = None, **more: Any) -> int:
        """Store the current wording as version ``row.version``, made at revision ``rev``, and return its id.

        The version before it ends then; ``ended`` are further columns to set of that.
        """
        row, kind, actor = self.row, self.kind, self.write.actor
        made = {"recorded_from": self.now, "recorded_from_rev": rev, "actor_kind": actor.kind, "actor_id": actor.id}
        wording = {name: getattr(row, name) for name in kind.worded}
        version = {f"{kind.name}_id": row.pk, "number": row.version, **wording, **made, **more}
        end = {"recorded_to": self.now, "recorded_to_rev": rev, **(ended or {})}
        values = column_values(kind.versions, version) | column_values(kind.versions, end, "end_")
        ((pk,),) = _versioning(kind, tuple(version), tuple(end)).run(values)
        return int(pk)

    def counts(self) -> Any:
        """Return what the statement currently adds to the ledgers' counts."""
        raise NotImplementedError

    def update_counts(self, before: Any) -> None:
        """Update the ledgers' counts; ``before`` is the value of ``counts`` before the change."""
        raise NotImplementedError


Change = TypeVar("Change", bound=StatementWrite[Any])


@contextmanager
def statement_write(
    of: type[Change], principal: Principal, pk: Any, *states: str, version: int | None = None
) -> Iterator[Change]:
    """Open the transaction of a principal's change to a statement: lock, read, yield, then save what was changed.

    Raises NotFound (404) if it is not ``changeable`` by the principal, Conflict (409 ``version_conflict`` with the
    current version) if its version is not ``version``, Conflict (409 ``wrong_state``) if its state is not one of
    ``states``.
    """
    kind = of.kind
    own = principal.user_id if len(kind.owners) == 1 else None
    found = [(own,)] if own else read(of.changeable(principal).one(pk), kind.owners)
    owners = must_find(next(iter(found), None), kind.name)
    with ledger_write(principal.actor, *owners) as write, statement_under_lock(of, write, pk, principal) as change:
        check_version(change.row, version)
        if states:
            check_state(change.row, *states)
        write.result(kind.name, pk)
        yield change


@contextmanager
def statement_under_lock(
    of: type[Change], write: LedgerWrite, pk: Any, principal: Principal | None = None
) -> Iterator[Change]:
    """Like ``statement_write``, in a transaction that holds the ledger locks. Columns of ``not_read`` are deferred.

    Without a principal, any statement can be changed.
    """
    kind = of.kind
    rows = of.changeable(principal) if principal else Shaped(("any", kind.name), lambda: kind.rows, {})
    row = next(iter(read_objects(kind.model, rows.one(pk), _read_columns(kind))), None)
    with saving_changes(of(write, must_find(row, kind.name))) as change:
        yield change


@contextmanager
def saving_changes(change: Change) -> Iterator[Change]:
    """Yield a statement that was read under the locks; then save its changes, its undo step and the counts."""
    row, kind, names = change.row, change.kind, _columns(change.kind)
    was, before = {name: vars(row)[name] for name in names if name in vars(row)}, change.counts()
    yield change
    changed = [name for name in names if name in vars(row) and vars(row)[name] != was.get(name, _UNREAD)]
    if set(changed) - kind.upkeep:
        kept = {name: was[name] for name in changed if name in was and name not in kind.worked_out}
        change.write.keep_undo_step(row.user_id, kind.name, row.pk, kept)
        row.updated_at = change.now
        changed.append("updated_at")
    if changed:
        update_row(row, set(changed))
        change.update_counts(before)


@lru_cache(maxsize=SHAPES)
def _versioning(kind: StatementKind[Any], names: tuple[str, ...], ends: tuple[str, ...]) -> PreparedStatement:
    versions = kind.versions
    given, end = column_parameters(versions, names), column_parameters(versions, ends, "end_")
    # The end of the earlier version is counted, so that it comes first: only one version has no end.
    return build_statement(
        f"""
        WITH ended AS (
            UPDATE {versions._meta.db_table} SET {", ".join(f"{name} = {value}" for name, value in end.items())}
            WHERE {kind.name}_id = {given[f"{kind.name}_id"]} AND number = {given["number"]} - 1
            RETURNING number
        )
        INSERT INTO {versions._meta.db_table} ({", ".join(names)})
        SELECT {", ".join(given.values())} FROM (SELECT count(*) AS number FROM ended) AS before WHERE number >= 0
        RETURNING id
        """,  # noqa: S608 - names of our own columns
        {},
        lasting=True,
    )


@cache
def _read_columns(kind: StatementKind[Any]) -> tuple[str, ...]:
    columns = kind.model._meta.concrete_fields
    return tuple(column.attname for column in columns if column.attname not in kind.not_read)


@cache
def _columns(kind: StatementKind[Any]) -> list[str]:
    columns = kind.model._meta.concrete_fields
    return [column.attname for column in columns if not column.generated and not column.primary_key]


def archived_columns(state: str, now: datetime, reason: str, **more: Any) -> dict[str, Any]:
    """Return the columns of a statement that is archived or rejected."""
    return {"state": state, "state_reason": reason, "deleted_at": now, "purge_at": archived_until(now), **more}


def archived_until(now: datetime) -> datetime:
    """Return when something archived now is purged."""
    return now + timedelta(days=settings.ARCHIVE_DAYS)


def present_columns(state: str, reason: str = "", **more: Any) -> dict[str, Any]:
    """Return the columns of a statement that is added or restored."""
    return {"state": state, "state_reason": reason, "deleted_at": None, "purge_at": None, **more}


def set_columns(row: Any, columns: Mapping[str, Any]) -> None:
    """Set attributes of a locked row."""
    for name, value in columns.items():
        setattr(row, name, value)


def check_state(row: Statement, *allowed: str) -> None:
    """Raise Conflict (409 ``wrong_state``) with the current state unless it is one of ``allowed``."""
    if row.state not in allowed:
        raise Conflict(
            _("This %(noun)s is %(state)s.") % {"noun": _(row.noun), "state": _(row.state)},
            code="wrong_state",
            state=row.state,
        )


def check_kept(row: Statement) -> None:
    """Raise Conflict (409 ``erasure_waits``) if the statement waits for its erasure."""
    if erasure_waits([row]):
        raise Conflict(_(ERASURE_WAITS), code="erasure_waits")


def erasure_waits(rows: Sequence[Statement]) -> set[Any]:
    """Return the ids of those of one person's statements that wait for their erasure."""
    hidden = [row for row in rows if row.state_reason == ERASURE_WAITS]
    # What could not be shown again after its erasure was taken back, or came with an import, keeps the reason.
    if not hidden:
        return set()
    waiting = Erasure.objects.keeping_away(hidden[0].user_id, hidden[0].noun, [str(row.pk) for row in hidden])
    return {row.pk for row in hidden if str(row.pk) in waiting}


def check_version(row: Statement, expected: int | None) -> None:
    """Raise Conflict (409 ``version_conflict``) with the current version unless it is ``expected`` or that is None."""
    if expected is not None and expected != row.version:
        raise Conflict(
            _("This %(noun)s was changed meanwhile.") % {"noun": _(row.noun)},
            code="version_conflict",
            current=row.version,
        )

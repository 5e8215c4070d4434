"""Bulk changes of one person's facts or memories, with a fixed number of SQL statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from copy import copy
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _

from journal.actions import LedgerWrite
from journal.exceptions import Refused
from journal.records import DONE
from journal.steps import update_rows

from ..models import StatementKind, Suppression
from ..policy.resembling import RESEMBLES
from ..querysets import Row
from ..wording import Embedded
from .earlier import suppress_earlier
from .single import set_columns
from .suppressions import suppressions_add, suppressions_remove

MOST_AT_ONCE = 1_000


@dataclass(slots=True)
class LogEntry:
    """A change to log for a statement."""

    event: str
    meta: dict[str, Any] = field(default_factory=dict)
    old_version: int | None = None


@dataclass(slots=True)
class Move(Generic[Row]):
    """A pending change of a statement: its new columns, what to log, and what else it touched, for undo.

    ``first_rev`` and ``rev`` are its first and last revision, once logged.
    """

    row: Row
    target: dict[str, Any]
    logged: Sequence[LogEntry]
    before: dict[str, Any] = field(default_factory=dict)
    first_rev: int = 0
    rev: int = 0

    def value(self, name: str) -> Any:
        """Return the new value of a column."""
        return self.target.get(name, getattr(self.row, name))

    @property
    def state(self) -> str:
        """The new state."""
        return str(self.value("state"))

    def after(self) -> Row:
        """Return a copy of the statement with its new values."""
        row = copy(self.row)
        set_columns(row, self.target)
        return row


def suppress_many(kind: StatementKind[Row], moves: Sequence[Move[Row]]) -> None:
    """Add suppressions for one person's statements and their earlier wordings, before ``move_many``."""
    keep_suppressed(moves, suppressions_add(kind.model, [move.row.pk for move in moves]))
    keep_suppressed(moves, suppress_earlier(kind, [move.row for move in moves]))


def unsuppress_many(kind: StatementKind[Row], moves: Sequence[Move[Row]]) -> None:
    """Remove suppressions of one person's statements, but not of wordings that they replaced, before ``move_many``."""
    keep_suppressed(moves, suppressions_remove(kind.model, [move.row.pk for move in moves]))
    keep_suppressed(moves, suppress_earlier(kind, [move.row for move in moves], replaced_only=True))


def keep_suppressed(moves: Iterable[Move[Row]], stood: Mapping[str, Sequence[tuple[str, str | None]]]) -> None:
    """Keep for undo what suppressions of statements were before this and what was kept so far; ``stood`` is by id."""
    for move in moves:
        if pairs := stood.get(str(move.row.pk)):
            move.before["suppressions"] = [*move.before.get("suppressions", ()), *pairs]


def lift_resembled(kind: StatementKind[Row], user_id: UUID, moves: Sequence[Move[Row]]) -> None:
    """Remove the suppressions that approved statements resembled, before ``move_many``.

    Runs two SQL statements for each legacy concerned, none if no statement was waiting for that reason.
    """
    held = {move.row.pk: move for move in moves if move.row.state_reason == RESEMBLES and move.state == "active"}
    if not held:
        return
    said = list(kind.rows.filter(pk__in=held).only(*kind.owners, "content", "embedding", "embedding_model"))
    by_legacy: dict[UUID | None, list[Any]] = defaultdict(list)
    for row in said:
        by_legacy[kind.legacy_of(row)].append(row)
    for legacy_id, rows in by_legacy.items():
        texts = [Embedded.of_row(row) for row in rows]
        found = Suppression.objects.matches(user_id, texts, legacy_id=legacy_id, near=False)
        ids = {row.pk: [*against.words, *against.meaning] for row, against in zip(rows, found, strict=True)}
        gone = Suppression.objects.of(user_id, legacy_id).filter(pk__in=[pk for each in ids.values() for pk in each])
        stood = {pk: (words, object_id) for pk, words, object_id in gone.values_list("pk", "fingerprint", "object_id")}
        for pk, lifted in ids.items():
            held[pk].before["suppressions"] = [stood[each] for each in lifted if each in stood]
        gone.delete()


def move_many(
    kind: StatementKind[Row],
    write: LedgerWrite,
    user_id: UUID,
    moves: Sequence[Move[Row]],
    follows: Callable[[Move[Row], datetime], Mapping[str, Any]],
) -> None:
    """Log and store changes of a person's statements. The caller holds the ledger lock.

    ``follows`` returns further columns to set. Statements that leave the active state are stored first, so that
    unique constraints on active ones allow their replacements.
    """
    now = timezone.now()
    for move in moves:
        for each in move.logged:
            move.rev = write.change(
                user_id,
                each.event,
                kind.name,
                move.row.pk,
                old_version=each.old_version,
                new_version=move.value("version"),
                **each.meta,
            )
            move.first_rev = move.first_rev or move.rev
        move.target |= {"updated_at": now, **follows(move, now)}
    leaving = {move.row.pk: move.target for move in moves if move.state != "active"}
    others = {move.row.pk: move.target for move in moves if move.state == "active"}
    was = update_rows(kind.model, leaving) | update_rows(kind.model, others)
    for move in moves:
        before = {name: value for name, value in was[move.row.pk].items() if name not in kind.worked_out}
        write.keep_undo_step(user_id, kind.name, move.row.pk, {**before, **move.before})


def check_decision(kind: StatementKind[Row], wanted: Collection[Any], decision: str, decisions: Iterable[str]) -> None:
    """Raise Refused (400) for an unknown decision, or one about more than ``MOST_AT_ONCE`` statements."""
    if decision not in decisions:
        known = ", ".join(decisions)
        raise Refused(
            _("A decision about many %(plural)s is one of %(known)s.") % {"plural": _(kind.plural), "known": known},
            code="unknown_decision",
        )
    if len(wanted) > MOST_AT_ONCE:
        raise Refused(
            _("At most %(most_at_once)s %(plural)s are decided about at once.")
            % {"most_at_once": MOST_AT_ONCE, "plural": _(kind.plural)},
            code="too_many",
        )


def decision_outcomes(
    wanted: Mapping[Any, int | None],
    rows: Iterable[Row],
    start: tuple[AbstractSet[str], AbstractSet[str]],
    review_state: Callable[[Row], str],
    against: Callable[[Row], str],
) -> dict[Any, str]:
    """Return the outcome that a decision would have, by id. ``wanted`` maps ids to the version that the person saw.

    ``start`` holds the states that the decision is allowed in, and the values of ``review_state`` that it leads to.
    ``against`` returns the code of any other objection, or "".
    """
    outcomes = {row.pk: _outcome(row, wanted[row.pk], start, review_state) or against(row) or DONE for row in rows}
    return outcomes | {pk: "not_there" for pk in wanted if pk not in outcomes}


def _outcome(
    row: Row,
    seen: int | None,
    start: tuple[AbstractSet[str], AbstractSet[str]],
    review_state: Callable[[Row], str],
) -> str:
    states, leads_to = start
    if row.state not in states:
        return "nothing_to_do" if review_state(row) in leads_to else "wrong_state"
    return "changed" if seen is not None and seen != row.version else ""

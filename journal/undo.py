"""Undo of changes, by the revisions that they took.

Rooms register how their objects are restored: ``register_undo`` for single objects, ``register_revert`` for plans and
imports, which have their own revert function.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any, Protocol

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from .actions import LedgerWrite, ledger_write
from .exceptions import NotAllowed, NotFound, Refused
from .ledgers import lock_ledgers
from .models import ActorKind, Change, UndoStep
from .records import Actor
from .steps import NotUndone, Span, Undone, UndoTarget, merge_before

MOST_REVISIONS = 10_000
_NO_ADMIN_NEEDED = frozenset(
    {"ADD", "PROPOSE", "QUARANTINE", "UPDATE", "DELETE", "PIN", "LINK", "MENTION", "EVICT", "DOUBT"}
)
"""Events that an agent may cause without the scope admin, and so may undo without it."""

_NOT_BLOCKING = ("LINK", "MENTION", "DOUBT")
_REGENERATED = frozenset({"chunk"})
"""Objects that a job generates again whenever their messages change. They have no undo step."""

_EVICTIONS = frozenset({"EVICT"})
_NO_CHANGES = Q(pk__in=[])


class Undoer(Protocol):
    """The part of ``accounts.principals.Principal`` that undo uses."""

    @property
    def kind(self) -> str: ...  # noqa: D102
    @property
    def actor_id(self) -> str: ...  # noqa: D102
    @property
    def user_id(self) -> uuid.UUID | None: ...  # noqa: D102
    @property
    def scopes(self) -> frozenset[str]: ...  # noqa: D102
    @property
    def actor(self) -> Actor: ...  # noqa: D102
    def with_idempotency(self, claim: None) -> Undoer: ...  # noqa: D102


UndoHandler = Callable[[LedgerWrite, Any, Sequence[UndoTarget]], Mapping[str, str]]
"""Restores objects of a type. Returns the codes of why some could not be restored, by id."""


@dataclass(frozen=True, slots=True)
class _ObjectUndo:
    """How objects of a type are restored. ``ledgers`` returns what to lock beside the person's, for object ids."""

    restore: UndoHandler
    ledgers: Callable[[Sequence[str]], Iterable[uuid.UUID]]


_object_undos: dict[str, _ObjectUndo] = {}


@dataclass(frozen=True, slots=True)
class _GroupRevert:
    """How a plan or an import is reverted, and the ids of the conversations whose changes are reverted with it."""

    revert: Callable[[Any, str], str]
    conversations: Callable[[str], QuerySet[Any, uuid.UUID]] | None


_group_reverts: dict[str, _GroupRevert] = {}


def register_undo(
    object_type: str, restore: UndoHandler, *, ledgers: Callable[[Sequence[str]], Iterable[uuid.UUID]] = lambda ids: ()
) -> None:
    """Register how objects of a type are restored. Types are restored in the order of registration."""
    _object_undos[object_type] = _ObjectUndo(restore, ledgers)


def register_revert(
    name: str,
    revert: Callable[[Any, str], str],
    *,
    conversations: Callable[[str], QuerySet[Any, uuid.UUID]] | None = None,
) -> None:
    """Register the revert function of objects whose id is logged under ``name`` in a change's ``meta``.

    It returns an error code, or "" on success. Changes in its ``conversations`` are reverted with it, so undo skips
    them.
    """
    _group_reverts[name] = _GroupRevert(revert, conversations)


_undo_listeners: list[Callable[[uuid.UUID, Sequence[Span]], None]] = []


def on_undo(follow: Callable[[uuid.UUID, Sequence[Span]], None]) -> None:
    """Register a listener that is called, under the locks, with the person's id and the actions that were undone."""
    _undo_listeners.append(follow)


Undo = Callable[..., "Undone"]
_undo_wrappers: list[Callable[[Undo], Undo]] = []


def wrap_undo(wrap: Callable[[Undo], Undo]) -> None:
    """Register a decorator of undo, by a room whose objects need it, for example to be compared before the lock."""
    _undo_wrappers.append(wrap)


def undo(principal: Undoer, first_rev: int, last_rev: int, *, between: Iterable[Span] = ()) -> Undone:
    """Undo the person's revisions ``first_rev`` to ``last_rev`` (inclusive), without those ``between``.

    Changes of one transaction are undone together. A change is not undone if its object was changed later (unless
    that was undone too), if the object does not fit any more, if staff decided it, or if it is never undoable. Evicted
    memories come back only with the undo of what evicted them. An agent can undo only its own changes, and decisions
    only with the scope admin. An undo can be undone.

    Codes of revisions that were not undone: ``built_on``, ``not_undoable``, ``not_yours``, ``by_staff``, ``not_there``,
    ``wrong_state``, ``similar_exists``, ``field_exists``, ``budget``, ``not_a_member``, ``rejected_before``,
    ``cause_left``. Raises NotAllowed (403) without the scope write, NotFound (404) if no change in the range is the
    caller's, Refused (400) for a bad range.
    """
    if "write" not in principal.scopes or principal.user_id is None:
        raise NotAllowed(_("This key has no scope write."), code="missing_scope")
    if not 0 < first_rev <= last_rev:
        raise Refused(_("A range goes from one revision to the same or a later one."), code="bad_range")
    if last_rev - first_rev >= MOST_REVISIONS:
        raise Refused(
            _("At most %(most_revisions)s revisions are undone at once.")
            % {"most_revisions": intcomma(MOST_REVISIONS)},
            code="too_many",
        )
    run = reduce(lambda inner, wrap: wrap(inner), _undo_wrappers, _undo)
    return run(principal, principal.user_id, first_rev, last_rev, list(between))


def _undo(principal: Undoer, user_id: uuid.UUID, first_rev: int, last_rev: int, between: Sequence[Span]) -> Undone:
    excluded = reduce(or_, (Q(rev__range=span) for span in between), _NO_CHANGES)
    found = _Range.of(principal, user_id, first_rev, last_rev, without=excluded)
    known = {name: ids for name, ids in found.ids.items() if name in _object_undos}
    others = {each for name, ids in known.items() for each in _object_undos[name].ledgers(ids)}
    with transaction.atomic():
        # Lock all of them here, in id order as everywhere: a revert function locks only the person's.
        lock_ledgers(sorted({user_id, *others}))
        left, reverted = _revert(principal, found)
        with ledger_write(principal.actor, user_id, *others) as write:
            before = write.ledgers[user_id].rev
            rest = _Range.of(
                principal, user_id, first_rev, last_rev, without=excluded | _changes_of_conversations(reverted)
            )
            undoing = _UndoRun(write, principal, rest, left, reverted)
            undoing.run()
            for follow in _undo_listeners:
                follow(user_id, undoing.done_spans())
            undone = undoing.result(before + 1, write.ledgers[user_id].rev)
            write.result("undo", *serialize_undone(undone))
    return undone


def serialize_undone(undone: Undone) -> list[str]:
    """Serialise the result for the idempotency record, without any text."""
    return [f"{undone.undone} {undone.first} {undone.last}", *(f"{each.rev} {each.why}" for each in undone.left)]


def _revert(principal: Undoer, found: _Range) -> tuple[dict[int, str], list[tuple[str, str]]]:
    """Revert the plans and imports in the range.

    Returns the codes of what was not reverted by revision, and (name, id) of what was.
    """
    targets: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in found.asked.values():
        for name in _group_reverts.keys() & change.meta.keys():
            targets[name, str(change.meta[name])].append(change)
    left: dict[int, str] = {}
    reverted: list[tuple[str, str]] = []
    for (name, object_id), changes in targets.items():
        why = next(filter(None, (_objection(principal, change) for change in changes)), "")
        if why := why or _group_reverts[name].revert(principal.with_idempotency(None), object_id):
            left |= {change.rev: why for change in changes}
        else:
            reverted.append((name, object_id))
    return left, reverted


def _changes_of_conversations(reverted: Sequence[tuple[str, str]]) -> Q:
    """Return the filter of the changes in the conversations of reverted imports."""
    gone = _NO_CHANGES
    for name, object_id in reverted:
        if (conversations := _group_reverts[name].conversations) is not None:
            gone |= Q(conversation_id__in=conversations(object_id))
    return gone


@dataclass(frozen=True, slots=True)
class _Range:
    """The changes to undo (``asked``), with the undo steps of their transactions and later changes of their objects.

    ``steps`` are by type and id, the latest first; ``log`` has the changes of each object. ``undone`` holds the
    revisions that have no effect any more: undone changes, and the undos of them unless these are asked for as well.
    """

    asked: Mapping[int, Change]
    steps: Mapping[tuple[str, str], Sequence[UndoStep]]
    log: Mapping[tuple[str, str], Sequence[Change]]
    undone: Set[int]

    @classmethod
    def of(cls, principal: Undoer, user_id: uuid.UUID, first: int, last: int, *, without: Q = _NO_CHANGES) -> _Range:
        """Read the range in a fixed number of statements, leaving out the changes that ``without`` filters.

        No statement gets the ids that another has read, because a range can hold thousands. Raises NotFound.
        """
        changes = Change.objects.of_owner(user_id)
        asked = {change.rev: change for change in changes.filter(rev__range=(first, last))}
        if not any(_is_own(principal, change) for change in asked.values()):
            raise NotFound("There is nothing to undo.")
        gone = set(changes.filter(without, rev__range=(first, last)).values_list("rev", flat=True))
        asked = {rev: change for rev, change in asked.items() if rev not in gone}
        theirs = UndoStep.objects.filter(ledger_id=user_id).exclude(rev__in=changes.filter(without).values("rev"))
        actions = theirs.filter(action__lte=last, rev__gte=first).values("action")
        steps: dict[tuple[str, str], list[UndoStep]] = defaultdict(list)
        for step in theirs.filter(action__in=actions).order_by("-rev"):
            steps[step.object_type, step.object_id].append(step)
        log: dict[tuple[str, str], list[Change]] = defaultdict(list)
        targets = {step.rev: step.action for each in steps.values() for step in each}
        since = min(targets.values(), default=0)
        # Actions don't overlap, so this range gives the same steps as the list of actions above.
        same = theirs.filter(action__range=(since, last), object_type=OuterRef("object_type"))
        rows = changes.filter(Exists(same.filter(object_id=OuterRef("object_id"))), rev__gte=since)
        undid = Subquery(theirs.filter(rev=OuterRef("rev")).values("before__undoes"))
        undone: set[int] = set()
        back_to: dict[tuple[str, str], int] = {}
        # The latest first, because an undo that was undone itself has no effect.
        for change in rows.annotate(undoes=undid).order_by("-rev"):
            key = (change.object_type, change.object_id)
            log[key].append(change)
            is_over = change.rev >= back_to.get(key, change.rev + 1)
            if change.undoes is not None and not is_over and change.rev not in targets:
                back_to[key], is_over = change.undoes, True
            if is_over:
                undone.add(change.rev)
        return cls(asked, steps, log, undone)

    @property
    def ids(self) -> Mapping[str, list[str]]:
        """The ids of the changed objects by type."""
        found: dict[str, list[str]] = defaultdict(list)
        for object_type, object_id in self.steps:
            found[object_type].append(object_id)
        return found


def _is_own(principal: Undoer, change: Change) -> bool:
    """Whether the principal may undo a change: a person any, an agent its own."""
    if principal.kind != ActorKind.AGENT:
        return True
    return (change.actor_kind, change.actor_id) == (ActorKind.AGENT, principal.actor_id)


def _objection(principal: Undoer, change: Change) -> str:
    """Return the code of why the principal can't undo a change, or "".

    An agent learns nothing else of the changes of others, which it may not see.
    """
    if not _is_own(principal, change):
        return "not_yours"
    if change.actor_kind == ActorKind.STAFF:
        return "by_staff"
    decided = change.event not in _NO_ADMIN_NEEDED or (change.object_type == "fact" and change.event != "ADD")
    return "not_yours" if decided and "admin" not in principal.scopes else ""


@dataclass
class _UndoRun:
    """Undoes a range, under the locks. ``left`` holds the codes of what was not undone by revision."""

    write: LedgerWrite
    principal: Undoer
    range: _Range
    left: dict[int, str]
    done: list[tuple[str, str]]
    done_actions: set[int] = field(default_factory=set)

    def run(self) -> None:
        """Restore the changed objects, then those that were evicted to make room for them."""
        targets: dict[tuple[str, bool], list[UndoTarget]] = defaultdict(list)
        for (object_type, object_id), steps in self.range.steps.items():
            log = self.range.log[object_type, object_id]
            undone = self.undoable_steps(steps, log)
            if undone:
                self.write.undoes[object_type, object_id] = undone[-1].action
                each = _target(object_id, undone, log)
                targets[object_type, each.events <= _EVICTIONS].append(each)
        for object_type in _object_undos:
            self.restore(object_type, targets[object_type, False])
        for object_type in _object_undos:
            caused = [each for each in targets[object_type, True] if each.actions <= self.done_actions]
            for each in targets[object_type, True]:
                self.left |= {} if each in caused else dict.fromkeys(each.revs, "cause_left")
            self.restore(object_type, caused)

    def undoable_steps(self, steps: Sequence[UndoStep], log: Sequence[Change]) -> list[UndoStep]:
        """Return the steps of an object that can be undone, the latest first; add the others to ``left``.

        Steps that were undone before are skipped; if all were, they are added to ``left`` as ``built_on``. Those of
        others are ``not_yours`` to an agent, whatever came of them.
        """
        found: list[UndoStep] = []
        until = None
        blocked = all(step.rev in self.range.undone for step in steps)
        for step in steps:
            own = [each for each in log if step.action <= each.rev <= step.rev]
            is_theirs = not all(_is_own(self.principal, each) for each in own)
            if step.rev in self.range.undone and not blocked:
                self.left |= {step.rev: "not_yours"} if is_theirs else {}
                continue
            since = [each for each in log if each.rev > step.rev and (until is None or each.rev < until)]
            since = [each for each in since if each.event not in _NOT_BLOCKING and each.rev not in self.range.undone]
            blocked = blocked or bool(since)
            objections = filter(None, (_objection(self.principal, each) for each in own))
            why = "not_yours" if is_theirs else "built_on" if blocked else next(objections, "")
            if why:
                blocked = True
                self.left[step.rev] = why
            else:
                found.append(step)
            until = step.action
        return found

    def restore(self, object_type: str, targets: Sequence[UndoTarget]) -> None:
        """Call the registered handler, and record what it restored."""
        if not targets:
            return
        left = _object_undos[object_type].restore(self.write, self.principal, targets)
        for each in targets:
            if each.object_id in left:
                self.left |= dict.fromkeys(each.revs, left[each.object_id])
            else:
                self.done.append((object_type, each.object_id))
                self.done_actions |= each.actions

    def done_spans(self) -> list[Span]:
        """Return the actions of which anything was undone."""
        last: dict[int, int] = {}
        for steps in self.range.steps.values():
            for step in steps:
                last[step.action] = max(step.rev, last.get(step.action, 0))
        return [(action, last[action]) for action in sorted(self.done_actions)]

    def result(self, first: int, last: int) -> Undone:
        """Return the result, with the revisions that were not undone in order; ``first`` to ``last`` are its own."""
        for rev, change in self.range.asked.items():
            steps = self.range.steps.get((change.object_type, change.object_id), ())
            is_covered = any(step.action <= rev <= step.rev for step in steps)
            needs_step = change.event not in _NOT_BLOCKING and change.object_type not in _REGENERATED
            if not is_covered and needs_step and not _group_reverts.keys() & change.meta.keys():
                self.left[rev] = _objection(self.principal, change) or "not_undoable"
        left = [NotUndone(rev, self.left[rev]) for rev in sorted(self.left)]
        return Undone(self.done, left, *((first, last) if last >= first else (0, 0)))


def _target(object_id: str, steps: Sequence[UndoStep], log: Sequence[Change]) -> UndoTarget:
    before: dict[str, Any] = {}
    for step in steps:
        # Several objects may have changed one suppression, so each entry gets its revision to order them.
        suppressions = [[*each, step.rev] for each in step.before.get("suppressions", [])]
        before = merge_before(before, {**step.before, **({"suppressions": suppressions} if suppressions else {})})
    before.pop("undoes", None)
    events = {each.event for step in steps for each in log if step.action <= each.rev <= step.rev}
    revs, actions = [step.rev for step in steps], frozenset(step.action for step in steps)
    return UndoTarget(object_id, before, revs, actions, frozenset(events))

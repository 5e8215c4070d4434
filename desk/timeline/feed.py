"""The entries of the timeline, latest first: changes of one action are one entry, with its undo."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple, Self
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.models import ActorKind, Change, ChangeQuerySet, UndoStep

from ..history import BY_ITSELF, agent_names, who_address, who_did
from ..listing import as_id, one_of
from ..page import undo_address
from ..quotations import cut
from .telling import NAMED, Key, Named, about, names_of, tell, told_of

AT_ONCE = 50
UNDO_CHARACTERS = 60
NAMED_AT_ONCE = 3
"""How many of the things that were changed together are named; of the rest the number is."""
FOLDED_FROM = 3
"""Number of consecutive alike entries from which they are folded into one."""
DECISIONS = frozenset({"APPROVE", "REJECT", "SHARE", "UNSHARE", "PIN"})
KINDS = {
    "memory": (_("Memories"), ("memory", "proposal")),
    "fact": (_("Facts about others"), ("fact",)),
    "place": (_("Places"), ("place",)),
    "talk": (_("Conversations"), ("conversation", "message", "chunk", "import")),
    "legacy": (_("Legacies and members"), ("legacy", "member", "invitation", "invitation_block")),
    "access": (_("Agents, account and erasing"), ("agent", "webhook", "identity", "user", "preferences", "erasure")),
}
PEOPLE = {"me": _("You"), "keepsake": _("Keepsake"), "staff": _("Moderators")}


@dataclass(frozen=True, slots=True)
class TimelineView:
    """Query parameters of the timeline: ``who``: one of ``PEOPLE`` or an agent's id; ``kind``: one of ``KINDS``.

    ``before``: only earlier revisions are shown; 0 for the latest.
    """

    who: str = ""
    kind: str = ""
    before: int = 0

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Parse a query string, ignoring invalid values."""
        before = query.get("before", "")
        return cls(
            who=one_of(query, "who", PEOPLE) or as_id(query.get("who", "")),
            kind=one_of(query, "kind", KINDS),
            before=int(before) if before.isdecimal() and len(before) < 16 else 0,
        )

    @property
    def query(self) -> str:
        """The query string with its question mark."""
        asked = {"who": self.who, "kind": self.kind, "before": self.before}
        return "?" + urlencode({name: value for name, value in asked.items() if value})

    def from_revision(self, before: int) -> Self:
        """The same view before another revision; 0 for the latest."""
        return replace(self, before=before)

    @property
    def is_filtered(self) -> bool:
        """Whether anything narrows the list."""
        return bool(self.who or self.kind)

    def narrow(self, changes: ChangeQuerySet, user_id: UUID) -> ChangeQuerySet:
        """Apply the filters, with the authors as in ``who_did``."""
        rows = told_of(changes)
        rows = rows.filter(rev__lt=self.before) if self.before else rows
        rows = rows.filter(object_type__in=KINDS[self.kind][1]) if self.kind else rows
        if not self.who:
            return rows
        by_itself = Q(event__in=BY_ITSELF) & ~Q(actor_kind=ActorKind.STAFF)
        return rows.filter(
            {
                "me": Q(actor_kind=ActorKind.PERSON, actor_id=str(user_id)) & ~by_itself,
                "keepsake": Q(actor_kind=ActorKind.JOB) | by_itself,
                "staff": Q(actor_kind=ActorKind.STAFF),
            }.get(self.who, Q(actor_kind=ActorKind.AGENT, actor_id=self.who) & ~by_itself)
        )


@dataclass(frozen=True, slots=True)
class Line:
    """Who did what to which objects; ``more``: further ones; ``gone``: deleted ones.

    ``decides``: the change is a decision about an existing object. ``reason``: what a moderator gave as the reason.
    """

    who: str
    who_address: str
    what: str
    named: Sequence[Named]
    more: int
    gone: int
    decides: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """The changes of one action, and its undo URL, or ''.

    ``folded``: consecutive entries that report the same change of different objects, latest first; the lines of this
    one summarize them.
    """

    at: datetime
    lines: list[Line] = field(default_factory=list)
    undo: str = ""
    folded: Sequence[Entry] = ()

    @property
    def told(self) -> str:
        """What was done, and to which thing first, to name its undo."""
        first = self.lines[0]
        return f"{first.what}, {cut(first.named[0].text, UNDO_CHARACTERS)}" if first.named else first.what


def read_timeline(principal: Principal, view: TimelineView) -> tuple[list[Entry], int]:
    """Return the entries of a view and the next page's revision (0: none), in a constant number of queries."""
    user_id = must_act_for(principal)
    rows = view.narrow(Change.objects.of_owner(user_id), user_id).order_by("-rev")
    changes = list(rows[: AT_ONCE + 1])
    shown = changes[:AT_ONCE]
    steps = _Steps.of(user_id, shown)
    agents, names = agent_names(shown), names_of(principal, map(about, shown))
    entries = []
    for _action, together in groupby(shown, key=steps.action_of):
        changed = list(together)
        lines = list(_lines(changed, agents, names, user_id))
        entries.append(Entry(changed[0].at, lines, steps.undo_of(changed)))
    return list(_folded(entries)), shown[-1].rev if len(changes) > AT_ONCE else 0


def _folded(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries, with consecutive alike ones folded into one."""
    for _same, row in groupby(entries, key=_alike):
        alike = list(row)
        if len(alike) < FOLDED_FROM:
            yield from alike
        else:
            by_what: dict[tuple[str, str], list[Line]] = defaultdict(list)
            for line in (line for each in alike for line in each.lines):
                by_what[line.what, line.reason].append(line)
            yield Entry(alike[0].at, list(map(_together, by_what.values())), folded=alike)


def _alike(entry: Entry) -> object:
    """Return the key by which consecutive entries are folded: the day, the actor, and the change or that it decides.

    An entry with several kinds of changes has a key of its own.
    """
    if len({(line.who, line.decides or line.what) for line in entry.lines}) != 1:
        return id(entry)
    line = entry.lines[0]
    return timezone.localdate(entry.at), line.who, line.who_address, line.decides or line.what


def _together(lines: Sequence[Line]) -> Line:
    named = list(dict.fromkeys(each for line in lines for each in line.named))
    more = max(0, len(named) - NAMED_AT_ONCE) + sum(line.more for line in lines)
    first = lines[0]
    gone = sum(line.gone for line in lines)
    return replace(first, named=named[:NAMED_AT_ONCE], more=more, gone=gone, decides=False)


def _lines(
    changes: Sequence[Change], agents: Mapping[str, str], names: Mapping[Key, Named], user_id: UUID
) -> Iterator[Line]:
    told: dict[tuple[str, str, str, bool, str], dict[Key, None]] = defaultdict(dict)
    for change in changes:
        who = who_did(change, agents, user_id)
        decides = change.event in DECISIONS
        reason = str(change.meta.get("reason", "")) if change.actor_kind == ActorKind.STAFF else ""
        told[who, who_address(change, who, agents), tell(change), decides, reason][about(change)] = None
    for (who, address, what, decides, reason), keys in told.items():
        known = [names[key] for key in keys if key in names]
        gone = sum(key not in names and key[0] in NAMED for key in keys)
        yield Line(who, address, what, known[:NAMED_AT_ONCE], max(0, len(known) - NAMED_AT_ONCE), gone, decides, reason)


class _Step(NamedTuple):
    """An undo step; ``undoes``: the first revision that it undid, None if it was no undo."""

    rev: int
    action: int
    object_type: str
    object_id: str
    undoes: int | None


@dataclass(frozen=True, slots=True)
class _Steps:
    """The undo steps of the shown changes by object, latest first.

    ``open``: steps that can be undone: the last one of each object and, if that is an undo, the one before the undone
    ones.
    """

    of_thing: Mapping[Key, Sequence[_Step]]
    open: frozenset[tuple[Key, int]]

    @classmethod
    def of(cls, user_id: UUID, changes: Sequence[Change]) -> Self:
        """Load the steps of the changed objects, from the first change on."""
        keys = {(change.object_type, change.object_id) for change in changes}
        ids = {object_id for _kind, object_id in keys}
        since = timezone.now() - timedelta(days=settings.ARCHIVE_DAYS)
        rows = UndoStep.objects.filter(
            ledger_id=user_id, object_id__in=ids, rev__gte=min((each.rev for each in changes), default=0), at__gt=since
        )
        found: dict[Key, list[_Step]] = defaultdict(list)
        for row in rows.order_by("-rev").values_list(*_Step._fields[:-1], "before__undoes"):
            step = _Step(*row)
            found[step.object_type, step.object_id].append(step)
        return cls(found, frozenset((key, step.rev) for key, steps in found.items() for step in _open(steps)))

    def action_of(self, change: Change) -> int | tuple[str, str]:
        """Return the first revision of a change's action; its own if it can't be undone; for merges the plan."""
        if change.event == "MERGE" and "plan" in change.meta:
            return "plan", str(change.meta["plan"])
        step = self._step_of(change)
        return step.action if step else change.rev

    def undo_of(self, changes: Sequence[Change]) -> str:
        """Return the undo URL of an action, or '' if everything changed since, or staff did it.

        Imports and plans are reverted as a whole on their own page.
        """
        steps = [(change, step) for change in changes if (step := self._step_of(change))]
        is_open = any(((step.object_type, step.object_id), step.rev) in self.open for _change, step in steps)
        kept = any(
            change.actor_kind == ActorKind.STAFF or {"import", "plan"} & change.meta.keys() for change in changes
        )
        if not is_open or kept:
            return ""
        return undo_address(steps[0][1].action, max(step.rev for _change, step in steps))

    def _step_of(self, change: Change) -> _Step | None:
        steps = self.of_thing.get((change.object_type, change.object_id), ())
        return next((step for step in steps if step.action <= change.rev <= step.rev), None)


def _open(steps: Sequence[_Step]) -> Iterator[_Step]:
    """Return the steps of one object that can be undone, latest first."""
    back_to = 0
    for step in steps:
        if back_to and step.rev >= back_to:
            continue
        yield step
        back_to = step.undoes or 0
        if not back_to:
            return

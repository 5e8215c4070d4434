"""The history of a fact or a memory, newest first, with diffs; and changes of what it is based on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.models import Agent
from accounts.principals import PLACEHOLDER_USER, Principal
from conversations.models import Message
from facts.models import FactVersion, LegacyFact
from journal.models import ActorKind, Change
from memories.models import Memory, MemoryVersion
from retrieval.prepared import Shaped, read
from statements.models import Doubt
from statements.policy.naming import fact_in_words, in_second_person

from .cards import Other, diff_of_facts, diff_of_memories
from .diff import DiffPiece
from .quotations import CONTEXT_CHARACTERS, message_address, shorten

MOST_ENTRIES = 200
_OBJECT_ID = "\0object"
"""The placeholder of an id in compiled statements; no id contains a NUL."""
BY_ITSELF = frozenset({"QUARANTINE", "EVICT", "TTL"})
"""What a gate or the budget does, whosever words they are."""
_OF_A_DENIAL = frozenset({"ADD", "LINK"})
"""The events of a fact that contradicts an earlier one of the same talk."""
Version = TypeVar("Version", FactVersion, MemoryVersion)


@dataclass(frozen=True, slots=True)
class Entry:
    """An event. ``wording``: the number of the resulting version, if any.

    ``who_address``: URL of the agent.
    """

    at: datetime
    who: str
    what: str
    reason: str = ""
    pieces: list[DiffPiece] = field(default_factory=list)
    category: str = ""
    wording: int | None = None
    current: bool = False
    who_address: str = ""


def make_history(
    statement: LegacyFact | Memory,
    noun: str,
    versions: QuerySet[Version],
    tell: Callable[[Change, Mapping[str, str], Version | None, Version | None], tuple[str, str]],
    compare: Callable[[Version, Version], tuple[list[DiffPiece], str]],
) -> Iterator[Entry]:
    """Return the latest entries, newest first.

    ``tell`` describes an event, given the agents' names and the wordings before and after (None without a new one).
    ``compare`` returns their diff, and the change of category.
    """
    log = Change.objects.of_owner(statement.user_id).filter(object_type=noun, object_id=str(statement.pk))
    changes = list(log.order_by("-rev")[:MOST_ENTRIES])
    wordings = {each.number: each for each in versions.order_by("-number")[: MOST_ENTRIES + 1]}
    made = {each.recorded_from_rev: each for each in wordings.values()}
    agents = agent_names(changes)
    reasons = _reasons(changes, statement.state_reason if statement.state == "rejected" else "")
    for change in changes:
        new = made.get(change.rev)
        old = wordings.get(new.number - 1, new) if new else None
        who, what = tell(change, agents, old, new)
        entry = Entry(change.at, who, what, reasons.get(change.rev, ""), who_address=who_address(change, who, agents))
        if old and new:
            pieces, category = compare(old, new)
            is_current = new.number == statement.version
            entry = replace(entry, pieces=pieces, category=category, wording=new.number, current=is_current)
        yield entry


def _reasons(changes: Iterable[Change], of_rejection: str) -> Mapping[int, str]:
    """Return the reasons by revision: those of staff, and ``of_rejection`` for the last rejection."""
    reasons = {each.rev: str(each.meta["reason"]) for each in changes if "reason" in each.meta}
    rejected = next((each.rev for each in changes if each.event == "REJECT"), None)
    if rejected is not None and of_rejection:
        reasons.setdefault(rejected, of_rejection)
    return reasons


def agent_names(changes: Iterable[Change]) -> Mapping[str, str]:
    """Return the names of the acting agents by id."""
    ids = {each.actor_id for each in changes if each.actor_kind == ActorKind.AGENT}
    rows = Agent.objects.filter(pk__in=ids).values_list("pk", "name") if ids else []
    return {str(pk): name for pk, name in rows}


def who_did(change: Change, agents: Mapping[str, str], owner_id: object) -> str:
    """Return who made a change, in words; ``agents``: names by id."""
    if change.actor_kind == ActorKind.STAFF:
        return _("A moderator")
    if change.event in BY_ITSELF:
        return "Keepsake"
    if change.actor_kind == ActorKind.PERSON:
        # Removing a member from a legacy unshares their facts.
        return _("You") if change.actor_id == str(owner_id) else _("Another member")
    return agents.get(change.actor_id, _("An agent")) if change.actor_kind == ActorKind.AGENT else "Keepsake"


def who_address(change: Change, who: str, agents: Mapping[str, str]) -> str:
    """Return the URL of the acting agent, or ''."""
    return reverse("agent-page", args=[change.actor_id]) if agents.get(change.actor_id) == who else ""


def what_changed(principal: Principal, object_type: str, object_id: str) -> list[Other]:
    """Describe what changed in the basis of a statement since it was decided about; empty when nothing did."""
    if principal.user_id is None:
        return []
    found = read(
        Shaped(
            key=("doubt", object_type),
            build=lambda: Doubt.objects.open_of(PLACEHOLDER_USER, object_type).filter(object_id=_OBJECT_ID),
            values={PLACEHOLDER_USER: principal.user_id, _OBJECT_ID: object_id},
        ),
        ("rev",),
    )
    if not found:
        return []
    ((rev,),) = found
    change = Change.objects.of_owner(principal.user_id).filter(rev=rev).first()
    return _happened(principal, change) if change is not None else [_withheld()]


def _happened(principal: Principal, change: Change) -> list[Other]:
    if change.event == Change.Event.ERASE:
        return [Other(reverse("home"), _("something that it rests on"), _("Erased"))]
    if change.event == Change.Event.DOUBT:
        return _said(principal, change)
    if change.object_type == "fact" and change.event in _OF_A_DENIAL:
        return _denied(principal, change)
    if change.object_type in {"memory", "fact"} and change.event in {"UPDATE", "APPROVE"}:
        return _corrected(principal, change)
    return [_withheld()]


def _withheld() -> Other:
    return Other(reverse("withheld-list"), _("words that it rests on"), _("Withheld"))


def _said(principal: Principal, change: Change) -> list[Other]:
    """Return what the person said that a statement may not fit any more."""
    said = (
        Message.objects.visible_to(principal).filter(pk=change.meta["message"]).only("conversation", "index", "content")
    )
    message = said.first()
    if message is None:
        return [Other(reverse("home"), _("something that you said"), _("Not there any more"))]
    address = message_address(message.conversation_id, message.index + 1)
    return [Other(address, shorten(message.content, 2 * CONTEXT_CHARACTERS), _("Said since"))]


def _denied(principal: Principal, change: Change) -> list[Other]:
    """Return the fact in which the person said since that it is otherwise."""
    facts = LegacyFact.objects.mine(principal).present().filter(pk=UUID(change.object_id))
    said = facts.values_list("content", flat=True).first()
    if said is None:
        return [Other(reverse("home"), _("something that you said"), _("Not there any more"))]
    return [Other(reverse("fact-page", args=[change.object_id]), fact_in_words(said), _("Said since"))]


def _corrected(principal: Principal, change: Change) -> list[Other]:
    numbers = [change.old_version, change.new_version]
    if change.object_type == "memory":
        own = Memory.objects.visible_to(principal).filter(pk=change.object_id)
        versions = MemoryVersion.objects.filter(memory__in=own, number__in=numbers)
        was = dict(versions.values_list("number", "content"))
        address = reverse("memory-page", args=[change.object_id])
        now, compare = own.values_list("content", flat=True).first(), diff_of_memories
    else:
        facts = LegacyFact.objects.mine(principal).filter(pk=UUID(change.object_id))
        was = dict(FactVersion.objects.filter(fact__in=facts, number__in=numbers).values_list("number", "content"))
        address = reverse("fact-page", args=[change.object_id])
        now, compare = facts.values_list("content", flat=True).first(), diff_of_facts
    if now is None:
        return [Other(reverse("home"), _("something that it rests on"), _("Not there any more"))]
    old, new = (was.get(number or 0, now) for number in numbers)
    shown = in_second_person(now) if change.object_type == "memory" else fact_in_words(now)
    return [Other(address, shown, _("Corrected"), pieces=compare(old, new), diffed=gettext_noop("From then to now"))]

"""What happened to a fact, newest first, in words: who did what when, and how its wording changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from accounts.models import Agent
from accounts.principals import Principal
from facts.models import FactLink, FactVersion, LegacyFact
from journal.models import ActorKind, Change

from ..diff import Piece, word_diff

MOST_ENTRIES = 200
_SAID = {
    "UPDATE": "changed it",
    "APPROVE": "approved it",
    "REJECT": "rejected it",
    "DELETE": "deleted it",
    "SHARE": "shared it with the other members",
    "UNSHARE": "stopped sharing it",
    "HIDE": "hid it from everybody but you",
    "QUARANTINE": "held it back",
    "OPEN": "opened it",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened. ``wording`` is the number of the wording that came of it, if a new one did."""

    at: datetime
    who: str
    what: str
    reason: str = ""
    pieces: list[Piece] = field(default_factory=list)
    category: str = ""
    wording: int | None = None
    current: bool = False


def make_history(principal: Principal, fact: LegacyFact) -> list[Entry]:
    """The latest entries about a fact of the person, newest first; of another member's fact nothing is told."""
    if fact.user_id != principal.user_id:
        return []
    log = Change.objects.of_owner(fact.user_id).filter(object_type="fact", object_id=str(fact.pk))
    changes = list(log.order_by("-rev")[:MOST_ENTRIES])
    numbers = {each.new_version for each in changes} | {each.old_version for each in changes}
    versions = {
        each.number: each
        for each in FactVersion.objects.filter(fact=fact, number__in=[number for number in numbers if number])
    }
    agents = agent_names(changes)
    held = fact.state_reason if fact.state == LegacyFact.State.REJECTED else ""
    reasons = stated_reasons(changes, held)
    return [_entry(change, fact, versions, agents, reasons.get(change.rev, "")) for change in changes]


def stated_reasons(changes: Iterable[Change], of_rejection: str) -> Mapping[int, str]:
    """Why something was done, by revision: what staff gave, and ``of_rejection`` for the last one, which holds."""
    reasons = {each.rev: str(each.meta["reason"]) for each in changes if "reason" in each.meta}
    rejected = next((each.rev for each in changes if each.event == "REJECT"), None)
    if rejected is not None and of_rejection:
        reasons.setdefault(rejected, of_rejection)
    return reasons


def agent_names(changes: Iterable[Change]) -> Mapping[str, str]:
    """The names of the agents that did something, by id."""
    ids = {each.actor_id for each in changes if each.actor_kind == ActorKind.AGENT}
    rows = Agent.objects.filter(pk__in=ids).values_list("pk", "name") if ids else []
    return {str(pk): name for pk, name in rows}


def _entry(
    change: Change, fact: LegacyFact, versions: Mapping[int, FactVersion], agents: Mapping[str, str], reason: str
) -> Entry:
    new, old = versions.get(change.new_version or 0), versions.get(change.old_version or 0)
    who, what = _who(change, fact, agents), _what(change, fact)
    if change.event == "UPDATE" and new and old and new.written_by and new.content != old.content:
        what = f"brought the wording of {new.written_by} back"
    if change.event not in {"ADD", "UPDATE"} or new is None:
        return Entry(change.at, who, what, reason)
    before = old.content if old and change.event == "UPDATE" else new.content
    moved = old is not None and change.event == "UPDATE" and old.category != new.category
    return Entry(
        change.at,
        who,
        what,
        reason,
        pieces=word_diff(before, new.content),
        category=f"{_category(old)} → {_category(new)}" if moved else "",
        wording=new.number,
        current=new.number == fact.version,
    )


def _category(version: FactVersion | None) -> str:
    return LegacyFact.Category(version.category).label if version else ""


def _who(change: Change, fact: LegacyFact, agents: Mapping[str, str]) -> str:
    if change.actor_kind == ActorKind.STAFF:
        return "A moderator"
    if change.event == "QUARANTINE":
        return "Keepsake"  # A gate did, whosever words they are.
    if change.actor_kind == ActorKind.PERSON:
        # Who removes a member from a legacy unshares what that one shared.
        return "You" if change.actor_id == str(fact.user_id) else "Another member"
    return agents.get(change.actor_id, "An agent") if change.actor_kind == ActorKind.AGENT else "Keepsake"


def _relation(change: Change) -> str:
    return "contradicts it" if change.meta.get("kind") == FactLink.Kind.CONTRADICTS else "says the same"


def _what(change: Change, fact: LegacyFact) -> str:
    if change.event == "ADD":
        return "found it in what you said" if fact.source_index is not None else "wrote it down"
    if change.event == "LINK":
        return "found it said again" if "evidence" in change.meta else f"saw that another fact {_relation(change)}"
    if change.event == "RESTORE":
        if change.actor_kind == ActorKind.STAFF:
            return "let it be seen again"
        if change.meta.get("undo"):
            return "took the last decision back"
        return "put it back to be reviewed" if change.meta.get("waits") else "restored it"
    return _SAID.get(change.event, change.get_event_display().lower())

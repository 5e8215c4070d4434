"""What happened to a memory, newest first, in words: who did what when, and how its wording changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accounts.principals import Principal
from journal.models import ActorKind, Change
from memories.models import Memory, MemoryVersion

from ..diff import word_diff
from ..legacies.history import MOST_ENTRIES, Entry, agent_names, stated_reasons

_SAID = {
    "PROPOSE": "proposed it",
    "REJECT": "rejected it",
    "QUARANTINE": "held it back",
    "TTL": "archived it when its time was over",
    "EVICT": "archived it to make room for newer ones",
    "OPEN": "opened it",
    "MERGE": "merged it with others",
}
_ARCHIVED = {
    Memory.DeletedWhy.REPLACED: "put another in its place",
    Memory.DeletedWhy.MERGED: "merged it into another",
}
_FILED = {"expires_at": "how long it is kept"}


def make_memory_history(principal: Principal, memory: Memory) -> list[Entry]:
    """The latest entries about a memory that the person may see, newest first."""
    log = Change.objects.of_owner(memory.user_id).filter(object_type="memory", object_id=memory.pk)
    changes = list(log.order_by("-rev")[:MOST_ENTRIES])
    rows = MemoryVersion.objects.visible_to(principal).filter(memory=memory).order_by("-number")[: MOST_ENTRIES + 1]
    wordings = {each.number: each for each in rows.only("number", "content", "recorded_from_rev")}
    agents = agent_names(changes)
    held = memory.state_reason if memory.state == Memory.State.REJECTED else ""
    reasons = stated_reasons(changes, held)
    return [_entry(change, memory, wordings, agents, reasons.get(change.rev, "")) for change in changes]


def _entry(
    change: Change, memory: Memory, wordings: Mapping[int, MemoryVersion], agents: Mapping[str, str], reason: str
) -> Entry:
    new = wordings.get(change.new_version or 0)
    worded = new is not None and new.recorded_from_rev == change.rev
    who, what = who_did(change, agents), what_happened(change, worded=worded)
    if new is None or not worded:
        return Entry(change.at, who, what, reason)
    old = wordings.get(new.number - 1, new)
    return Entry(
        change.at,
        who,
        what,
        reason,
        pieces=word_diff(old.content, new.content),
        wording=new.number,
        current=new.number == memory.version,
    )


def who_did(change: Change, agents: Mapping[str, str]) -> str:
    """Who did it; ``agents`` are their names by id."""
    if change.actor_kind == ActorKind.STAFF:
        return "A moderator"
    if change.event in {"QUARANTINE", "EVICT", "TTL"}:
        return "Keepsake"  # A gate or the budget did, whosever words they are.
    if change.actor_kind == ActorKind.PERSON:
        return "You"
    return agents.get(change.actor_id, "An agent") if change.actor_kind == ActorKind.AGENT else "Keepsake"


def what_happened(change: Change, *, worded: bool) -> str:
    """What was done to a memory; ``worded`` says that it got another wording by it."""
    tell = _TOLD.get(change.event)
    if change.event == "APPROVE":
        return "approved it in other words" if worded else "approved it"
    return tell(change) if tell else _SAID.get(change.event, change.get_event_display().lower())


def _added(change: Change) -> str:
    found = change.actor_kind == ActorKind.JOB and change.conversation_id is not None
    return "found it in what you said" if found else "wrote it down"


def _updated(change: Change) -> str:
    if "reverted_to" in change.meta:
        return f"brought wording {change.meta['reverted_to']} back"
    if "changed" in change.meta:
        return f"filed it otherwise: {', '.join(_FILED.get(name, name) for name in change.meta['changed'])}"
    return "reworded it"


def _restored(change: Change) -> str:
    if change.meta.get("undo"):
        return "took the last decision back"
    if change.actor_kind == ActorKind.STAFF:
        return "let it count again"
    if change.meta.get("held_back"):
        return "restored it, to be held back as before"
    return "put it back to be reviewed" if change.meta.get("waits") else "restored it"


_TOLD: dict[str, Callable[[Change], str]] = {
    "ADD": _added,
    "UPDATE": _updated,
    "DELETE": lambda change: _ARCHIVED.get(change.meta.get("why", ""), "archived it"),
    "PIN": lambda change: "pinned it" if change.meta.get("pinned") else "unpinned it",
    "LINK": lambda change: "found it said again" if "evidence" in change.meta else "related it to another",
    "RESTORE": _restored,
}

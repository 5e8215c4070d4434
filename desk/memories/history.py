"""What happened to a memory, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accounts.principals import Principal
from journal.models import ActorKind, Change
from memories.models import Memory, MemoryVersion

from ..cards import diff_of_memories
from ..diff import Piece
from ..history import Entry, make_history, who_did

_SAID = {
    "PROPOSE": "proposed it",
    "REJECT": "rejected it",
    "QUARANTINE": "held it back",
    "TTL": "archived it when it expired",
    "EVICT": "archived it to make room for newer ones",
    "OPEN": "opened it",
    "MERGE": "merged it with others",
}
_ARCHIVED = {
    Memory.DeletedWhy.REPLACED: "replaced it by another",
    Memory.DeletedWhy.MERGED: "merged it into another",
}
_FIELDS = {"expires_at": "how long it is kept"}


def make_memory_history(principal: Principal, memory: Memory) -> list[Entry]:
    """The latest entries about a memory that the person may see, newest first."""

    def tell(
        change: Change, agents: Mapping[str, str], old: MemoryVersion | None, new: MemoryVersion | None
    ) -> tuple[str, str]:
        return who_did(change, agents, memory.user_id), what_happened(change, worded=new is not None)

    versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory)
    versions = versions.only("number", "content", "recorded_from_rev")
    return list(make_history(memory, "memory", versions, tell, _compare))


def _compare(old: MemoryVersion, new: MemoryVersion) -> tuple[list[Piece], str]:
    return diff_of_memories(old.content, new.content), ""


def what_happened(change: Change, *, worded: bool) -> str:
    """What was done to a memory; ``worded`` says that it got another wording by it."""
    tell = _TOLD.get(change.event)
    if change.event == "APPROVE":
        return "approved it in other words" if worded else "approved it"
    return tell(change) if tell else _SAID.get(change.event, change.get_event_display().lower())


def _added(change: Change) -> str:
    found = change.actor_kind == ActorKind.JOB and change.conversation_id is not None
    return "found it in what you said" if found else "added it"


def _updated(change: Change) -> str:
    if "reverted_to" in change.meta:
        return f"restored wording {change.meta['reverted_to']}"
    if "changed" in change.meta:
        return f"changed {', '.join(_FIELDS.get(name, name) for name in change.meta['changed'])}"
    return "reworded it"


def _restored(change: Change) -> str:
    if change.meta.get("undo"):
        return "undid the last decision"
    if change.actor_kind == ActorKind.STAFF:
        return "let it be used again"
    if change.meta.get("held_back"):
        return "restored it, held back as before"
    return "put it back for review" if change.meta.get("waits") else "restored it"


_TOLD: dict[str, Callable[[Change], str]] = {
    "ADD": _added,
    "UPDATE": _updated,
    "DELETE": lambda change: _ARCHIVED.get(change.meta.get("why", ""), "archived it"),
    "PIN": lambda change: "pinned it" if change.meta.get("pinned") else "unpinned it",
    "LINK": lambda change: "found it said again" if "evidence" in change.meta else "related it to another",
    "RESTORE": _restored,
}

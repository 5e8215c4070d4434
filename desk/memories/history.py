"""The history of a memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from journal.models import ActorKind, Change
from memories.models import Memory, MemoryVersion

from ..cards import diff_of_memories
from ..diff import DiffPiece
from ..history import Entry, make_history, who_did

_SAID = {
    "PROPOSE": gettext_noop("proposed it"),
    "REJECT": gettext_noop("rejected it"),
    "QUARANTINE": gettext_noop("held it back"),
    "EVICT": gettext_noop("put it away to make room for newer ones"),
    "OPEN": gettext_noop("opened it"),
    "DELETE": gettext_noop("put it away"),
    "DOUBT": gettext_noop("asked whether it still holds"),
}
_ARCHIVED = {
    Memory.DeletedWhy.REPLACED: gettext_noop("replaced it by another"),
    Memory.DeletedWhy.MERGED: gettext_noop("merged it into another"),
}
_FIELDS = {
    "expires_at": gettext_noop("how long it is kept"),
    "category": gettext_noop("category"),
    "subject": gettext_noop("subject"),
    "topics": gettext_noop("topics"),
    "importance": gettext_noop("importance"),
    "metadata": gettext_noop("metadata"),
    "field": gettext_noop("field"),
    "kind": gettext_noop("kind"),
}


def make_memory_history(principal: Principal, memory: Memory) -> list[Entry]:
    """Return the latest entries of a visible memory, newest first."""

    def tell(
        change: Change, agents: Mapping[str, str], old: MemoryVersion | None, new: MemoryVersion | None
    ) -> tuple[str, str]:
        return who_did(change, agents, memory.user_id), what_happened(change, worded=new is not None)

    versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory)
    versions = versions.only("number", "content", "recorded_from_rev")
    return list(make_history(memory, "memory", versions, tell, _compare))


def _compare(old: MemoryVersion, new: MemoryVersion) -> tuple[list[DiffPiece], str]:
    return diff_of_memories(old.content, new.content), ""


def what_happened(change: Change, *, worded: bool) -> str:
    """Describe a change of a memory; ``worded``: with a new wording."""
    tell = _TOLD.get(change.event)
    if change.event == "APPROVE":
        return _("approved it in other words") if worded else _("approved it")
    if tell:
        return tell(change)
    said = _SAID.get(change.event)
    return _(said) if said else change.get_event_display().lower()


def _expired(change: Change) -> str:
    return _("put it away, as nobody used it") if "unused" in change.meta else _("put it away when it expired")


def _merged(change: Change) -> str:
    return _("merged others into it") if "sources" in change.meta else _("merged it with others")


def _added(change: Change) -> str:
    found = change.actor_kind == ActorKind.JOB and change.conversation_id is not None
    return _("found it in what you said") if found else _("added it")


def _updated(change: Change) -> str:
    if "reverted_to" in change.meta:
        return _("restored wording %(reverted_to)s") % {"reverted_to": change.meta["reverted_to"]}
    if "changed" in change.meta:
        return _("changed %(value)s") % {
            "value": ", ".join(_(_FIELDS.get(name, name)) for name in change.meta["changed"])
        }
    return _("reworded it")


def _restored(change: Change) -> str:
    if change.meta.get("undo"):
        return _("undid the last decision")
    if change.actor_kind == ActorKind.STAFF:
        return _("let it be used again")
    if change.meta.get("held_back"):
        return _("restored it, held back as before")
    return _("put it back for review") if change.meta.get("waits") else _("restored it")


_TOLD: dict[str, Callable[[Change], str]] = {
    "ADD": _added,
    "UPDATE": _updated,
    "DELETE": lambda change: _(_ARCHIVED.get(change.meta.get("why", ""), _SAID["DELETE"])),
    "PIN": lambda change: _("pinned it") if change.meta.get("pinned") else _("unpinned it"),
    "LINK": lambda change: _("found it said again") if "evidence" in change.meta else _("related it to another"),
    "RESTORE": _restored,
    "TTL": _expired,
    "MERGE": _merged,
}

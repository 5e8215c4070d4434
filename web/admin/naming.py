"""What the logs are about and who did it, by name: they hold ids alone. And how they colour what happened."""

from __future__ import annotations

from collections.abc import Sequence

from django.apps import apps
from django.utils.safestring import SafeString
from django.utils.text import capfirst

from journal.models import ActorKind, Change

from .base import as_uuid, link_to, short

EVENT_COLOURS = {
    "ADD": "success",
    "APPROVE": "success",
    "SHARE": "info",
    "RESTORE": "info",
    "REJECT": "warning",
    "HIDE": "danger",
    "QUARANTINE": "danger",
    "OPEN": "warning",
    "PURGE": "danger",
    "ERASE": "danger",
}

_ACTORS: dict[str, tuple[str, str]] = {
    ActorKind.PERSON: ("accounts.User", "username"),
    ActorKind.STAFF: ("accounts.User", "username"),
    ActorKind.AGENT: ("accounts.Agent", "name"),
}
"""Who does things under an id, by its kind: the table, and the column of the name."""

_OBJECTS = {
    "agent": "accounts.Agent",
    "chunk": "conversations.ConversationChunk",
    "conversation": "conversations.Conversation",
    "fact": "facts.LegacyFact",
    "legacy": "accounts.Legacy",
    "memory": "memories.Memory",
    "message": "conversations.Message",
    "place": "memories.Place",
    "proposal": "memories.Proposal",
    "user": "accounts.User",
}
"""What the logs call a sort of thing, and the table whose page shows one."""


def name_actors(changes: Sequence[Change]) -> None:
    """Note who did each, in a statement for each kind of actor."""
    for kind, (label, column) in _ACTORS.items():
        theirs = [each for each in changes if each.actor_kind == kind and as_uuid(each.actor_id)]
        rows = apps.get_model(label)._default_manager.filter(pk__in={each.actor_id for each in theirs})
        names = {str(pk): name for pk, name in rows.values_list("pk", column)} if theirs else {}
        for each in theirs:
            each.actor_name = names.get(each.actor_id, "")  # type: ignore[attr-defined]


def link_to_actor(change: Change) -> SafeString | str:
    """Who did it, as noted; the beginning of the id of whom there is no more."""
    name = getattr(change, "actor_name", "")
    if not name:
        return short(change.actor_id)
    return link_to(apps.get_model(_ACTORS[change.actor_kind][0]), change.actor_id, name)


def link_to_object(sort: str, pk: str | None) -> SafeString | str:
    """The page of what a log is about, named by its sort; the beginning of the id where there is no such page."""
    if pk and sort in _OBJECTS:
        return link_to(apps.get_model(_OBJECTS[sort]), pk, capfirst(sort))
    return f"{sort} {short(pk or '-')}".strip()

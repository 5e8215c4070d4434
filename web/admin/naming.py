"""Names and links for the actors and objects of log entries, which hold only ids; colours of events."""

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
"""The model and the name's column of each kind of actor."""

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
"""The model of each object type of the logs."""


def name_actors(changes: Sequence[Change]) -> None:
    """Set ``actor_name`` of each change, in one statement for each kind of actor."""
    for kind, (label, column) in _ACTORS.items():
        theirs = [each for each in changes if each.actor_kind == kind and as_uuid(each.actor_id)]
        rows = apps.get_model(label)._default_manager.filter(pk__in={each.actor_id for each in theirs})
        names = {str(pk): name for pk, name in rows.values_list("pk", column)} if theirs else {}
        for each in theirs:
            each.actor_name = names.get(each.actor_id, "")  # type: ignore[attr-defined]


def link_to_actor(change: Change) -> SafeString | str:
    """Return a link to the actor set by ``name_actors``; the shortened id if the actor was deleted."""
    name = getattr(change, "actor_name", "")
    if not name:
        return short(change.actor_id)
    return link_to(apps.get_model(_ACTORS[change.actor_kind][0]), change.actor_id, name)


def link_to_object(sort: str, pk: str | None) -> SafeString | str:
    """Return a link to an object's page, labelled by its type; the shortened id if there is no such page."""
    if pk and sort in _OBJECTS:
        return link_to(apps.get_model(_OBJECTS[sort]), pk, capfirst(sort))
    return f"{sort} {short(pk or '-')}".strip()

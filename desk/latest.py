"""What changed last in a person's memory and among their places, newest first, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse

from accounts.principals import Principal
from journal.models import Change
from memories.models import Memory, Place

from .histories import agent_names
from .memory_histories import what_happened, who_did

MOST = 6
LOOKED_AT = 200
"""How many of the person's last revisions are looked through: what changed long ago is no news."""

_UNTOLD = ("LINK", "MENTION", "OPEN")
_OF_PLACES = {"ADD": "added it", "UPDATE": "changed it", "DELETE": "removed it", "RESTORE": "restored it"}


@dataclass(frozen=True, slots=True)
class Latest:
    """Who did what to a memory or a place, which says ``content`` now and is shown at ``address``."""

    at: datetime
    who: str
    what: str
    content: str
    address: str


def latest_changes(principal: Principal) -> list[Latest]:
    """The last change of each of the few memories and places that changed last and that are still there."""
    user_id = principal.user_id
    if user_id is None:
        return []
    log = Change.objects.of_owner(user_id).filter(rev__gt=principal.rev - LOOKED_AT)
    told = log.filter(object_type__in=["memory", "place"]).exclude(event__in=_UNTOLD)
    last: dict[tuple[str, str], Change] = {}
    for change in told.order_by("-rev"):
        last.setdefault((change.object_type, change.object_id), change)
    shown = _shown(principal, list(last)[: 2 * MOST])
    found = [(change, *shown[key]) for key, change in last.items() if key in shown][:MOST]
    agents = agent_names([change for change, _, _ in found])
    return [
        Latest(change.at, who_did(change, agents), _what(change), content, address)
        for change, content, address in found
    ]


def _what(change: Change) -> str:
    if change.object_type == "place":
        return _OF_PLACES.get(change.event, change.get_event_display().lower())
    worded = change.event in {"UPDATE", "APPROVE"} and change.old_version != change.new_version
    return what_happened(change, worded=worded and change.old_version is not None)


def _shown(principal: Principal, keys: list[tuple[str, str]]) -> Mapping[tuple[str, str], tuple[str, str]]:
    """What memories and places say, and where they are shown."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    memories = [pk for kind, pk in keys if kind == "memory"]
    rows = Memory.objects.visible_to(principal).filter(pk__in=memories).values_list("pk", "content")
    found |= {("memory", pk): (content, reverse("memory-page", args=[pk])) for pk, content in rows}
    places = [UUID(pk) for kind, pk in keys if kind == "place"]
    named = Place.objects.visible_to(principal).filter(pk__in=places).values_list("pk", "name")
    return found | {("place", str(pk)): (name, reverse("place-page", args=[pk])) for pk, name in named}

"""What can be erased, what would go with it, and what else says the same. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.models import Agent, Legacy, Member
from accounts.policy import must_decide, must_decide_for_all, sees_everything
from accounts.principals import Principal
from accounts.queries import principal_for_person
from conversations.echoes import Repetition, conversation_said_again, message_said_again
from conversations.models import Conversation, ConversationImport, Message
from conversations.querysets import OPEN_IMPORTS
from facts import queries as facts
from facts.models import LegacyFact
from journal.exceptions import Conflict, NotFound, Refused
from journal.models import Erasure
from memories import queries as memories
from memories.models import Memory, Place

from .extent import COUNTED, SCOPES, Extent, extent_of

WHOLE = frozenset({"everything", "membership"})
"""Scopes that an agent which sees a part only does not decide about."""
_ERASABLE: Mapping[str, Callable[[Principal], QuerySet[Any]]] = {
    "memory": Memory.objects.visible_to,
    "fact": LegacyFact.objects.mine,
    "place": Place.objects.visible_to,
    "message": Message.objects.visible_to,
    "conversation": Conversation.objects.visible_to,
    "import": ConversationImport.objects.visible_to,
    "membership": Legacy.objects.visible_to,
}
"""What the person may erase, by scope."""
_SAID_AGAIN: Mapping[str, Callable[[Principal, UUID], list[Repetition]]] = {
    "fact": partial(facts.also_said, archived=True),
    "place": memories.place_said_again,
    "message": message_said_again,
    "conversation": conversation_said_again,
}


def must_erase(principal: Principal, scope: str) -> tuple[UUID, Principal]:
    """Return the person's id, and as whom to look for what is erased. Raises NotYoursToDecide."""
    user_id = must_decide_for_all(principal) if scope in WHOLE else must_decide(principal)
    # Whoever sees everything decides for the person, also about private conversations with other agents.
    for_all = principal.kind == "agent" and sees_everything(principal)
    return user_id, principal_for_person(user_id) if for_all else principal


def check_erasable(principal: Principal, user_id: UUID, scope: str, object_id: str) -> None:
    """Raise as ``erasure_request`` does."""
    if scope not in SCOPES:
        raise Refused(_("The scope is one of %(scopes)s.") % {"scopes": ", ".join(SCOPES)}, code="bad_scope")
    if scope == "everything":
        if Agent.objects.filter(owner_id=user_id, kind=Agent.Kind.SERVICE).exists():
            raise Conflict(_("Agents that serve other people are yours. Hand them over first."), code="owns_services")
        return
    try:
        is_there = _named(principal, scope, object_id).exists()
    except ValueError:  # Not a valid id.
        is_there = False
    if not is_there:
        raise NotFound(f"There is no such {scope}.")
    if scope == "import" and _named(principal, scope, object_id).filter(state__in=[*OPEN_IMPORTS, "storing"]).exists():
        raise Conflict(_("This import has not ended. Cancel it first."), code="import_open")
    if scope == "membership":
        others = Member.objects.filter(legacy_id=UUID(object_id)).exclude(user_id=user_id)
        if others.exists() and not others.filter(role=Member.Role.OWNER).exists():
            raise Conflict(_("You are the last owner. Hand this legacy over first."), code="last_owner")


def _named(principal: Principal, scope: str, object_id: str) -> QuerySet[Any]:
    """Return the object of an erasure. Raises ValueError."""
    return _ERASABLE[scope](principal).filter(pk=object_id if scope == "memory" else UUID(object_id))


def said_again(principal: Principal, scope: str, object_id: str) -> list[Repetition]:
    """Return what else says the same as a memory, fact, message, conversation or place's notes.

    Archived and rejected memories and facts count: they are stored, and an erasure leaves nothing stored unoffered.
    """
    if scope == "memory":
        return memories.also_said(principal, object_id, archived=True)
    find = _SAID_AGAIN.get(scope)
    try:
        return find(principal, UUID(object_id)) if find else []
    except ValueError as error:
        raise NotFound(f"There is no such {scope}.") from error


@dataclass(frozen=True, slots=True)
class ErasurePreview:
    """What an erasure would include, and what else says the same and stays unless it is chosen."""

    extent: Extent
    also: list[Repetition]

    @classmethod
    def of(
        cls, principal: Principal, user_id: UUID, scope: str, object_id: str, *, elsewhere: bool = True
    ) -> ErasurePreview:
        """Read it. The object exists. ``elsewhere``: also what else says the same."""
        extent = extent_of(Erasure(user_id=user_id, scope=scope, object_id=object_id))
        found = said_again(principal, scope, object_id) if elsewhere else []
        return cls(extent, [each for each in found if not _is_in(extent, each)])

    @property
    def counts(self) -> dict[str, int]:
        """How many rows of each kind it includes, by the names of ``Extent``."""
        counts = {name: len(getattr(self.extent, name)) for name in COUNTED}
        counts["wordings"] = len(self.extent.alike) + len(self.extent.fact_versions)
        return {name: count for name, count in counts.items() if count}


def erasure_preview(principal: Principal, scope: str, object_id: str) -> ErasurePreview:
    """Return what an erasure would include. Raises like ``erasure_request``."""
    user_id, whose = must_erase(principal, scope)
    check_erasable(whose, user_id, scope, object_id)
    return ErasurePreview.of(whose, user_id, scope, object_id)


def _is_in(extent: Extent, said: Repetition) -> bool:
    ids: dict[str, Collection[Any]] = {
        "message": extent.messages,
        "title": extent.conversations,
        "memory": extent.memories,
        "fact": extent.facts,
        "place": extent.places,
    }
    return said.object_id in {str(pk) for pk in ids[said.object_type]}

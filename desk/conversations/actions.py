"""Withholding or erasing a message or a conversation: preview and execution."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.policy import must_act_for
from accounts.principals import Principal
from assistant.erasure.actions import erasure_request
from assistant.erasure.extent import Extent
from assistant.erasure.hiding import MOST_WITHHELD, keep_words_back
from conversations.models import Conversation, ConversationChunk, Message
from facts.models import LegacyFact
from journal.models import Erasure
from memories.models import Memory, Place
from statements.policy.naming import in_second_person

from ..cards import Link
from ..outcomes import Done

NAMED = 12


@dataclass(frozen=True, slots=True)
class Removal:
    """What to withhold or erase: a conversation, or one message."""

    conversation: Conversation
    message: Message | None = None

    @property
    def scope(self) -> str:
        """The scope of its erasure."""
        return "message" if self.message else "conversation"

    @property
    def object_id(self) -> UUID:
        """The id for its erasure."""
        return self.message.pk if self.message else self.conversation.pk

    @property
    def is_too_long(self) -> bool:
        """Whether it is a conversation too long to withhold at once."""
        return self.message is None and self.conversation.message_count > MOST_WITHHELD

    @property
    def can_be_withheld(self) -> bool:
        """Whether it can be withheld at once, and is not yet."""
        return not self.is_too_long and not (self.message and self.message.declined)


@dataclass(frozen=True, slots=True)
class AlsoErased:
    """What is erased with it: memories, facts and places without other evidence, and summaries."""

    memories: Sequence[Link]
    facts: Sequence[Link]
    places: Sequence[Link]
    more: int
    summaries: int

    def __bool__(self) -> bool:
        return bool(self.memories or self.facts or self.places or self.summaries)


def summaries_with(removal: Removal) -> int:
    """Return the number of summaries that an erasure of it reaches."""
    chunks = ConversationChunk.objects.filter(conversation=removal.conversation)
    if removal.message:
        index = removal.message.index
        chunks = chunks.filter(message_range_start__lte=index, message_range_end__gt=index)
    return chunks.count()


def also_erased(principal: Principal, extent: Extent, object_id: str, *, summaries: int = 0) -> AlsoErased:
    """Name what an erasure includes beside its object, in a constant number of statements."""
    # Without the object itself.
    with_memories = {pk for pk in extent.memories if pk != object_id}
    with_facts = {pk for pk in extent.facts if str(pk) != object_id}
    memories = Memory.objects.visible_to(principal).filter(pk__in=with_memories, state__in=["active", "proposed"])
    facts = LegacyFact.objects.mine(principal).filter(pk__in=with_facts, state__in=["active", "proposed"])
    places = Place.objects.visible_to(principal).present().filter(pk__in=extent.places)
    named = (
        [
            Link(reverse("memory-page", args=[pk]), in_second_person(content))
            for pk, content in memories.order_by("created_at", "pk").values_list("pk", "content")
        ],
        [
            Link(reverse("fact-page", args=[pk]), content)
            for pk, content in facts.order_by("extracted_at", "pk").values_list("pk", "content")
        ],
        [
            Link(reverse("place-page", args=[pk]), name)
            for pk, name in places.order_by("name", "pk").values_list("pk", "name")
        ],
    )
    more = sum(max(0, len(links) - NAMED) for links in named)
    said, told, cared_about = (links[:NAMED] for links in named)
    return AlsoErased(said, told, cared_about, more, summaries)


def waiting_erasure(principal: Principal, scope: str, object_id: object) -> Erasure | None:
    """Return the waiting erasure of an object, which can be cancelled."""
    rows = Erasure.objects.waiting(scope).filter(user_id=must_act_for(principal))
    return rows.filter(object_id=str(object_id)).first()


def dont_keep(principal: Principal, removal: Removal) -> Done:
    """Withhold it, and archive unreviewed statements learned from it.

    Raises as ``keep_words_back``.
    """
    keep_words_back(principal, removal.conversation.pk, removal.message.index if removal.message else None)
    if removal.message:
        told = _("The message is withheld: nobody is shown it, and nothing is learned from it.")
    else:
        told = _("The conversation is withheld: nobody is shown it, and nothing is learned from it.")
    return Done(_("Not kept"), told)


def erase(principal: Principal, removal: Removal, *, at_once: bool, also: Collection[str]) -> UUID:
    """Request its erasure, after a day or at once. Returns the receipt. ``also`` and errors as ``erasure_request``."""
    hours = 0 if at_once else settings.ERASE_GRACE_HOURS
    scope, object_id = removal.scope, str(removal.object_id)
    erasure, _made = erasure_request(principal, scope, object_id, grace_hours=hours, also=also)
    return erasure.pk

"""Reads behind the writing of memories: the same words, the same subject, the nearest neighbours, where it was said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Left

from accounts.policy import must_act_for
from accounts.principals import Principal
from conversations.models import Conversation, Message
from journal.exceptions import NotAllowed, NotFound
from journal.models import Ledger
from retrieval.search import nearest

from .models import Memory
from .policy import fingerprints, writing
from .policy.bands import Neighbour
from .querysets import MemoryQuerySet
from .records import QUOTE_CHARACTERS, Said
from .wording import Embedded


@dataclass(frozen=True, slots=True)
class Source:
    """Where something was said: the conversation, and the message with the words that are kept as evidence."""

    conversation_id: UUID | None = None
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class BlockFill:
    """How much of its budget the memory block of a person takes, in tokens. ``off``: no prompt carries it for now."""

    tokens: int
    budget: int
    off: bool = False

    @property
    def nearly_full(self) -> int:
        """From how many tokens on little is left."""
        return self.budget * 9 // 10


def block_fill(principal: Principal) -> BlockFill:
    """How full the memory block of the person is. Raises NotFound for a principal that acts for nobody."""
    user_id = must_act_for(principal)
    tokens = Ledger.objects.values_list("block_tokens", flat=True).get(pk=user_id)
    return BlockFill(tokens, settings.MEMORY_BLOCK_TOKENS, off=not principal.has_memory)


def read_source(principal: Principal, conversation_id: UUID | None, message_id: UUID | None) -> Source:
    """The conversation and the message that a caller names.

    Raises NotFound when they are not the person's or not together, NotAllowed (403 ``memory_off``) when an agent would
    remember something out of a private conversation.
    """
    said: tuple[Said, ...] = ()
    if message_id is None:
        if conversation_id is None:
            return Source()
        conversation = Conversation.objects.visible_to(principal).must_find(conversation_id)
        place, private = conversation.pk, conversation.private
    else:
        messages = Message.objects.visible_to(principal).filter(pk=message_id)
        if conversation_id is not None:
            messages = messages.filter(conversation_id=conversation_id)
        quoted = messages.annotate(quote=Left("content", QUOTE_CHARACTERS))
        row = quoted.values_list("conversation_id", "private", "quote").first()
        if row is None:
            raise NotFound("There is no such message.")
        place, private, quote = row
        said = (Said(message_id, quote),)
    if private and not writing.speaks_as_person(principal):
        raise NotAllowed("Nothing is remembered out of a private conversation.", code="memory_off")
    return Source(place, said)


def kind_of(rows: MemoryQuerySet, memory_id: str) -> str:
    """The kind of a memory, which never changes. Raises NotFound when it is not among the rows."""
    kind = rows.filter(pk=memory_id).values_list("kind", flat=True).first()
    if kind is None:
        raise NotFound("There is no such memory.")
    return kind


def same_words(principal: Principal, user_id: UUID, kind: str, content: str, subject: str) -> Memory | None:
    """The present memory with the same words about the same subject, whatever case, accents and punctuation.

    Among those that the principal sees; an active one before one that waits, then the oldest.
    """
    rows = Memory.objects.visible_to(principal).present().filter(user_id=user_id, kind=kind)
    rows = rows.filter(fingerprint__in=fingerprints(user_id, content))
    found = [memory for memory in rows.without_vectors() if not writing.are_apart(memory.subject, subject)]
    return min(found, key=lambda memory: (memory.state != "active", memory.created_at), default=None)


def same_subject(principal: Principal, category: str, subject: str) -> Memory | None:
    """The latest active memory of the category about the same subject, among those that the principal sees."""
    key = writing.subject_key(subject)
    if not key:
        return None
    rows = Memory.objects.visible_to(principal).active().filter(category=category, search_text__startswith=key)
    rows = rows.exclude(subject="").order_by("-updated_at", "pk")
    return next((memory for memory in rows.without_vectors() if writing.subject_key(memory.subject) == key), None)


def neighbours(
    principal: Principal,
    user_id: UUID,
    text: Embedded,
    *,
    kind: str,
    subject: str,
    but: str = "",
) -> list[Neighbour]:
    """The person's present memories of a kind that are nearest to a text, nearest first; exact.

    At most ``MEMORY_NEIGHBOURS``, all at least ``MEMORY_LINK_MIN_SIMILARITY`` near; none without a vector. Those that
    the principal does not see are among them, apart and without a content.
    """
    if text.vector is None:
        return []
    rows = Memory.objects.filter(user_id=user_id, kind=kind).present()
    rows = rows.exclude(pk=but) if but else rows
    hits = nearest(
        rows, text.vector, text.embedding_model, settings.MEMORY_NEIGHBOURS, settings.MEMORY_LINK_MIN_SIMILARITY
    )
    if not hits:
        return []
    visible = Memory.objects.visible_to(principal).filter(pk__in=[hit.id for hit in hits])
    known = {pk: (content, about) for pk, content, about in visible.values_list("pk", "content", "subject")}
    found = []
    for hit in hits:
        content, about = known.get(hit.id, ("", ""))
        apart = hit.id not in known or writing.are_apart(about, subject)
        found.append(Neighbour(hit.id, content, hit.similarity or 0.0, apart))
    return found


def holder(user_id: UUID, field: str) -> Memory | None:
    """The active memory of a field that has one value at a time."""
    if not writing.single_valued(field):
        return None
    return Memory.objects.filter(user_id=user_id, field=field).active().without_vectors().first()


def taken_external_id(user_id: UUID, agent_id: UUID | None, external_id: str) -> Memory | None:
    """The memory, in any state, that a client has under its own id already."""
    if not external_id:
        return None
    rows = Memory.objects.filter(user_id=user_id, external_id=external_id)
    rows = rows.filter(agent_id=agent_id) if agent_id else rows.filter(agent__isnull=True)
    return rows.without_vectors().first()


def in_the_way(principal: Principal, memory: Memory) -> dict[str, Any]:
    """What a refusal tells of a memory that stands in the way: ``memory`` in brief, nothing of one that is hidden."""
    seen = Memory.objects.visible_to(principal).filter(pk=memory.pk).exists()
    return {"memory": writing.brief(memory)} if seen else {}

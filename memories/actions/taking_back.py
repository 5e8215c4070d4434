"""Taking back what was learned from messages that go, or that the person does not want remembered."""

from __future__ import annotations

from uuid import UUID

from django.utils import timezone

from conversations.models import Conversation, Message
from conversations.querysets import MessageQuerySet
from journal.actions import LedgerWrite
from journal.models import ActorKind
from statements.actions import erase

from ..models import MEMORY, Memory, MemoryEvidence, MemoryVersion, Proposal
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet
from .moving import put_away
from .proposing import end, log_proposal
from .single import memory_changing


def memories_take_back(write: LedgerWrite, conversation: Conversation) -> tuple[int, int]:
    """Remove what was learned from a conversation alone, inside the transaction that removes the conversation.

    The caller holds the person's ledger. What the person has reviewed or reworded stays, and so does what was said
    elsewhere as well. No suppression is left: the same may be learned again. Returns how many memories were removed,
    and how many that were found there stay.
    """
    said = Message.objects.filter(conversation=conversation)
    memories = list(_learned_from(conversation.user_id, said).without_vectors().order_by("pk"))
    for proposal in Proposal.objects.waiting().filter(source_conversation=conversation, agent__isnull=True):
        if proposal.kind != Proposal.Kind.CREATE:
            end(proposal, Proposal.State.LAPSED, timezone.now())
            log_proposal(write, "LAPSE", proposal)
    found = Memory.objects.filter(user_id=conversation.user_id, versions__evidence__message__in=said)
    stay = found.distinct().count() - len(memories)
    for memory in memories:
        if memory.state == State.ACTIVE:
            with memory_changing(write, memory) as change:
                change.leave(State.QUARANTINED)  # So that the person's counts are right; the row goes at once.
        write.change(conversation.user_id, "PURGE", "memory", memory.pk, old_version=memory.version)
    erase(MEMORY, [memory.pk for memory in memories])
    return len(memories), stay


def memories_decline(write: LedgerWrite, message: Message) -> list[str]:
    """Put away what was learned from a message alone that the person does not want remembered. Returns the ids.

    The caller holds the person's ledger. Suppressions keep it from being learned again.
    """
    said = Message.objects.filter(pk=message.pk)
    declined = []
    for memory in _learned_from(message.user_id, said).without_vectors():
        with memory_changing(write, memory) as change:
            put_away(change, Why.PERSON, conversation_id=message.conversation_id)
        declined.append(memory.pk)
    return declined


def _learned_from(user_id: UUID, said: MessageQuerySet) -> MemoryQuerySet:
    """A person's memories that only these messages bear out, that a job worded and that nobody has looked at."""
    own = Memory.objects.filter(user_id=user_id)
    borne_out = MemoryEvidence.objects.filter(version__user_id=user_id)
    elsewhere = borne_out.exclude(message__in=said).values("version__memory")
    by_others = MemoryVersion.objects.filter(user_id=user_id).exclude(actor_kind=ActorKind.JOB).values("memory")
    return (
        own.filter(reviewed_at__isnull=True, pinned=False)
        .filter(state__in=[State.PROPOSED, State.ACTIVE, State.QUARANTINED])
        .filter(pk__in=borne_out.filter(message__in=said).values("version__memory"))
        .exclude(pk__in=elsewhere)
        .exclude(pk__in=by_others)
    )

"""Noting what an answer has shown, after it was given: who saw which memories, and that they were of use."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.models import Agent, User
from accounts.principals import Principal
from conversations.models import Conversation
from journal.actions import enqueue, note_operation
from journal.models import OperationEvent

from ..models import Disclosure
from .uses import memories_used, memories_used_today

TASK = "memories.note_shown"
NODE = "context"
OPERATIONS = {
    Disclosure.By.QUERY: "search",
    Disclosure.By.CONTEXT: "block",
    Disclosure.By.TURN: "turn",
}


def memories_show(
    principal: Principal,
    by: str,
    ids: Sequence[str],
    *,
    recalled: Sequence[str] = (),
    conversation_id: UUID | None = None,
) -> None:
    """Have it noted, in the background, that an answer held these memories; ``recalled`` ones were looked for.

    With the broker away it is noted at once: the person is told of every memory that an agent saw.
    """
    agent_id = principal.agent_id if principal.kind == "agent" else None
    values = (
        str(principal.user_id),
        str(agent_id or ""),
        str(conversation_id or ""),
        str(by),
        timezone.now().isoformat(),
        ",".join(ids),
        ",".join(recalled),
    )
    enqueue(TASK, *values, otherwise=partial(memories_note_shown, *values))


def memories_note_shown(*values: str) -> None:
    """Write who was shown what, count uses, and log the operation. ``values`` are those that ``memories_show`` sent.

    What is gone meanwhile is left out; an answer without memories discloses nothing. A memory that was looked for is
    used, one in the block once a day at most.
    """
    user_id, agent_id, conversation_id, by, at, ids, recalled = values
    moment = datetime.fromisoformat(at)
    found = recalled.split(",") if recalled else []
    block = [memory_id for memory_id in ids.split(",") if memory_id and memory_id not in set(found)]
    shown = [*block, *found]
    agent = Agent.objects.filter(pk=agent_id).first() if agent_id else None
    conversation = Conversation.objects.filter(pk=conversation_id).first() if conversation_id else None
    if agent and shown and User.objects.filter(pk=user_id).exists():
        Disclosure.objects.create(
            user_id=UUID(user_id), agent=agent, conversation=conversation, by=by, memories=shown, at=moment
        )
    memories_used(found, moment)
    memories_used_today(block, moment)
    status = OperationEvent.Status.OK if shown else OperationEvent.Status.SKIPPED
    note_operation(NODE, OPERATIONS[Disclosure.By(by)], status, user_id=UUID(user_id), thread_id=conversation_id)


def disclosures_trim() -> int:
    """Delete what is older than operations are kept. Returns how many rows."""
    long_ago = timezone.now() - timedelta(days=settings.OPERATION_EVENT_DAYS)
    deleted, _ = Disclosure.objects.filter(at__lt=long_ago).delete()
    return deleted

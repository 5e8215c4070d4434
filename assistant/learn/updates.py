"""Events about updates of a person's memory, for subscribers of a conversation.

Valkey keeps the events for some minutes, so late subscribers miss none. They contain counts, no text. Without Valkey
they are only logged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from redis.exceptions import RedisError

from conversations.models import Conversation
from journal.operation_actions import note_operation
from web.streaming import FIRST_ID, StreamEvent, events_after, publish_event, valkey_client

log = structlog.get_logger(__name__)

STARTED, COMPLETED = "memory_update_started", "memory_update_completed"


@contextmanager
def telling(conversation: Conversation, messages: int) -> Iterator[Counter[str]]:
    """Publish the start of an extraction from ``messages`` messages, and its result at exit.

    Fill the yielded counts, named as in the operation log. Enter it outside any transaction.
    """
    _tell(conversation, STARTED, {"messages": messages})
    note_operation("extract", "update_started", user_id=conversation.user_id, thread_id=conversation.pk)
    counts: Counter[str] = Counter()
    try:
        yield counts
    except BaseException:
        _tell(conversation, COMPLETED, {"ok": False})
        raise
    note_operation("extract", "update_completed", user_id=conversation.user_id, thread_id=conversation.pk)
    _tell(conversation, COMPLETED, {"ok": True, **counts})


def _tell(conversation: Conversation, event: str, data: Mapping[str, int | bool]) -> None:
    log.info(event, conversation=str(conversation.pk), **data)
    transaction.on_commit(lambda: _publish(conversation.pk, event, data), robust=True)


def _publish(conversation_id: UUID, event: str, data: Mapping[str, int | bool]) -> None:
    try:
        publish_event(valkey_client().pipeline(), _key(conversation_id), event, data, settings.UPDATES_KEPT_SECONDS)
    except (RedisError, OSError) as error:
        log.warning("update_not_told", error=type(error).__name__)


def last_update(conversation_id: UUID) -> str:
    """Return the id of the latest stored update. Raises RedisError or OSError if Valkey is unavailable."""
    found: Any = valkey_client().xrevrange(_key(conversation_id), count=1)
    return found[0][0].decode() if found else FIRST_ID


def updates(conversation_id: UUID, after: str, seconds: float) -> AsyncGenerator[StreamEvent | None]:
    """Yield the events of a conversation after an update, for ``seconds``; None as a heartbeat.

    Check first that the caller may see the conversation. Raises RedisError or OSError if Valkey is unavailable.
    """
    return events_after(_key(conversation_id), after, seconds)


def _key(conversation_id: UUID) -> str:
    return f"keepsake:updates:{conversation_id}"

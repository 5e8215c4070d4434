"""Telling whoever listens to a conversation that its person's memory is being updated, and that it was.

The events go through Valkey, which keeps them for some minutes, so that who comes a moment late misses none. They hold
counts, no text. Nothing depends on them: without Valkey they are in the log alone.
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
from web.streaming import BEGINNING, Told, to_tell, told_after, valkey_client

log = structlog.get_logger(__name__)

STARTED, COMPLETED = "memory_update_started", "memory_update_completed"


@contextmanager
def telling(conversation: Conversation, messages: int) -> Iterator[Counter[str]]:
    """Tell that these many messages are being read for what to remember, and in the end what came of it.

    The counts that are yielded are told by the names of the log of operations. Enter it outside any transaction.
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
        to_tell(valkey_client().pipeline(), _key(conversation_id), event, data, settings.UPDATES_KEPT_SECONDS)
    except (RedisError, OSError) as error:
        log.warning("update_not_told", error=type(error).__name__)


def last_update(conversation_id: UUID) -> str:
    """The id of the latest update that is kept. Raises RedisError or OSError when Valkey is away."""
    found: Any = valkey_client().xrevrange(_key(conversation_id), count=1)
    return found[0][0].decode() if found else BEGINNING


def updates(conversation_id: UUID, after: str, seconds: float) -> AsyncGenerator[Told | None]:
    """What happens in a conversation after an update, as it happens, for so long; None now and then in between.

    Make sure first that the caller may see the conversation. Raises RedisError or OSError when Valkey is away, or goes.
    """
    return told_after(_key(conversation_id), after, seconds)


def _key(conversation_id: UUID) -> str:
    return f"keepsake:updates:{conversation_id}"

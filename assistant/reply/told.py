"""What replies tell, as Valkey keeps it for some minutes: under which keys, how it is stopped, and how it goes."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError

from web.streaming import take_place, valkey_client

from ..models import Reply

STOPPED, ERASED = "stopped", "erased"
"""Why a reply was ended from outside."""
PAGE_SECONDS = 5


def events_key(reply_id: UUID, attempt: int) -> str:
    """Where what an attempt at a reply tells is kept."""
    return f"keepsake:reply:{reply_id}:{attempt}"


def audience_key(reply_id: UUID) -> str:
    """Where those are counted who follow a reply."""
    return f"keepsake:reply:{reply_id}:audience"


def stop_key(reply_id: UUID, attempt: int) -> str:
    """Where it stands why an attempt at a reply is to end."""
    return f"keepsake:reply:{reply_id}:{attempt}:stop"


def longest_stream() -> float:
    """Seconds after which a reply and what is learned from the message are over."""
    return settings.REPLY_SECONDS + settings.REPLY_UPDATE_SECONDS + 10


def stop(reply: Reply, why: str) -> None:
    """Have an attempt end within a second. Raises RedisError or OSError when Valkey is away."""
    valkey_client().set(stop_key(reply.pk, reply.attempt), why, ex=round(longest_stream()))


def follow_for_now(reply_id: UUID) -> None:
    """Count somebody who looks now and again, as a page without a script does, among those who follow a reply."""
    with suppress(RedisError, OSError):  # Then it ends for want of Valkey anyway.
        take_place(audience_key(reply_id), "page", PAGE_SECONDS)


def latest_told(user_id: UUID) -> list[Reply]:
    """The replies to a person of which something may still be kept."""
    since = timezone.now() - timedelta(seconds=settings.REPLY_KEPT_SECONDS + longest_stream())
    return list(Reply.objects.filter(user_id=user_id, started_at__gte=since))


def erase_told(replies: list[Reply]) -> None:
    """Let go what is kept of replies, after what they were about was erased; those that still run end.

    Without Valkey there is nothing that anybody could read, and it goes by itself some minutes later.
    """
    with suppress(RedisError, OSError):
        for reply in replies:
            stop(reply, ERASED)
            keys = [events_key(reply.pk, attempt) for attempt in range(1, reply.attempt + 1)]
            valkey_client().unlink(*keys)

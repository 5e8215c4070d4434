"""Events of replies in Valkey: keys, stop requests, expiry."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from redis.exceptions import RedisError

from web.streaming import take_slot, valkey_client

from ..models import Reply

STOPPED, ERASED = "stopped", "erased"
"""Why a reply was ended from outside."""
CUT = "cut"
"""What is noted of a reply that is done because it used the most tokens that one may have."""
PAGE_SECONDS = 5


def events_key(reply_id: UUID, attempt: int) -> str:
    """Return the key of an attempt's events."""
    return f"keepsake:reply:{reply_id}:{attempt}"


def audience_key(reply_id: UUID) -> str:
    """Return the key of the count of a reply's clients."""
    return f"keepsake:reply:{reply_id}:audience"


def stop_key(reply_id: UUID, attempt: int) -> str:
    """Return the key of an attempt's stop request."""
    return f"keepsake:reply:{reply_id}:{attempt}:stop"


def longest_stream() -> float:
    """Return the maximum seconds of a reply with its extraction."""
    return settings.REPLY_SECONDS + settings.REPLY_UPDATE_SECONDS + 10


def stop(reply: Reply, why: str) -> None:
    """Request an attempt to stop within a second. Raises RedisError or OSError if Valkey is unavailable."""
    valkey_client().set(stop_key(reply.pk, reply.attempt), why, ex=round(longest_stream()))


def count_poll(reply_id: UUID) -> None:
    """Count a polling client, such as a page without JavaScript, as a client of a reply."""
    with suppress(RedisError, OSError):  # Without Valkey the reply ends anyway.
        take_slot(audience_key(reply_id), "page", PAGE_SECONDS)


def latest_with_events(user_id: UUID) -> list[Reply]:
    """Return a person's replies with possibly stored events."""
    since = timezone.now() - timedelta(seconds=settings.REPLY_KEPT_SECONDS + longest_stream())
    return list(Reply.objects.filter(user_id=user_id, started_at__gte=since))


def delete_events(replies: list[Reply]) -> None:
    """Delete the events of replies after an erasure, and stop running ones.

    If Valkey is down, nobody can read the events, and they expire some minutes later.
    """
    with suppress(RedisError, OSError):
        for reply in replies:
            stop(reply, ERASED)
            keys = [events_key(reply.pk, attempt) for attempt in range(1, reply.attempt + 1)]
            valkey_client().unlink(*keys)

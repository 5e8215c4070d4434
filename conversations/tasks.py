"""Celery wrappers: ids in, one action called."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings

from . import actions


@shared_task(name="conversations.index_messages")
def index_messages(conversation_id: str | None = None) -> None:
    """Give the conversation's messages their vectors; without an id those of all, for a while: the sweep goes on.

    A worker that indexed a whole history in one go would keep everybody else's messages waiting.
    """
    if conversation_id:
        actions.messages_index(UUID(conversation_id))
    else:
        actions.messages_index(seconds=settings.INDEX_SLICE_SECONDS)


@shared_task(name="conversations.erase_withheld")
def erase_withheld() -> None:
    """Erase withheld words whose days are over."""
    actions.withheld_erase()

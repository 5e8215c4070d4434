"""Celery tasks: each calls one action with ids."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task
from django.conf import settings

from . import actions


@shared_task(name="conversations.index_messages")
def index_messages(conversation_id: str | None = None) -> None:
    """Embed the messages of a conversation, or without an id of all, for at most ``INDEX_SLICE_SECONDS``.

    The limit lets other people's messages through; the next sweep continues.
    """
    if conversation_id:
        actions.messages_index(UUID(conversation_id))
    else:
        actions.messages_index(seconds=settings.INDEX_SLICE_SECONDS)


@shared_task(name="conversations.erase_withheld")
def erase_withheld() -> None:
    """Erase withheld words whose retention has ended."""
    actions.withheld_erase()

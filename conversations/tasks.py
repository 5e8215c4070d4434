"""Celery wrappers: ids in, one action called."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from . import actions


@shared_task(name="conversations.index_messages")
def index_messages(conversation_id: str | None = None) -> None:
    """Give the conversation's messages their vectors; without an id those of all conversations."""
    actions.messages_index(UUID(conversation_id) if conversation_id else None)

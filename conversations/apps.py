"""Registers the room with Django."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    """What was said: conversations, messages, chunks."""

    name = "conversations"

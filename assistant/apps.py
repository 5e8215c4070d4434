"""Registers the room with Django."""

from django.apps import AppConfig


class AssistantConfig(AppConfig):
    """The agent's side: summarise, extract, prepare the next turn."""

    name = "assistant"

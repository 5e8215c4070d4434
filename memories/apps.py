"""Registers the room with Django."""

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """What is remembered about a person, and what may not come back."""

    name = "memories"

"""Registers the room with Django."""

from django.apps import AppConfig


class FactsConfig(AppConfig):
    """What members say about a legacy, and its history."""

    name = "facts"

"""Registers the room with Django."""

from django.apps import AppConfig


class JournalConfig(AppConfig):
    """What happened: revisions, changes, events, jobs, idempotency."""

    name = "journal"

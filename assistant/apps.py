"""Registers the room with Django."""

from django.apps import AppConfig


class AssistantConfig(AppConfig):
    """Replies, extraction, recall, tools and imports."""

    name = "assistant"

    def ready(self) -> None:
        """Register the revert of imports with undo."""
        from journal.undo import register_revert  # noqa: PLC0415 - models are there only now

        from .imports.actions import JOB, conversations_of_import, import_revert  # noqa: PLC0415

        register_revert(JOB, import_revert, conversations=conversations_of_import)

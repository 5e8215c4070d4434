"""Registers the room with Django."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    """What was said, and what people took out of it."""

    name = "conversations"

    def ready(self) -> None:
        """Tell undo how words are taken out and given back."""
        from journal.undo import register_undo  # noqa: PLC0415 - models are there only now

        from .actions.withholding import messages_undo  # noqa: PLC0415

        register_undo("message", messages_undo)

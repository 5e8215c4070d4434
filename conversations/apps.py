"""Register the room with Django."""

from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    """Conversations, and the words withheld from them."""

    name = "conversations"

    def ready(self) -> None:
        """Register the revert function of withheld words."""
        from journal.undo import register_undo  # noqa: PLC0415 - models are loaded only now

        from .actions.withholding import messages_undo  # noqa: PLC0415

        register_undo("message", messages_undo)

"""Registers the room with Django."""

from django.apps import AppConfig


class StatementsConfig(AppConfig):
    """What facts and memories share."""

    name = "statements"

    def ready(self) -> None:
        """Doubt what rests on words that are withheld, and no more what rests on a change that was undone."""
        from conversations.actions import follows_withholding  # noqa: PLC0415 - models are there only now
        from journal.undo import follows_undo  # noqa: PLC0415

        from .actions import doubt_withheld, doubts_drop  # noqa: PLC0415

        follows_withholding(doubt_withheld)
        follows_undo(doubts_drop)

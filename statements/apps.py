"""Registers the room with Django."""

from django.apps import AppConfig


class StatementsConfig(AppConfig):
    """What facts and memories share."""

    name = "statements"

    def ready(self) -> None:
        """Doubt what rests on words that are withheld."""
        from conversations.actions import follows_withholding  # noqa: PLC0415 - models are there only now

        from .actions import doubt_withheld  # noqa: PLC0415

        follows_withholding(doubt_withheld)

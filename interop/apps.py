"""Registers the room with Django."""

from django.apps import AppConfig


class InteropConfig(AppConfig):
    """Other people's protocols."""

    name = "interop"

    def ready(self) -> None:
        """Register the system check of what the protocols are set to, and the form of mem0's exports."""
        from . import telegram  # noqa: F401, PLC0415 - importing it registers the check
        from .mem0 import importing  # noqa: F401, PLC0415 - importing it registers the form

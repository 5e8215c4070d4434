"""Registers the room with Django."""

from django.apps import AppConfig


class InteropConfig(AppConfig):
    """Other people's protocols."""

    name = "interop"

    def ready(self) -> None:
        """Register the system check of what the protocols are set to."""
        from . import telegram  # noqa: F401, PLC0415 - importing it registers the check

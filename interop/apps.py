"""Register the room with Django."""

from django.apps import AppConfig


class InteropConfig(AppConfig):
    """Protocols of other products: MCP, mem0's API, Telegram."""

    name = "interop"

    def ready(self) -> None:
        """Register the system check of the Telegram settings and the import format of mem0's exports."""
        from . import telegram  # noqa: F401, PLC0415 - importing it registers the check
        from .mem0 import importing  # noqa: F401, PLC0415 - importing it registers the format

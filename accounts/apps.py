"""Registers the room with Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The Django application of this room."""

    name = "accounts"

    def ready(self) -> None:
        """Register the system check of categories.yaml."""
        from . import categories  # noqa: F401, PLC0415 - importing it registers the check

"""Registers the room with Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """The Django application of this room."""

    name = "accounts"

    def ready(self) -> None:
        """Register the system check of categories.yaml, and what a failed request undoes."""
        from . import categories  # noqa: F401, PLC0415 - importing it registers the check
        from .actions import users_unmake  # noqa: PLC0415
        from .scope import on_failed_request  # noqa: PLC0415

        on_failed_request(users_unmake)

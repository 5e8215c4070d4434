from django.apps import AppConfig, apps
from django.db.models.signals import pre_migrate

from .roles import let_application_in


class MemoryProjectConfig(AppConfig):
    """The wiring's own app: it has no tables."""

    name = "memory_project"

    def ready(self) -> None:
        """Have the database roles set up before the first migration."""
        # The signal comes once for each app with models; once is enough.
        pre_migrate.connect(let_application_in, sender=apps.get_app_config("journal"))

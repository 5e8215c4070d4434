"""The app of the wiring, that of the staff's site, and two database roles: the owner migrates, the application serves.

Before anything is migrated the owner decides that whatever it creates from then on can be used by the application.
A migration that takes such a right back from one table is therefore left alone.
"""

from __future__ import annotations

from typing import Any

from django.apps import AppConfig, apps
from django.conf import settings
from django.contrib.admin.apps import AdminConfig
from django.db import connections
from django.db.models.signals import pre_migrate

from .tracing import begin_tracing

_GRANTS = (
    "GRANT USAGE ON SCHEMA public TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {role}",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {role}",
)


def let_application_in(using: str, **_: Any) -> None:
    """Receive ``pre_migrate``: give the application role its rights on everything the owner will create."""
    connection = connections[using]
    role = connections["default"].settings_dict["USER"]
    if connection.settings_dict["USER"] == role:
        return
    with connection.cursor() as cursor:
        for grant in _GRANTS:
            cursor.execute(grant.format(role=connection.ops.quote_name(role)))


class MemoryProjectConfig(AppConfig):
    """The wiring's own app: it has no tables."""

    name = "memory_project"

    def ready(self) -> None:
        """Have the database roles set up before the first migration, and spans sent where that is wanted."""
        # The signal comes once for each app with models; once is enough.
        pre_migrate.connect(let_application_in, sender=apps.get_app_config("journal"))
        if settings.TRACES:
            begin_tracing()


class StaffAdminConfig(AdminConfig):
    """Django's admin with the staff's site as its default."""

    default_site = "memory_project.staff.site.StaffSite"

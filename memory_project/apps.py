"""App configurations of the project and of the admin site, and the grants of the two database roles.

The owner role migrates, the application role serves. Default privileges are set before the first migration, so a
migration may revoke one on a table, and it stays revoked.
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


def grant_application_rights(using: str, **_: Any) -> None:
    """Handle ``pre_migrate``: grant the application role its rights on everything the owner will create."""
    connection = connections[using]
    role = connections["default"].settings_dict["USER"]
    if connection.settings_dict["USER"] == role:
        return
    with connection.cursor() as cursor:
        for grant in _GRANTS:
            cursor.execute(grant.format(role=connection.ops.quote_name(role)))


class MemoryProjectConfig(AppConfig):
    """The project's own app, without tables."""

    name = "memory_project"

    def ready(self) -> None:
        """Grant database rights before the first migration, and start tracing if it is enabled."""
        # The signal is sent once per app with models; one receiver call is enough.
        pre_migrate.connect(grant_application_rights, sender=apps.get_app_config("journal"))
        if settings.TRACES:
            begin_tracing()


class StaffAdminConfig(AdminConfig):
    """Django's admin with StaffSite as the default site."""

    default_site = "memory_project.staff.site.StaffSite"

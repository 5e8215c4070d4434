"""The two database roles: the owner migrates, the application serves and owns nothing.

Before anything is migrated the owner decides that whatever it creates from then on can be used by the application.
A migration that takes such a right back from one table is therefore left alone.
"""

from __future__ import annotations

from typing import Any

from django.db import connections

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

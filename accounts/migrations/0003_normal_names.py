"""Store the names of people as they are looked up: ``accounts.policy.normal_name``.

A name that would then be another row's stays as it is and is logged with the row's id; nobody is found by it until
somebody decides whose it is.
"""

from typing import Any

import structlog
from django.db import migrations
from django.db.models import Q

from accounts.policy import normal_name

log = structlog.get_logger(__name__)
# Most names are in their normal form; only the others are read.
MAYBE_NOT_NORMAL = r"[^a-z0-9@.+_:|/-]"


def store_normal_names(apps: Any, schema_editor: Any) -> None:
    for model, field, scope in (("User", "username", ()), ("ExternalIdentity", "external_id", ("issuer",))):
        rows = apps.get_model("accounts", model).objects.using(schema_editor.connection.alias)
        for row in rows.filter(Q(**{f"{field}__regex": MAYBE_NOT_NORMAL})).order_by("pk").iterator():
            normal = normal_name(getattr(row, field))
            if normal == getattr(row, field):
                continue
            if rows.filter(**{field: normal}, **{name: getattr(row, name) for name in scope}).exists():
                log.warning("name_not_normal", model=model, id=str(row.pk), reason="its normal form is taken")
                continue
            setattr(row, field, normal)
            row.save(update_fields=[field])


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_ledgers")]

    operations = [
        migrations.AlterModelManagers(name="user", managers=[]),
        # How a name was written before is kept nowhere, and no version needs it.
        migrations.RunPython(store_normal_names, migrations.RunPython.noop),
    ]

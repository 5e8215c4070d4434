"""Store the names of people as they are looked up: ``accounts.policy.normal_name``.

Where several rows would then have one name, none keeps it: one of them would be read under the name of another. They are
parked under ``accounts.policy.parked_name``, which no request spells, and so is a name whose normal form is too long or
empty. The log says which rows; the staff's pages list them, and superusers give them names.
"""

from collections import defaultdict
from typing import Any

import structlog
from django.db import migrations

from accounts.policy import normal_name, parked_name

log = structlog.get_logger(__name__)
# Most names are in their normal form; only the others are read.
MAYBE_NOT_NORMAL = r"[^a-z0-9@.+_:|/-]"


def store_normal_names(apps: Any, schema_editor: Any) -> None:
    for model, field, scope in (("User", "username", ()), ("ExternalIdentity", "external_id", ("issuer",))):
        rows = apps.get_model("accounts", model).objects.using(schema_editor.connection.alias)
        longest = rows.model._meta.get_field(field).max_length
        alike: dict[tuple[str, ...], dict[Any, str]] = defaultdict(dict)
        maybe = rows.filter(**{f"{field}__regex": MAYBE_NOT_NORMAL})
        for pk, name, *within in maybe.order_by("pk").values_list("pk", field, *scope).iterator():
            alike[normal_name(name), *within][pk] = name
        for (normal, *within), named in alike.items():
            if set(named.values()) == {normal}:
                continue
            there = rows.filter(**{field: normal}, **dict(zip(scope, within, strict=True)))
            named |= dict(there.values_list("pk", field))
            reason = ""
            if not 1 <= len(normal) <= longest:
                reason = "its normal form is empty or too long"
            elif len(named) > 1:
                reason = "others have the same normal form"
            for pk, name in named.items():
                if reason:
                    log.warning("name_parked", model=model, id=str(pk), reason=reason)
                wanted = parked_name(pk, name, longest) if reason else normal
                if wanted != name:
                    rows.filter(pk=pk).update(**{field: wanted})


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_ledgers")]

    operations = [
        migrations.AlterModelManagers(name="user", managers=[]),
        # How a name was written before is kept nowhere, and no version needs it.
        migrations.RunPython(store_normal_names, migrations.RunPython.noop),
    ]

"""Take the sources from grants that were narrowed to categories before that took them: what was said is about all."""

from typing import Any

from django.db import migrations

BATCH = 1_000


def take_sources(apps: Any, schema_editor: Any) -> None:
    """Set them in batches, each committed by itself, so that no rows stay locked. Agents with a role have none anyway."""
    grants = apps.get_model("accounts", "Grant").objects.using(schema_editor.connection.alias)
    rows = grants.filter(categories__isnull=False, sources__isnull=True, agent__role="").order_by("pk")
    last = 0
    while ids := list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        grants.filter(pk__in=ids, sources__isnull=True).update(sources=[])
        last = ids[-1]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("accounts", "0006_legacies_end_and_have_pictures")]

    # Which of them had their sources before is kept nowhere. The person gives them back by one press.
    operations = [migrations.RunPython(take_sources, migrations.RunPython.noop, elidable=True)]

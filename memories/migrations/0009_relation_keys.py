"""A relation is held by the keys of both its memories together with their person; the others were looked up twice."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0008_who_saw_what"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="relation",
            name="from_memory",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="relations_from",
                to="memories.memory",
            ),
        ),
        migrations.AlterField(
            model_name="relation",
            name="to_memory",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="relations_to",
                to="memories.memory",
            ),
        ),
        migrations.AlterField(
            model_name="relation",
            name="user",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddIndex(
            model_name="relation",
            index=models.Index(fields=["to_memory"], name="relation_to"),
        ),
    ]

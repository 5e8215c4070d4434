import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("statements", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Doubt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("object_type", models.CharField(max_length=10)),
                ("object_id", models.CharField(max_length=36)),
                ("rev", models.BigIntegerField()),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["object_id"], name="doubt_by_statement")],
                "constraints": [
                    models.UniqueConstraint(fields=("user", "object_type", "object_id"), name="doubt_once"),
                    models.CheckConstraint(
                        condition=models.Q(("object_type__in", ["memory", "fact"])), name="doubt_of_a_statement"
                    ),
                ],
            },
        ),
    ]

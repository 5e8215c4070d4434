import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_link_codes"),
        ("conversations", "0008_what_they_were_told"),
        ("memories", "0006_plans"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Disclosure",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "by",
                    models.CharField(
                        choices=[("query", "Query"), ("context", "Context"), ("turn", "Turn")], max_length=10
                    ),
                ),
                (
                    "memories",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=8), size=None),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "agent",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.agent"
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="conversations.conversation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="disclosures",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["user", "-at"], name="disclosure_by_user"),
                    models.Index(fields=["at"], name="disclosure_by_time"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("by__in", ["query", "context", "turn"])), name="disclosure_by_known"
                    )
                ],
            },
        ),
    ]

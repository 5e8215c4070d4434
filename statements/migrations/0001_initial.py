"""What must not come back."""

import django.db.models.deletion
import django.utils.timezone
import pgvector.django.halfvec
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("conversations", "0001_initial"),  # The extension vector.
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Suppression",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fingerprint", models.CharField(max_length=64)),
                ("object_id", models.CharField(max_length=36)),
                ("embedding", pgvector.django.halfvec.HalfVectorField(editable=False, null=True)),
                ("embedding_model", models.CharField(blank=True, default="", max_length=80)),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "legacy",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.legacy"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="suppressions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "db_table": "memories_tombstone",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "legacy", "fingerprint"), name="tombstone_once", nulls_distinct=False
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("embedding__isnull", True), ("embedding_model", "")),
                            models.Q(("embedding__isnull", False), models.Q(("embedding_model", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="tombstone_vector_named",
                    ),
                ],
            },
        ),
    ]

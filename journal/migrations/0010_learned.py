from django.db import migrations, models

# So that nobody's day begins anew with the release.
COUNTED = """
INSERT INTO journal_learned (user_id, hour, count)
SELECT user_id, date_trunc('hour', at), count(*) FROM journal_operationevent
WHERE user_id IS NOT NULL AND at > now() - interval '1 day' AND node = 'extract' AND status = 'ok'
    AND op IN ('add', 'update', 'archive', 'propose', 'quarantine')
GROUP BY user_id, date_trunc('hour', at)
"""


class Migration(migrations.Migration):
    dependencies = [("journal", "0009_operation_counts")]

    operations = [
        migrations.CreateModel(
            name="Learned",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("user_id", models.UUIDField()),
                ("hour", models.DateTimeField()),
                ("count", models.PositiveIntegerField(default=0)),
            ],
            options={
                "verbose_name_plural": "learned",
                "indexes": [models.Index(fields=["hour"], name="learned_by_hour")],
                "constraints": [models.UniqueConstraint(fields=("user_id", "hour"), name="learned_once_per_hour")],
            },
        ),
        migrations.RunSQL(COUNTED, migrations.RunSQL.noop),
    ]

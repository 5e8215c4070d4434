import django.db.models.deletion
from django.db import migrations, models

INDEX = "journal_change_ledger_id_b914b5b2"


class Migration(migrations.Migration):
    """The index on the ledger alone goes: the unique one on ledger and revision begins with the same column."""

    atomic = False

    dependencies = [
        ("journal", "0002_undo_steps"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model_name="change",
                    name="ledger",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="journal.ledger",
                    ),
                ),
            ],
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {INDEX}",
                    f"CREATE INDEX CONCURRENTLY {INDEX} ON journal_change (ledger_id)",
                ),
            ],
        ),
    ]

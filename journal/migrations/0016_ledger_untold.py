from django.db import migrations, models


class Migration(migrations.Migration):
    """Members' logs tell what a legacy's log tells of facts that others share."""

    dependencies = [("journal", "0015_change_by_member")]

    operations = [
        migrations.AddField("ledger", "untold_from", models.BigIntegerField(null=True)),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    """Which version of a statement a suppression's vector is of, if its person replaced it."""

    dependencies = [("statements", "0004_traces")]

    operations = [
        migrations.AddField("suppression", "version", models.PositiveIntegerField(null=True)),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    """What says the same can be erased with an object, under one receipt."""

    dependencies = [("journal", "0011_doubted")]

    operations = [
        migrations.AddField("erasure", "also", models.JSONField(db_default=[], default=list)),
    ]

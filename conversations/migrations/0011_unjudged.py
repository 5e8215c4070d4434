"""Messages by agents are marked until their meaning is compared with what the person refused."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0010_exported_digests")]

    operations = [
        migrations.AddField("message", "unjudged", models.BooleanField(default=False, db_default=False)),
    ]

"""What the prompt of each reply held, by ids."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("assistant", "0001_replies")]

    operations = [
        migrations.AddField(
            "reply", "memories", ArrayField(models.CharField(max_length=8), default=list, db_default=[])
        ),
        migrations.AddField("reply", "facts", ArrayField(models.UUIDField(), default=list, db_default=[])),
    ]

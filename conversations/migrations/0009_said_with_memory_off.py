from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0008_what_they_were_told")]

    operations = [
        migrations.AddField("message", "memory_off", models.BooleanField(default=False, db_default=False)),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0016_to_review")]

    operations = [
        migrations.AddField("placeversion", "written_by", models.CharField(blank=True, max_length=80, null=True)),
    ]

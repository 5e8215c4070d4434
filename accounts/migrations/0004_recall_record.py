from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_normal_names"),
    ]

    operations = [
        migrations.AddField(
            model_name="preferences",
            name="recall_record",
            field=models.BooleanField(null=True),
        ),
    ]

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_ledgers"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="externalidentity",
            options={"verbose_name_plural": "external identities"},
        ),
        migrations.AlterModelOptions(
            name="preferences",
            options={"verbose_name_plural": "preferences"},
        ),
    ]

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("facts", "0004_whose_wording"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="factevidence",
            options={"verbose_name_plural": "fact evidence"},
        ),
    ]

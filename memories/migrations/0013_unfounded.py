from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0012_length_validated")]

    operations = [
        migrations.AlterField(
            model_name="memory",
            name="deleted_why",
            field=models.CharField(
                blank=True,
                choices=[
                    ("person", "Person"),
                    ("agent", "Agent"),
                    ("rejected", "Rejected"),
                    ("ttl", "Ttl"),
                    ("evicted", "Evicted"),
                    ("replaced", "Replaced"),
                    ("merged", "Merged"),
                    ("staff", "Staff"),
                    ("withheld", "Withheld"),
                    ("unfounded", "Unfounded"),
                ],
                max_length=10,
            ),
        ),
    ]

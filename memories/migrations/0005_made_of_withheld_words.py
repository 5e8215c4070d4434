from django.db import migrations, models


class Migration(migrations.Migration):
    """A memory may go because words that it was made of are withheld."""

    dependencies = [("memories", "0004_proposal_reason")]

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
                ],
                max_length=10,
            ),
        )
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    """Agents that don't see the category of an erased memory get 404 for its id. Earlier ids stay without: 404, too."""

    dependencies = [("journal", "0012_erased_along")]

    operations = [
        migrations.AddField(
            "erased", "category", models.CharField(blank=True, db_default="", default="", max_length=40)
        ),
    ]

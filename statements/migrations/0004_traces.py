from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds a column with a constant default, which rewrites no row."""

    dependencies = [("statements", "0003_candidates")]

    operations = [
        migrations.AddField(
            model_name="suppression",
            name="traces",
            field=models.TextField(blank=True, db_default="", default="", editable=False),
        ),
    ]

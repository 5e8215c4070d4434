from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0006_memory_marks"),
    ]

    operations = [
        migrations.AddField(
            model_name="message",
            name="held_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="message",
            name="reading_due",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                fields=["reading_due"], condition=models.Q(reading_due__isnull=False), name="message_reading_due"
            ),
        ),
        migrations.AddConstraint(
            model_name="message",
            constraint=models.CheckConstraint(
                condition=models.Q(reading_due__isnull=True) | models.Q(declined=False, processed=False),
                name="message_read_once_if_at_all",
            ),
        ),
    ]

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memories", "0011_verbatim")]

    operations = [ValidateConstraint("memory", "memory_content_length")]

"""The modes of replies, checked over the rows that there are."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("assistant", "0003_councils")]

    operations = [ValidateConstraint("reply", "reply_mode_is_known")]

"""Let an erasure blank a version: its row stays where a number would be missing."""

from importlib import import_module

from django.db import migrations

GUARD = import_module("memories.migrations.0002_guards").VERSIONS_STAY
FUNCTION = GUARD[: GUARD.index("CREATE TRIGGER")].replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
BEFORE_UPDATES = "    IF (NEW.user_id,"
ERASING = "    IF current_setting('keepsake.purge', true) = 'on' THEN\n        RETURN NEW;\n    END IF;\n"


class Migration(migrations.Migration):
    dependencies = [("memories", "0006_field_signals")]

    operations = [migrations.RunSQL(FUNCTION.replace(BEFORE_UPDATES, ERASING + BEFORE_UPDATES), FUNCTION)]

"""Remember since when a fact is held back, and let the database keep evidence and links where they belong."""

from django.conf import settings
from django.db import migrations, models

WAS_HELD_BACK = "UPDATE facts_legacyfact SET quarantined_at = updated_at WHERE state = 'quarantined'"

# Triggers rather than composite keys: those would need a second unique index on every message. They read rows whose
# person and legacy never change, which the last two see to, so that no concurrent write can get between.
GUARDS = """
CREATE FUNCTION facts_check_evidence() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM facts_legacyfact f JOIN conversations_message m ON m.user_id = f.user_id
            AND m.legacy_id = f.legacy_id
        WHERE f.id = NEW.fact_id AND m.id = NEW.message_id
    ) THEN
        RAISE EXCEPTION 'the evidence of a fact is a message of its person about its legacy'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'fact_evidence_of_its_person';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fact_evidence_of_its_person BEFORE INSERT OR UPDATE OF fact_id, message_id ON facts_factevidence
    FOR EACH ROW EXECUTE FUNCTION facts_check_evidence();

CREATE FUNCTION facts_check_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM facts_legacyfact a JOIN facts_legacyfact b ON b.legacy_id = a.legacy_id
        WHERE a.id = NEW.from_fact_id AND b.id = NEW.to_fact_id
    ) THEN
        RAISE EXCEPTION 'linked facts are about one legacy'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'fact_link_within_a_legacy';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER fact_link_within_a_legacy BEFORE INSERT OR UPDATE OF from_fact_id, to_fact_id ON facts_factlink
    FOR EACH ROW EXECUTE FUNCTION facts_check_link();

CREATE FUNCTION facts_stay_with_their_person() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a % keeps its person and its legacy', TG_ARGV[0]
        USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER fact_keeps_its_person BEFORE UPDATE OF user_id, legacy_id ON facts_legacyfact FOR EACH ROW
    WHEN (NEW.user_id IS DISTINCT FROM OLD.user_id OR NEW.legacy_id IS DISTINCT FROM OLD.legacy_id)
    EXECUTE FUNCTION facts_stay_with_their_person('fact');
CREATE TRIGGER message_keeps_its_person BEFORE UPDATE OF user_id, legacy_id ON conversations_message FOR EACH ROW
    WHEN (NEW.user_id IS DISTINCT FROM OLD.user_id OR NEW.legacy_id IS DISTINCT FROM OLD.legacy_id)
    EXECUTE FUNCTION facts_stay_with_their_person('message');
"""
NO_GUARDS = """
DROP TRIGGER message_keeps_its_person ON conversations_message;
DROP TRIGGER fact_keeps_its_person ON facts_legacyfact;
DROP FUNCTION facts_stay_with_their_person();
DROP TRIGGER fact_link_within_a_legacy ON facts_factlink;
DROP FUNCTION facts_check_link();
DROP TRIGGER fact_evidence_of_its_person ON facts_factevidence;
DROP FUNCTION facts_check_evidence();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_ledgers"),
        ("conversations", "0003_what_staff_look_for"),
        ("facts", "0002_what_staff_look_for"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="legacyfact",
            name="quarantined_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunSQL(WAS_HELD_BACK, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="legacyfact",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("quarantined_at__isnull", False), ("state", "quarantined")),
                    ("state__in", ["archived", "rejected"]),
                    models.Q(
                        models.Q(("state__in", ["quarantined", "archived", "rejected"]), _negated=True),
                        ("quarantined_at__isnull", True),
                    ),
                    _connector="OR",
                ),
                name="fact_quarantined_means_dated",
            ),
        ),
        migrations.RunSQL(GUARDS, NO_GUARDS),
    ]

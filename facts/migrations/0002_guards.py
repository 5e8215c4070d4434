"""Guards that Django's models can't declare: evidence and links stay where they belong, versions as they were."""

from django.db import migrations

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

# A version is what was recorded then: only when it ended is written later. Only a purge, which says so for its
# transaction, deletes one.
VERSIONS_STAY = """
CREATE FUNCTION facts_version_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF current_setting('keepsake.purge', true) IS DISTINCT FROM 'on' THEN
            RAISE EXCEPTION 'versions of fact % are deleted by a purge only', OLD.fact_id;
        END IF;
        RETURN OLD;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.number <> 1 + COALESCE((SELECT max(number) FROM facts_factversion WHERE fact_id = NEW.fact_id), 0) THEN
            RAISE EXCEPTION 'version % of fact % leaves a hole', NEW.number, NEW.fact_id;
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.fact_id, NEW.number, NEW.content, NEW.category, NEW.recorded_from, NEW.recorded_from_rev, NEW.written_by,
        NEW.actor_kind, NEW.actor_id)
       IS DISTINCT FROM
       (OLD.fact_id, OLD.number, OLD.content, OLD.category, OLD.recorded_from, OLD.recorded_from_rev, OLD.written_by,
        OLD.actor_kind, OLD.actor_id)
       OR (OLD.recorded_to IS NOT NULL AND (NEW.recorded_to, NEW.recorded_to_rev)
           IS DISTINCT FROM (OLD.recorded_to, OLD.recorded_to_rev))
    THEN
        RAISE EXCEPTION 'version % of fact % is history', OLD.number, OLD.fact_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER facts_version_guard BEFORE INSERT OR UPDATE OR DELETE ON facts_factversion
    FOR EACH ROW EXECUTE FUNCTION facts_version_guard();
"""
VERSIONS_CHANGE = """
DROP TRIGGER facts_version_guard ON facts_factversion;
DROP FUNCTION facts_version_guard();
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("conversations", "0001_initial"), ("facts", "0001_initial")]

    operations = [migrations.RunSQL(GUARDS, NO_GUARDS), migrations.RunSQL(VERSIONS_STAY, VERSIONS_CHANGE)]

"""Guards that Django's models can't declare: rows stay with their person, and versions stay as they were."""

from django.db import migrations

COMPOSITE_KEYS = """
ALTER TABLE memories_memoryversion ADD CONSTRAINT memory_version_of_memory_and_user
    FOREIGN KEY (user_id, memory_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_relation ADD CONSTRAINT relation_from_memory_of_user
    FOREIGN KEY (user_id, from_memory_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_relation ADD CONSTRAINT relation_to_memory_of_user
    FOREIGN KEY (user_id, to_memory_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_proposal ADD CONSTRAINT proposal_for_memory_of_user
    FOREIGN KEY (user_id, memory_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplanitem ADD CONSTRAINT memory_plan_item_of_plan_and_user
    FOREIGN KEY (user_id, plan_id) REFERENCES memories_memoryplan (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplanitem ADD CONSTRAINT memory_plan_item_merged_of_user
    FOREIGN KEY (user_id, merged_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplansource ADD CONSTRAINT memory_plan_source_of_item_and_user
    FOREIGN KEY (user_id, item_id) REFERENCES memories_memoryplanitem (user_id, id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE memories_memoryplansource ADD CONSTRAINT memory_plan_source_memory_of_user
    FOREIGN KEY (user_id, memory_id) REFERENCES memories_memory (user_id, id) DEFERRABLE INITIALLY DEFERRED;
"""
NO_COMPOSITE_KEYS = """
ALTER TABLE memories_memoryplansource DROP CONSTRAINT memory_plan_source_memory_of_user;
ALTER TABLE memories_memoryplansource DROP CONSTRAINT memory_plan_source_of_item_and_user;
ALTER TABLE memories_memoryplanitem DROP CONSTRAINT memory_plan_item_merged_of_user;
ALTER TABLE memories_memoryplanitem DROP CONSTRAINT memory_plan_item_of_plan_and_user;
ALTER TABLE memories_proposal DROP CONSTRAINT proposal_for_memory_of_user;
ALTER TABLE memories_relation DROP CONSTRAINT relation_to_memory_of_user;
ALTER TABLE memories_relation DROP CONSTRAINT relation_from_memory_of_user;
ALTER TABLE memories_memoryversion DROP CONSTRAINT memory_version_of_memory_and_user;
"""

# A version is what was recorded then. What may change later: the end of its spans, a vector that comes late or from
# another model, and a conversation that is gone. Only a purge, which says so for its transaction, deletes one.
VERSIONS_STAY = """
CREATE FUNCTION memories_version_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF current_setting('keepsake.purge', true) IS DISTINCT FROM 'on' THEN
            RAISE EXCEPTION 'versions of memory % are deleted by a purge only', OLD.memory_id;
        END IF;
        RETURN OLD;
    END IF;
    IF TG_OP = 'INSERT' THEN
        IF NEW.number <> 1 + COALESCE(
            (SELECT max(number) FROM memories_memoryversion WHERE memory_id = NEW.memory_id), 0
        ) THEN
            RAISE EXCEPTION 'version % of memory % leaves a hole', NEW.number, NEW.memory_id;
        END IF;
        RETURN NEW;
    END IF;
    IF (NEW.user_id, NEW.memory_id, NEW.number, NEW.kind, NEW.category, NEW.field, NEW.subject, NEW.topics,
        NEW.content, NEW.valid_from, NEW.recorded_from, NEW.recorded_from_rev, NEW.reason, NEW.written_by,
        NEW.actor_kind, NEW.actor_id)
       IS DISTINCT FROM
       (OLD.user_id, OLD.memory_id, OLD.number, OLD.kind, OLD.category, OLD.field, OLD.subject, OLD.topics,
        OLD.content, OLD.valid_from, OLD.recorded_from, OLD.recorded_from_rev, OLD.reason, OLD.written_by,
        OLD.actor_kind, OLD.actor_id)
       OR (OLD.recorded_to IS NOT NULL AND (NEW.recorded_to, NEW.recorded_to_rev)
           IS DISTINCT FROM (OLD.recorded_to, OLD.recorded_to_rev))
    THEN
        RAISE EXCEPTION 'version % of memory % is history', OLD.number, OLD.memory_id;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER memories_version_guard BEFORE INSERT OR UPDATE OR DELETE ON memories_memoryversion
    FOR EACH ROW EXECUTE FUNCTION memories_version_guard();
"""
VERSIONS_CHANGE = """
DROP TRIGGER memories_version_guard ON memories_memoryversion;
DROP FUNCTION memories_version_guard();
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("memories", "0001_initial")]

    operations = [
        migrations.RunSQL(COMPOSITE_KEYS, NO_COMPOSITE_KEYS),
        migrations.RunSQL(VERSIONS_STAY, VERSIONS_CHANGE),
    ]

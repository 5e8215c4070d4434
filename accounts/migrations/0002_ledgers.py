"""Give every person and every legacy its ledger, by trigger, so that no way of inserting one can miss it."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION accounts_make_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO journal_ledger (id, kind, rev, turns, turn_terms, chunks, chunk_terms, facts, fact_terms)
    VALUES (NEW.id, TG_ARGV[0], 0, 0, 0, 0, 0, 0, 0);
    RETURN NEW;
END $$;
CREATE TRIGGER accounts_user_ledger BEFORE INSERT ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION accounts_make_ledger('user');
CREATE TRIGGER accounts_legacy_ledger BEFORE INSERT ON accounts_legacy
    FOR EACH ROW EXECUTE FUNCTION accounts_make_ledger('legacy');
ALTER TABLE accounts_user ADD CONSTRAINT accounts_user_has_ledger
    FOREIGN KEY (id) REFERENCES journal_ledger (id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE accounts_legacy ADD CONSTRAINT accounts_legacy_has_ledger
    FOREIGN KEY (id) REFERENCES journal_ledger (id) DEFERRABLE INITIALLY DEFERRED;

CREATE FUNCTION accounts_drop_ledger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- A write that holds the ledger ends first, so that its changes are seen and go too.
    PERFORM 1 FROM journal_ledger WHERE id = OLD.id FOR UPDATE;
    DELETE FROM journal_change WHERE ledger_id = OLD.id;
    DELETE FROM journal_ledger WHERE id = OLD.id;
    RETURN OLD;
END $$;
CREATE TRIGGER accounts_user_ledger_gone AFTER DELETE ON accounts_user
    FOR EACH ROW EXECUTE FUNCTION accounts_drop_ledger();
CREATE TRIGGER accounts_legacy_ledger_gone AFTER DELETE ON accounts_legacy
    FOR EACH ROW EXECUTE FUNCTION accounts_drop_ledger();
"""

BACKWARD = """
DROP TRIGGER accounts_user_ledger_gone ON accounts_user;
DROP TRIGGER accounts_legacy_ledger_gone ON accounts_legacy;
DROP FUNCTION accounts_drop_ledger();
ALTER TABLE accounts_legacy DROP CONSTRAINT accounts_legacy_has_ledger;
ALTER TABLE accounts_user DROP CONSTRAINT accounts_user_has_ledger;
DROP TRIGGER accounts_user_ledger ON accounts_user;
DROP TRIGGER accounts_legacy_ledger ON accounts_legacy;
DROP FUNCTION accounts_make_ledger();
"""


class Migration(migrations.Migration):
    initial = True
    dependencies = [("accounts", "0001_initial"), ("journal", "0001_initial")]

    operations = [migrations.RunSQL(FORWARD, BACKWARD)]

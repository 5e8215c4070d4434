"""Every migration can be taken back, and forward again to the same schema."""

from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connections
from django.db.migrations.executor import MigrationExecutor

ROOMS = ["facts", "memories", "conversations", "accounts", "journal"]
SHAPE = """
SELECT 'column', table_name, column_name, data_type, is_nullable, column_default
FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL SELECT 'index', tablename, indexname, indexdef, '', '' FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid), '', ''
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid <> 0
UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid), '', ''
    FROM pg_trigger WHERE NOT tgisinternal
UNION ALL SELECT 'function', '', p.proname, pg_get_functiondef(p.oid), '', '' FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f'
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1, 2, 3
"""


@pytest.fixture
def scratch(django_db_setup, django_db_blocker):
    """An empty database of its own, and the name under which Django knows it."""
    with django_db_blocker.unblock():
        yield from _scratch(connections["owner"])


def _scratch(owner):
    name = owner.settings_dict["NAME"] + "_scratch"
    with owner.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}"')
    connections.databases["scratch"] = {**owner.settings_dict, "NAME": name}
    yield "scratch"
    connections["scratch"].close()
    connections["scratch"].close_pool()
    del connections["scratch"]
    del connections.databases["scratch"]
    with owner.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def shape(alias):
    with connections[alias].cursor() as cursor:
        cursor.execute(SHAPE)
        return cursor.fetchall()


@pytest.mark.slow
def test_each_room_goes_to_zero_and_back(scratch):
    call_command("migrate", database=scratch, verbosity=0)
    whole = shape(scratch)
    assert any(kind == "trigger" for kind, *_ in whole)
    for room in ROOMS:
        call_command("migrate", room, "zero", database=scratch, verbosity=0)
        left = {table for kind, table, *_ in shape(scratch) if table.startswith(f"{room}_")}
        assert left == set()
    assert {kind for kind, *_ in shape(scratch)} <= {"column", "index", "constraint"}
    call_command("migrate", database=scratch, verbosity=0)
    assert shape(scratch) == whole
    assert not MigrationExecutor(connections[scratch]).migration_plan(
        MigrationExecutor(connections[scratch]).loader.graph.leaf_nodes()
    )


def test_every_room_with_tables_is_tried():
    ours = [config for config in apps.get_app_configs() if Path(config.path).parent == settings.BASE_DIR]
    assert {config.label for config in ours if list(config.get_models())} == set(ROOMS)


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_wordings_of_before_are_given_their_writers(scratch):
    """What the first one came with is known from the fact, or from the summary when the fact was reworded since."""
    # No more than what the rows are written into.
    call_command("migrate", "conversations", database=scratch, verbosity=0)
    call_command("migrate", "facts", "0003", database=scratch, verbosity=0)
    with connections[scratch].cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO accounts_user (id, password, is_superuser, username, email, is_staff, is_active, date_joined,
                display_name)
            VALUES ('00000000-0000-0000-0000-00000000000a', '', false, 'ana', '', false, true, now(), '');
            INSERT INTO accounts_legacy (id, name, created_at)
            VALUES ('00000000-0000-0000-0000-00000000000b', 'Rosa', now());
            INSERT INTO conversations_conversation (id, user_id, title, channel, external_id, private, message_count,
                summarized_upto, created_at, brought_messages)
            VALUES ('00000000-0000-0000-0000-00000000000c', '00000000-0000-0000-0000-00000000000a', '', '', '', false,
                9, 9, now(), 0);
            CREATE FUNCTION pg_temp.fact(made uuid, writer text, number int) RETURNS void LANGUAGE sql AS $$
            INSERT INTO facts_legacyfact (id, legacy_id, user_id, category, content, fingerprint, visibility, state,
                state_reason, version, tokens, written_by, source_conversation_id, source_index, extracted_at,
                updated_at, active_since, index_attempts, index_not_before, embedding_model, search_config, search_text,
                search_length)
            SELECT made, '00000000-0000-0000-0000-00000000000b', '00000000-0000-0000-0000-00000000000a', 'habit',
                'Rosa sang.', '', 'private', 'active', '', number, 1, writer,
                '00000000-0000-0000-0000-00000000000c', 3, now(), now(), now(), 0, now(), '', 'simple', '', 1 $$;
            SELECT pg_temp.fact('00000000-0000-0000-0000-000000000001', 'rules', 1),
                pg_temp.fact('00000000-0000-0000-0000-000000000002', '', 3),
                pg_temp.fact('00000000-0000-0000-0000-000000000003', '', 1);
            INSERT INTO conversations_conversationchunk (id, conversation_id, user_id, private, content, written_by,
                message_range_start, message_range_end, created_at, embedding, embedding_model, search_config,
                search_text, search_length)
            SELECT id, '00000000-0000-0000-0000-00000000000c', '00000000-0000-0000-0000-00000000000a', false, 'x',
                'model ' || n, n * 3, n * 3 + 3, now(),
                '[1]', 'm', 'simple', '', 1
            FROM (SELECT gen_random_uuid() AS id, n FROM generate_series(0, 2) n) AS made;
            INSERT INTO facts_factversion (fact_id, number, content, category, actor_kind, actor_id, created_at)
            SELECT ('00000000-0000-0000-0000-00000000000' || fact)::uuid, number, content, 'habit', kind, '', now()
            FROM (VALUES (1, 1, 'a', 'agent'), (2, 1, 'a', 'job'), (2, 2, 'b', 'person'), (2, 3, 'a', 'person'),
                (3, 1, 'a', 'person')) AS made (fact, number, content, kind)
            """
        )
    call_command("migrate", "facts", "0004", database=scratch, verbosity=0)
    with connections[scratch].cursor() as cursor:
        cursor.execute("SELECT right(fact_id::text, 1), number, written_by FROM facts_factversion ORDER BY 1, 2")
        found = cursor.fetchall()
    assert found == [("1", 1, "rules"), ("2", 1, "model 1"), ("2", 2, ""), ("2", 3, "model 1"), ("3", 1, "")]

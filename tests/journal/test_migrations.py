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

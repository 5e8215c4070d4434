"""Every migration can be taken back, and forward again to the same schema."""

import os
import re
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import dedent, indent

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from accounts.policy import PARKED, normal_name

ROOMS = ["assistant", "facts", "memories", "statements", "conversations", "accounts", "journal"]
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
        tables = {model._meta.db_table for model in apps.get_app_config(room).get_models(include_auto_created=True)}
        assert tables
        assert not tables & {table for _, table, *_ in shape(scratch)}
    assert {kind for kind, *_ in shape(scratch)} <= {"column", "index", "constraint"}
    call_command("migrate", database=scratch, verbosity=0)
    assert shape(scratch) == whole
    assert not MigrationExecutor(connections[scratch]).migration_plan(
        MigrationExecutor(connections[scratch]).loader.graph.leaf_nodes()
    )


def test_names_that_become_one_are_parked_where_no_request_finds_them(scratch, caplog):
    long_one = "\ufdfa" * 100  # Its normal form has 1,800 characters.
    people = ["Olga", "karl", "Karl", "KARL", "peter"]
    named = [("backend", "xyz"), ("backend", "XYZ"), ("other", "XYZ"), ("backend", "Ülkü 二"), ("backend", long_one)]
    call_command("migrate", "accounts", "0002", database=scratch, verbosity=0)
    with connections[scratch].cursor() as cursor:
        cursor.executemany(
            "INSERT INTO accounts_user (id, username, password, display_name, email, is_superuser, is_staff, is_active,"
            " date_joined) VALUES (gen_random_uuid(), %s, '', '', '', false, false, true, now())",
            [(name,) for name in people],
        )
        cursor.executemany(
            "INSERT INTO accounts_externalidentity (user_id, issuer, external_id, created_at)"
            " SELECT id, %s, %s, now() FROM accounts_user WHERE username = 'peter'",
            named,
        )
    call_command("migrate", "accounts", "0003", database=scratch, verbosity=0)
    with connections[scratch].cursor() as cursor:
        cursor.execute("SELECT id::text, username FROM accounts_user")
        users = dict(cursor.fetchall())
        cursor.execute("SELECT issuer, id, external_id FROM accounts_externalidentity ORDER BY id")
        identities = cursor.fetchall()
    kept = [name for name in users.values() if not name.startswith(PARKED)]
    parked = {pk: name for pk, name in users.items() if name.startswith(PARKED)}
    assert sorted(kept) == ["olga", "peter"]
    assert sorted(parked.values()) == sorted(f"PARKED {pk} {name.split()[-1]}" for pk, name in parked.items())
    assert sorted(name.split()[-1] for name in parked.values()) == ["KARL", "Karl", "karl"]
    (_, lower, _), (_, upper, _), _, _, (_, long_id, _) = identities
    assert identities == [
        ("backend", lower, f"PARKED {lower} xyz"),
        ("backend", upper, f"PARKED {upper} XYZ"),
        ("other", upper + 1, "xyz"),
        ("backend", upper + 2, "ülkü 二"),
        ("backend", long_id, f"PARKED {long_id} {long_one}"),
    ]
    for name in (*parked.values(), identities[0][2]):
        assert normal_name(name) != name
    assert caplog.text.count("name_parked") == 6
    assert "karl" not in caplog.text.lower()
    assert "xyz" not in caplog.text.lower()  # No letters that an id can have by chance.


@pytest.fixture
def add_migration(tmp_path, monkeypatch, settings):
    """Put one more migration behind those of a room, for this test."""

    def add(room, text):
        module = f"{room}_{tmp_path.name}"  # Once imported, a module stays: each test has its own.
        (tmp_path / "more").mkdir()
        (tmp_path / module).mkdir()
        at = [str(settings.BASE_DIR / room / "migrations"), str(tmp_path / "more")]
        (tmp_path / module / "__init__.py").write_text(f"__path__ = {at!r}\n")
        last = MigrationLoader(None).graph.leaf_nodes(room)[0]
        heading = f"""
            from django.contrib.postgres.operations import (
                AddConstraintNotValid, AddIndexConcurrently, ValidateConstraint,
            )
            from django.db import migrations, models

            class Migration(migrations.Migration):
                dependencies = [{last!r}]
            """
        (tmp_path / "more" / "0999_more.py").write_text(dedent(heading) + indent(dedent(text), "    "))
        monkeypatch.syspath_prepend(tmp_path)
        settings.MIGRATION_MODULES = {room: module}

    return add


@contextmanager
def somebody(alias, statement):
    """Another session, whose transaction is open and has done something."""
    with psycopg.connect(**connections[alias].get_connection_params()) as session:
        session.execute(statement)
        yield session


def test_a_migration_that_waits_for_a_lock_gives_up_and_nobody_waits_behind_it(scratch):
    call_command("migrate", "journal", "0014", database=scratch, verbosity=0)  # The next one takes no transaction.
    whole = shape(scratch)
    with connections[scratch].cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    with somebody(scratch, "SELECT count(*) FROM journal_change"):
        with pytest.raises(CommandError, match=r"journal\.0\w+ waited 100ms for a lock") as error:
            call_command("migrate", "journal", "zero", database=scratch, verbosity=0)
        with somebody(scratch, "LOCK TABLE journal_change IN ROW EXCLUSIVE MODE NOWAIT"):
            pass
    assert "MIGRATION_LOCK_TIMEOUT_SECONDS" in str(error.value)
    assert "half-built" not in str(error.value)
    call_command("migrate", "journal", "0014", database=scratch, verbosity=0)  # The next one takes no transaction.
    assert shape(scratch) == whole


def test_an_index_that_was_left_half_built_is_named(scratch, add_migration):
    """Built outside a transaction, it stays when its statement gives up."""
    call_command("migrate", "journal", database=scratch, verbosity=0)
    add_migration(
        "journal",
        """
        atomic = False
        operations = [AddIndexConcurrently("change", models.Index(fields=["actor_id"], name="by_actor"))]
        """,
    )
    with connections[scratch].cursor() as cursor:
        cursor.execute("SET lock_timeout = '100ms'")
    with (
        somebody(scratch, "LOCK TABLE journal_change IN ROW EXCLUSIVE MODE"),
        pytest.raises(CommandError, match=r"journal.0999_more waited .* drop first .*: by_actor\."),
    ):
        call_command("migrate", "journal", database=scratch, verbosity=0)


def test_what_fails_otherwise_is_told_as_it_is(scratch, add_migration):
    add_migration("journal", 'operations = [migrations.RunSQL("SELECT pg_terminate_backend(pg_backend_pid())")]')
    with pytest.raises(OperationalError, match="terminating connection"):
        call_command("migrate", "journal", database=scratch, verbosity=0)


@pytest.mark.slow
def test_how_long_a_migration_waits_is_a_setting(scratch):
    with connections[scratch].cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == ("5s",)
    asked = "from django.conf import settings; print(settings.DATABASES['owner']['OPTIONS']['options'])"
    run = partial(subprocess.run, [sys.executable, "-c", asked], capture_output=True, text=True, check=False)
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "memory_project.settings"}
    set_otherwise = run(env={**environment, "MIGRATION_LOCK_TIMEOUT_SECONDS": "0.25"})
    assert "-c lock_timeout=250ms" in set_otherwise.stdout
    assert (
        "MIGRATION_LOCK_TIMEOUT_SECONDS must be"
        in run(env={**environment, "MIGRATION_LOCK_TIMEOUT_SECONDS": "0"}).stderr
    )


UNSAFE = {
    "an index that blocks writes while it is built": (
        'migrations.AddIndex("change", models.Index(fields=["actor_id"], name="by_actor"))',
        "require-concurrent-index-creation",
    ),
    "an index that blocks reads while it goes": (
        'migrations.RemoveIndex("change", "change_by_time")',
        "require-concurrent-index-deletion",
    ),
    "a constraint that is checked under a lock": (
        'migrations.AddConstraint("change", models.CheckConstraint(condition=models.Q(rev__gt=1), name="later"))',
        "constraint-missing-not-valid",
    ),
    "a foreign key that is checked under a lock": (
        'migrations.AddField("change", "by", models.ForeignKey("self", null=True, on_delete=models.CASCADE))',
        "adding-foreign-key-constraint",
    ),
    "a foreign key by hand": (
        'migrations.RunSQL("ALTER TABLE journal_change ADD CONSTRAINT x FOREIGN KEY (id) REFERENCES journal_ledger")',
        "constraint-missing-not-valid",
    ),
    "a constraint that is valid in the transaction that adds it": (
        'AddConstraintNotValid("change", models.CheckConstraint(condition=models.Q(rev__gt=1), name="later")),'
        'ValidateConstraint("change", "later")',
        "constraint-missing-not-valid",
    ),
    "a unique constraint": (
        'migrations.AddConstraint("change", models.UniqueConstraint(fields=["at"], name="once"))',
        "disallowed-unique-constraint",
    ),
    "a column that the running version does not fill": (
        'migrations.RunSQL("ALTER TABLE journal_change ADD COLUMN x int NOT NULL")',
        "adding-required-field",
    ),
    "a default that only the new version knows": (
        'migrations.AddField("change", "x", models.IntegerField(default=0))',
        "ban-drop-default",
    ),
    "a column that becomes required": (
        'migrations.AlterField("change", "old_version", models.PositiveIntegerField())',
        "adding-not-nullable-field",
    ),
    "another type": ('migrations.AlterField("change", "meta", models.TextField())', "changing-column-type"),
    "another name": ('migrations.RenameField("change", "meta", "more")', "renaming-column"),
    "another table name": ('migrations.AlterModelTable("change", "changes")', "renaming-table"),
    "a column less": ('migrations.RemoveField("change", "meta")', "ban-drop-column"),
    "a table less": ('migrations.DeleteModel("Change")', "ban-drop-table"),
}
SAFE = {
    "a table with keys and indexes": """
        operations = [
            migrations.CreateModel("Note", [("change", models.ForeignKey("journal.Change", models.CASCADE))]),
            migrations.AddIndex("note", models.Index(fields=["change"], name="note_by_change")),
        ]
        """,
    "an index that is built beside writes": """
        atomic = False
        operations = [AddIndexConcurrently("change", models.Index(fields=["actor_id"], name="by_actor"))]
        """,
    "a constraint for what comes": """
        operations = [
            AddConstraintNotValid("change", models.CheckConstraint(condition=models.Q(rev__gt=1), name="later"))
        ]
        """,
    "a check of what is there": """
        operations = [migrations.RunSQL("ALTER TABLE journal_change VALIDATE CONSTRAINT change_rev_from_one")]
        """,
    "a column that the database fills": """
        operations = [migrations.AddField("change", "x", models.IntegerField(default=0, db_default=0))]
        """,
    "a column that may be empty": """
        operations = [migrations.AddField("change", "x", models.TextField(null=True))]
        """,
    "what it says is safe, and why": """
        allowed = {"ban-drop-column": "no release since the last reads it"}
        operations = [migrations.RemoveField("change", "meta")]
        """,
    "choices, which the database does not know": """
        operations = [migrations.AlterField("change", "event", models.CharField(max_length=12, choices=[("A", "a")]))]
        """,
}


@pytest.fixture
def lint(scratch):
    """``lint(room, name)``: what the command does with this migration, with all of a room, or with all."""
    return partial(call_command, "lint_migrations", database=scratch)


@pytest.mark.parametrize(("operation", "rule"), UNSAFE.values(), ids=UNSAFE)
def test_what_blocks_or_breaks_the_running_version_is_refused(lint, add_migration, capsys, operation, rule):
    add_migration("journal", f"operations = [{operation}]")
    with pytest.raises(CommandError, match="Unsafe"):
        lint("journal", "0999_more")
    told = capsys.readouterr().err
    assert rule in told
    assert "journal/migrations/0999_more" in told


@pytest.mark.parametrize("body", SAFE.values(), ids=SAFE)
def test_what_does_neither_is_not(lint, add_migration, capsys, body):
    add_migration("journal", body)
    lint("journal", "0999_more")
    told = capsys.readouterr()
    assert told.out == "1 migrations are safe, 0 make empty tables.\n"
    assert "0999_more" not in told.err


def test_the_unsafe_one_of_many_is_named(lint, add_migration, capsys):
    add_migration("journal", 'operations = [migrations.RemoveField("change", "meta")]')
    with pytest.raises(CommandError, match="Unsafe"):
        lint("journal")
    assert set(re.findall(r"journal/migrations/(\w+)", capsys.readouterr().err)) == {"0999_more"}


def test_a_name_that_no_migration_has_is_an_error(lint):
    with pytest.raises(CommandError, match="no such migration"):
        lint("journal", "0999_more")


@pytest.mark.slow
def test_our_own_migrations_are_safe(lint, capsys):
    lint()
    assert re.match(r"\d\d migrations are safe", capsys.readouterr().out)
    # An initial one makes the tables that it changes: it comes before all that find rows.
    migrations = MigrationLoader(None).disk_migrations
    for room in ROOMS:
        is_later = [not migrations[key].initial for key in sorted(migrations) if key[0] == room]
        assert is_later == sorted(is_later)


def test_every_room_with_tables_is_tried():
    ours = [config for config in apps.get_app_configs() if Path(config.path).parent == settings.BASE_DIR]
    assert {config.label for config in ours if list(config.get_models())} == set(ROOMS)


@pytest.mark.django_db
def test_models_and_migrations_agree():
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)

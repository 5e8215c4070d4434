"""Every table says what of a person it holds: for each column that can hold text, what export and erasure do."""

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection, models

from accounts.models import User
from journal.holdings import Holding, can_hold_text, holding_of, holdings
from memories.models import Memory
from tests.factories import LegacyFactory, MemoryFactory, UserFactory
from tests.test_rooms import ROOMS

OURS = [model for model in apps.get_models() if model._meta.app_label in ROOMS]


@pytest.mark.parametrize("model", [*OURS, LogEntry, Session], ids=lambda model: model.__name__)
def test_every_column_that_can_hold_text_is_registered_for_erasure_and_export(model):
    """Declare a new table in its room's holdings.py, and each of its columns in the group that fits."""
    holding = holding_of(model)
    columns = {column.name for column in model._meta.concrete_fields}
    texts = {column.name for column in model._meta.concrete_fields if can_hold_text(column)}
    assert set(holding.registered) >= texts
    assert set(holding.registered) <= columns
    assert len(holding.registered) == len(set(holding.registered)), "in two groups"
    assert {*holding.revs, *holding.refers} <= columns


def test_a_column_that_is_not_registered_is_found():
    forgetful = Holding(model=Memory, owner="user_id", words={"content": ""})
    texts = {column.name for column in Memory._meta.concrete_fields if can_hold_text(column)}
    assert {"subject", "topics", "embedding", "search", "search_text", "run_id"} <= texts - set(forgetful.registered)
    assert not texts & {"user", "importance", "pinned", "created_at"}


def test_tables_that_hold_text_are_all_known_to_django(db):
    """No table of the database escapes the registry because no model stands for it."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT table_name FROM information_schema.columns WHERE table_schema = 'public'"
            " AND (data_type IN ('text', 'character varying', 'jsonb', 'bytea', 'ARRAY', 'USER-DEFINED'))"
        )
        tables = {name for (name,) in cursor.fetchall()}
    known = {each.model._meta.db_table for each in holdings()}
    # Names of Django's own tables, permissions and migrations: nothing of people.
    assert tables - known == {"auth_group", "auth_permission", "django_content_type", "django_migrations"}


@pytest.mark.parametrize("holding", holdings(), ids=lambda holding: holding.model.__name__)
def test_whose_a_row_is_can_be_asked_of_every_table(holding, db):
    assert not holding.of_person(UserFactory.build().pk).exists()


def test_every_table_with_a_key_to_a_person_names_whose_its_rows_are():
    keyed = [each for each in holdings() if any(f.related_model is User for f in each.model._meta.concrete_fields)]
    assert [each.model for each in keyed if not each.owner and each.theirs is None] == []


def test_a_table_comes_after_those_that_its_rows_refer_to():
    place = {each.model: number for number, each in enumerate(holdings())}
    for model, number in place.items():
        for key in (f for f in model._meta.concrete_fields if isinstance(f, models.ForeignKey)):
            assert place.get(key.related_model, -1) <= number, f"{model.__name__}.{key.name}"


def test_rows_are_those_of_the_person_alone(db):
    mine, others = MemoryFactory(), MemoryFactory()
    legacy = LegacyFactory(owner=mine.user)
    assert [*holding_of(Memory).of_person(mine.user_id)] == [mine]
    assert [*holding_of(type(legacy)).of_person(mine.user_id)] == [legacy]
    assert not holding_of(type(legacy)).of_person(others.user_id).exists()


def test_kinds_of_the_export_are_told_apart():
    kinds = [each.kind for each in holdings() if each.kind]
    assert len(kinds) == len(set(kinds))

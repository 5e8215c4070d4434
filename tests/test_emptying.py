"""What tests leave is gone before the next, whatever guards it."""

import pytest
from django.db import connection

from accounts.models import Legacy
from tests import factories
from tests.emptying import KEPT, empty_tables


@pytest.mark.django_db
def test_no_table_keeps_a_row_but_those_that_migrations_fill():
    for make in (factories.MemoryFactory, factories.LegacyFactFactory, factories.ReplyFactory):
        make()
    assert Legacy.objects.exists()
    empty_tables()
    left = set()
    with connection.cursor() as cursor:
        for name in connection.introspection.django_table_names(only_existing=True):
            cursor.execute(f"SELECT FROM {name} LIMIT 1")
            left |= {name} if cursor.rowcount else set()
    assert left == KEPT

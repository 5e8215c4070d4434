"""What tests leave is gone before the next, whatever guards it."""

from threading import Thread

import pytest
from django.db import connection

from accounts.models import Legacy
from tests import factories
from tests.emptying import KEPT, empty_tables, table_names


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


@pytest.mark.django_db(transaction=True)
def test_a_request_that_is_still_writing_is_let_finish():
    """It holds the last table and wants the first, in the order in which they are locked."""
    factories.LegacyFactory()
    first, *_, last = table_names()
    request = connection.get_new_connection(connection.get_connection_params())
    request.autocommit = False
    request.execute(f"LOCK TABLE {last} IN ROW EXCLUSIVE MODE")
    watching = connection.get_new_connection(connection.get_connection_params())
    went = []

    def write():
        waiting = "SELECT FROM pg_locks WHERE NOT granted AND relation = %s::regclass"
        while not watching.execute(waiting, [last]).rowcount:
            pass
        request.execute(f"LOCK TABLE {first} IN ROW EXCLUSIVE MODE")
        request.commit()
        went.append("to its end")

    writer = Thread(target=write)
    writer.start()
    empty_tables()
    writer.join()
    for other in (request, watching):
        other.close()
    assert went == ["to its end"]
    assert not Legacy.objects.exists()

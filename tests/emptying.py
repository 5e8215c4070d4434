"""After a test that commits, delete the rows that it left.

Django truncates every table, which makes new files for all 68 of them and their indexes: 0.2 s of the server's time for
each such test. What migrations write, permissions and kinds of content, stays.
"""

from functools import cache

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

from statements.actions import purging

KEPT = {"auth_permission", "django_content_type"}
# Milliseconds to wait for one lock: less than deadlock_timeout, so that a request which a browser left under way, and
# which waits for one of the locks taken here, is let finish in place of one of the two being broken off.
PATIENCE = 300
ATTEMPTS = 100


@cache
def table_names():
    found = connection.introspection.django_table_names(only_existing=True, include_views=False)
    return [connection.ops.quote_name(name) for name in found if name not in KEPT]


def empty_tables(test_case=None):
    """Delete all rows, once nobody writes any more. OperationalError once somebody wrote for half a minute."""
    for left in reversed(range(ATTEMPTS)):
        try:
            delete_all()
        except OperationalError as error:
            if not (left and isinstance(error.__cause__, LockNotAvailable)):
                raise
        else:
            return


def delete_all():
    """Delete all rows, or OperationalError where another connection holds one of the tables for `PATIENCE`."""
    with transaction.atomic(), purging(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = {PATIENCE}")
        cursor.execute(f"LOCK TABLE {', '.join(table_names())} IN EXCLUSIVE MODE")
        cursor.execute(
            " UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT FROM {name})" for name in table_names())
        )
        deletions = [f"deleted{number} AS (DELETE FROM {name})" for number, (name,) in enumerate(cursor.fetchall())]
        if deletions:
            # In one statement, so that no key is missed between two.
            cursor.execute(f"WITH {', '.join(deletions)} SELECT")

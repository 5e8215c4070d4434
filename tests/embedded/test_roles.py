import pytest
from django.db import ProgrammingError, connection, connections, transaction

pytestmark = pytest.mark.django_db


def test_the_application_role_uses_tables_that_the_owner_made():
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO auth_group (name) VALUES ('readers')")
        cursor.execute("UPDATE auth_group SET name = 'writers'")
        cursor.execute(
            "SELECT name, current_user = tableowner FROM auth_group, pg_tables WHERE tablename = 'auth_group'"
        )
        assert cursor.fetchall() == [("writers", False)]
        cursor.execute("DELETE FROM auth_group")


@pytest.mark.parametrize(
    "statement",
    ["CREATE TABLE sketch (id int)", "DROP TABLE auth_group", "ALTER TABLE auth_group ADD COLUMN note text"],
)
def test_the_application_role_changes_no_schema(statement):
    with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)


@pytest.mark.django_db(databases=["default", "owner"], transaction=True)
def test_what_the_owner_makes_later_is_the_applications_to_use():
    with connections["owner"].cursor() as owner, connection.cursor() as application:
        owner.execute("CREATE TABLE later (id bigint GENERATED ALWAYS AS IDENTITY, word text)")
        try:
            application.execute("INSERT INTO later (word) VALUES ('here') RETURNING id")
            assert application.fetchone() == (1,)
        finally:
            owner.execute("DROP TABLE later")

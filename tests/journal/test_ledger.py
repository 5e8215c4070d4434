"""Ledgers: one per person and legacy, locked by every write, with a revision a change."""

import uuid

import pytest
from django.db import IntegrityError, connection, transaction

from accounts.models import Legacy, User
from journal.actions import ledger_write
from journal.exceptions import Gated, IdempotentReplay, NotFound
from journal.models import Change, IdempotencyRecord, Ledger
from journal.records import Actor, IdempotencyClaim
from language.backends import get_embedder
from tests import factories
from tests.factories import rev_of

SOMEBODY = Actor("person", "1")


def once(key="k", request_hash="h", owner="o"):
    return Actor("person", "1", IdempotencyClaim(owner, key, request_hash))


def execute(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


class TestEveryOwnerHasALedger:
    def test_a_person_inserted_by_raw_sql_has_one(self, db):
        made = uuid.uuid4()
        execute(
            "INSERT INTO accounts_user (id, username, password, display_name, email, is_staff, is_superuser, is_active,"
            " date_joined) VALUES (%s, 'raw', '', '', '', false, false, true, now())",
            made,
        )
        ledger = Ledger.objects.get(pk=made)
        assert (ledger.kind, ledger.rev, ledger.turns, ledger.fact_terms) == ("user", 0, 0, 0)

    def test_a_legacy_inserted_by_raw_sql_has_one(self, db):
        made = uuid.uuid4()
        execute("INSERT INTO accounts_legacy (id, name, created_at) VALUES (%s, 'Rosa', now())", made)
        assert Ledger.objects.get(pk=made).kind == "legacy"

    def test_many_at_once_have_one_each(self, db):
        User.objects.bulk_create(User(username=f"bulk{number}") for number in range(5))
        assert Ledger.objects.filter(kind="user").count() == 5

    @pytest.mark.parametrize("model", [User, Legacy])
    def test_whoever_goes_takes_it_along(self, owner, legacy, model):
        row = {User: owner, Legacy: legacy}[model]
        with ledger_write(SOMEBODY, row.pk) as write:
            write.change(row.pk, "UPDATE", "thing", 1)
        others = Ledger.objects.exclude(pk=row.pk).count()
        model.objects.filter(pk=row.pk).delete()
        assert not Ledger.objects.filter(pk=row.pk).exists()
        assert not Change.objects.filter(ledger_id=row.pk).exists()
        assert Ledger.objects.count() == others

    def test_whoever_is_deleted_by_raw_sql_takes_it_along(self, stranger):
        execute("DELETE FROM accounts_user WHERE id = %s", stranger.pk)
        assert not Ledger.objects.filter(pk=stranger.pk).exists()

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("whose", ["owner", "legacy"])
    def test_nobody_loses_it_while_they_are_there(self, request, whose):
        with pytest.raises(IntegrityError, match="has_ledger"):
            execute("DELETE FROM journal_ledger WHERE id = %s", request.getfixturevalue(whose).pk)

    @pytest.mark.django_db(transaction=True)
    def test_no_id_changes_away_from_it(self, stranger):
        for row in (stranger, Legacy.objects.create(name="Rosa")):
            table = row._meta.db_table
            with pytest.raises(IntegrityError, match=f"{table}_has_ledger"):
                execute(f"UPDATE {table} SET id = %s WHERE id = %s", uuid.uuid4(), row.pk)


class TestWrite:
    def test_each_change_takes_the_next_revision(self, owner, legacy):
        with ledger_write(SOMEBODY, owner.pk, legacy.pk) as write:
            assert write.change(owner.pk, "ADD", "fact", 1, new_version=1) == 1
            assert write.change(legacy.pk, "ADD", "fact", 1) == 1
            assert write.change(owner.pk, "UPDATE", "fact", 1, old_version=1, new_version=2, reason="typo") == 2
        rows = Change.objects.of_owner(owner.pk).values_list("rev", "event", "old_version", "new_version", "meta")
        assert list(rows) == [(1, "ADD", None, 1, {}), (2, "UPDATE", 1, 2, {"reason": "typo"})]
        assert (rev_of(owner), rev_of(legacy)) == (2, 1)
        assert [str(change) for change in Change.objects.of_owner(owner.pk)][-1] == "UPDATE fact 1 at rev 2"

    def test_an_exception_changes_nothing(self, owner):
        def work():
            with ledger_write(SOMEBODY, owner.pk) as write:
                write.change(owner.pk, "ADD", "fact", 1)
                write.count(owner.pk, turns=3)
                User.objects.filter(pk=owner.pk).update(display_name="changed")
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            work()
        owner.refresh_from_db()
        assert (rev_of(owner), owner.display_name) == (0, "Olga Owner")
        assert not Change.objects.exists()

    def test_counts_are_kept_in_the_same_lock(self, owner):
        with ledger_write(SOMEBODY, owner.pk) as write:
            write.count(owner.pk, turns=3, turn_terms=40)
        with ledger_write(SOMEBODY, owner.pk) as write:
            write.count(owner.pk, turns=-1, turn_terms=-15)
        ledger = Ledger.objects.get(pk=owner.pk)
        assert (ledger.turns, ledger.turn_terms, ledger.rev) == (2, 25, 0)

    def test_a_count_below_zero_is_refused(self, owner):
        with pytest.raises(IntegrityError), ledger_write(SOMEBODY, owner.pk) as write:
            write.count(owner.pk, facts=-1)

    def test_what_changes_nothing_writes_nothing(self, owner, django_assert_num_queries):
        with django_assert_num_queries(3), ledger_write(SOMEBODY, owner.pk):  # savepoint, lock, release
            pass

    def test_an_owner_who_is_gone_is_missing(self, owner):
        with pytest.raises(NotFound), ledger_write(SOMEBODY, owner.pk, uuid.uuid4()):
            raise AssertionError

    def test_an_owner_made_inside_is_taken_in(self, owner):
        with ledger_write(SOMEBODY, owner.pk) as write:
            made = Legacy.objects.create(name="Rosa")
            write.add_ledger(made.pk)
            write.change(made.pk, "ADD", "legacy", made.pk)
        assert rev_of(made) == 1

    @pytest.mark.django_db(transaction=True)
    def test_eight_writers_leave_no_hole(self, owner, legacy, at_once):
        def write(number):
            pair = (owner.pk, legacy.pk) if number % 2 else (legacy.pk, owner.pk)
            for _ in range(10):
                with ledger_write(SOMEBODY, *pair) as held:
                    held.change(owner.pk, "ADD", "fact", number)
                    held.change(legacy.pk, "ADD", "fact", number)
                    held.change(owner.pk, "LINK", "fact", number)
                    held.count(owner.pk, facts=1)

        assert at_once(write, 8) == [None] * 8
        assert list(Change.objects.of_owner(owner.pk).values_list("rev", flat=True)) == list(range(1, 161))
        assert list(Change.objects.of_owner(legacy.pk).values_list("rev", flat=True)) == list(range(1, 81))
        assert Ledger.objects.get(pk=owner.pk).facts == 80

    @pytest.mark.django_db(transaction=True)
    def test_people_do_not_wait_on_each_other(self, owner, stranger, at_once):
        with ledger_write(SOMEBODY, owner.pk) as write:
            write.change(owner.pk, "ADD", "fact", 1)

            def other(_):
                with ledger_write(SOMEBODY, stranger.pk) as held:
                    return held.change(stranger.pk, "ADD", "fact", 2)

            assert at_once(other, 1) == [1]

    @pytest.mark.django_db(transaction=True)
    def test_a_person_deleted_during_a_write_is_gone_afterwards(self, stranger, at_once):
        def take_turns(number):
            if number == 0:
                User.objects.filter(pk=stranger.pk).delete()
                return "deleted"
            try:
                with ledger_write(SOMEBODY, stranger.pk) as write:
                    write.change(stranger.pk, "ADD", "fact", number)
            except NotFound:
                return "missing"
            return "written"

        results = at_once(take_turns, 6)
        assert results[0] == "deleted"
        assert set(results[1:]) <= {"written", "missing"}
        assert not Change.objects.exists()
        assert not Ledger.objects.exists()


class TestOnce:
    """Idempotency-Key in the action's transaction."""

    def work(self, actor, owner):
        with ledger_write(actor, owner.pk) as write:
            write.change(owner.pk, "ADD", "fact", 7)
            write.result("fact", 7, 8, status_code=201)

    def test_the_second_time_says_what_the_first_did(self, owner):
        self.work(once(), owner)
        with pytest.raises(IdempotentReplay) as replay:
            self.work(once(), owner)
        record = replay.value.record
        assert (record.object_type, record.object_ids, record.status_code, record.rev) == ("fact", ["7", "8"], 201, 1)
        assert rev_of(owner) == 1
        assert "fact" in str(record)

    def test_another_request_under_the_key_is_refused(self, owner):
        self.work(once(), owner)
        with pytest.raises(Gated) as refused:
            self.work(once(request_hash="other"), owner)
        assert refused.value.code == "idempotency_mismatch"

    def test_a_failed_first_time_leaves_the_key_free(self, owner):
        with pytest.raises(ZeroDivisionError), ledger_write(once(), owner.pk):
            1 / 0  # noqa: B018
        self.work(once(), owner)
        assert IdempotencyRecord.objects.count() == 1

    def test_keys_are_each_caller_s_own(self, owner):
        self.work(once(owner="a"), owner)
        self.work(once(owner="b"), owner)
        assert rev_of(owner) == 2

    def test_without_a_key_nothing_is_recorded(self, owner):
        self.work(SOMEBODY, owner)
        assert not IdempotencyRecord.objects.exists()

    def test_an_action_that_tells_no_result_still_counts_once(self, owner):
        with ledger_write(once(), owner.pk):
            pass
        with pytest.raises(IdempotentReplay), ledger_write(once(), owner.pk):
            pass

    @pytest.mark.django_db(transaction=True)
    def test_eight_at_once_work_once(self, owner, at_once):
        results = at_once(lambda _: self.work(once(), owner), 8)
        assert sorted(type(result).__name__ for result in results) == ["IdempotentReplay"] * 7 + ["NoneType"]
        assert rev_of(owner) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal_ledger SET kind = 'city'",
        "UPDATE journal_ledger SET rev = -1",
        "UPDATE journal_ledger SET turn_terms = -1",
        "UPDATE journal_change SET rev = 0",
        "INSERT INTO journal_change (ledger_id, rev, event, object_type, object_id, actor_kind, actor_id, meta, at)"
        " SELECT ledger_id, rev, event, object_type, object_id, actor_kind, actor_id, meta, at FROM journal_change",
    ],
)
def test_the_tables_guard_themselves(owner, statement):
    with ledger_write(SOMEBODY, owner.pk) as write:
        write.change(owner.pk, "ADD", "fact", 1)
    with pytest.raises(IntegrityError), transaction.atomic():
        execute(statement)


def test_ledgers_have_no_content_in_their_name(owner):
    assert str(Ledger.objects.get(pk=owner.pk)) == f"user {owner.pk}"
    assert str(factories.OperationEventFactory()) == "extract.summarize ok"


class TestTheEmbedderInsideATransaction:
    """Whatever holds a lock must not wait for a model: ``tests/conftest.py`` lets each embedder refuse that."""

    @pytest.fixture
    def embedder(self, settings):
        settings.KEEPSAKE_EMBEDDER = "hashing"
        return get_embedder()

    def test_is_refused_under_a_lock(self, owner, embedder):
        with ledger_write(SOMEBODY, owner.pk), pytest.raises(AssertionError, match="inside a transaction"):
            embedder.embed_passages(["The user keeps bees."])

    def test_is_refused_while_an_outer_transaction_keeps_the_lock(self, owner, embedder):
        with transaction.atomic():
            with ledger_write(SOMEBODY, owner.pk):
                pass
            with pytest.raises(AssertionError, match="inside a transaction"):
                embedder.embed_query("bees")

    def test_is_fine_before_and_after(self, owner, embedder):
        embedder.embed_query("bees")
        with ledger_write(SOMEBODY, owner.pk):
            pass
        assert embedder.embed_passages(["The user keeps bees."]).shape == (1, 384)

"""Statements that are put together once for all who ask in the same way."""

import contextlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from unittest import mock
from uuid import UUID

import pytest
from django.db import DataError, connection, transaction
from django.db.models import F
from django.db.transaction import TransactionManagementError

from accounts.queries import principal_for_person
from language.backends import get_embedder
from memories.actions import memory_archive
from memories.models import Memory
from memories.searching import Narrowing, present_rows, present_shape
from retrieval import prepared
from retrieval import search as searching
from retrieval.filters import Filters
from retrieval.prepared import Call, Shaped, Stepwise, build_statement, together
from retrieval.search import Corpus, SearchQuery, has_model, hybrid_search, read_columns
from tests import factories
from tests.assistant.querying import embedded

QUERY = SearchQuery("boats", None, "", 10)
CORPUS = Corpus(3, 9)
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
CONDITIONS = [
    Narrowing(),
    Narrowing(categories=frozenset({"tasks"})),
    Narrowing(Filters(pinned=False), frozenset({"procedural"})),
    Narrowing(Filters(role="user", run_id="100% sure", actor_id="o'neill")),
    Narrowing(Filters(importance_min=2, importance_max=3)),
    Narrowing(Filters(updated_after=LONG_AGO, updated_before=LONG_AGO + timedelta(days=1))),
    Narrowing(Filters(updated_after=LONG_AGO + timedelta(days=1))),
    Narrowing(Filters(agent_id=UUID(int=7))),
]


@pytest.fixture(autouse=True)
def nothing_kept():
    """As in a process that has just begun, so that a test does not see what another put together."""
    for found in (searching._hybrid, searching._centre, searching._columns, searching._alike):
        found.clear()


def found(principal, narrowing=Narrowing(), shape=True):  # noqa: B008 - it is frozen
    rows = present_shape(principal, narrowing) if shape else present_rows(principal, narrowing)
    return hybrid_search(rows, QUERY, CORPUS, columns=("content",))


@pytest.mark.parametrize("narrowing", CONDITIONS, ids=range(len(CONDITIONS)))
def test_a_shape_finds_what_its_queryset_does(owner, stranger, agent, narrowing):
    for person in (owner, stranger):
        embedded(person, ("Likes boats.", "preference"), ("Paint the boats.", "tasks"), ("Sail boats.", "procedural"))
    made = {
        "role": "user",
        "run_id": "100% sure",
        "actor_id": "o'neill",
        "agent": factories.AgentFactory(pk=UUID(int=7)),
    }
    Memory.objects.filter(category="preference").update(**made, updated_at=LONG_AGO)
    for person in (owner, stranger):
        principals = [principal_for_person(person.pk)]
        principals += [replace(principals[0], review="before"), replace(principals[0], kind="agent", agent_id=agent.pk)]
        principals += [replace(principals[0], categories=frozenset({"tasks", "preference"}))]
        for principal in principals:
            hits = found(principal, narrowing)
            assert hits == found(principal, narrowing, shape=False)
            assert set(Memory.objects.filter(pk__in=[hit.id for hit in hits]).values_list("user", flat=True)) <= {
                person.pk
            }


def test_it_is_put_together_once_for_all_who_ask_alike(owner, stranger):
    for person in (owner, stranger):
        embedded(person, "Likes boats.")
    with mock.patch.object(searching, "build_statement", wraps=build_statement) as put:
        texts = {hit.columns for person in (owner, stranger) for hit in found(principal_for_person(person.pk))}
        assert texts == {("Likes boats.",)}
        assert put.call_count == 1
        found(replace(principal_for_person(owner.pk), categories=frozenset({"tasks"})))
        assert put.call_count == 2


def test_time_goes_on_for_what_was_put_together_before(owner, monkeypatch):
    (memory,) = embedded(owner, "Likes boats.")
    principal = principal_for_person(owner.pk)
    assert len(found(principal)) == 1
    Memory.objects.filter(pk=memory.pk).update(valid_to=F("created_at"))
    assert found(principal) == []
    Memory.objects.filter(pk=memory.pk).update(valid_to=None)
    memory_archive(principal, memory.pk, version=1)
    assert found(principal) == []


def test_a_stand_in_that_stands_for_nothing_is_an_error_and_finds_nobody(owner):
    embedded(owner, "Likes boats.")
    shape = present_shape(principal_for_person(owner.pk), Narrowing())
    assert hybrid_search(shape, QUERY, CORPUS)
    with pytest.raises(KeyError):
        hybrid_search(Shaped(shape.key, shape.build, {}), QUERY, CORPUS)
    assert not shape.build().exists()


def test_whether_a_shape_has_vectors_of_a_model(owner):
    embedded(owner, "Likes boats.")
    principal = principal_for_person(owner.pk)
    name = get_embedder().name
    assert has_model(present_shape(principal, Narrowing()), name)
    assert not has_model(present_shape(principal, Narrowing()), "another")
    assert not has_model(present_shape(replace(principal, categories=frozenset()), Narrowing()), name)


@pytest.mark.parametrize("prepares", [True, False])
def test_the_server_keeps_a_lasting_statement_unless_told_not_to(owner, settings, prepares):
    settings.DATABASE_PREPARES = prepares
    (memory,) = embedded(owner, "Likes 100% of boats, says O'Neill.")
    shape = present_shape(principal_for_person(owner.pk), Narrowing())
    connection.connection._prepared.clear()
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    with mock.patch.object(connection.connection._prepared, "prepared_max", 1_000):
        assert read_columns(shape, [memory.pk], ("content",)) == [(memory.pk, "Likes 100% of boats, says O'Neill.")]
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%AS w (id)%'")
            assert cursor.fetchone() == (int(prepares),)
    assert connection.connection.prepare_threshold is None


TWELFTHS = build_statement("SELECT 12 / {number}::int, {text}::text", {}, lasting=True)


def twelfths(number):
    return TWELFTHS.run({"number": number, "text": "a"})


def test_what_the_connection_has_prepared_runs_without_a_cursor(db):
    assert twelfths(3) == [(4, "a")]
    with mock.patch.object(prepared, "RawCursor", side_effect=AssertionError):
        assert twelfths(4) == [(3, "a")]
        with pytest.raises(DataError), transaction.atomic():
            twelfths(0)
        assert twelfths(6) == [(2, "a")]
        with pytest.raises(AssertionError):
            build_statement("SELECT {other}::int", {}, lasting=True).run({"other": 1})


def test_what_the_server_has_dropped_is_prepared_again(transactional_db):
    assert twelfths(3) == [(4, "a")]
    with contextlib.suppress(KeyError), transaction.atomic():
        raise KeyError  # After a rollback psycopg drops all.
    assert twelfths(3) == [(4, "a")]


def test_a_transaction_begins_with_the_first_statement_and_ends_with_one_that_fails(transactional_db):
    assert twelfths(3) == [(4, "a")]
    started = build_statement("SELECT pg_current_xact_id()", {}, lasting=True)
    started.run({})
    with mock.patch.object(prepared, "RawCursor", side_effect=AssertionError):
        with transaction.atomic():
            assert started.run({}) == started.run({})  # Both are of one transaction.
        assert started.run({}) != started.run({})
        with pytest.raises(DataError), transaction.atomic():
            twelfths(0)
    with transaction.atomic():
        assert twelfths(4) == [(3, "a")]


def test_a_connection_that_is_left_within_a_pipeline_is_used_no_more(transactional_db):
    assert twelfths(3) == [(4, "a")]
    session = connection.connection
    interrupted = mock.patch.object(prepared, "fetch_many", side_effect=KeyboardInterrupt)
    with interrupted, pytest.raises(KeyboardInterrupt), transaction.atomic():
        twelfths(3)
    assert session.closed
    connection.close()
    assert twelfths(3) == [(4, "a")]


def test_a_failed_transaction_runs_nothing_more(db):
    assert twelfths(3) == [(4, "a")]
    with transaction.atomic():
        connection.set_rollback(True)
        with pytest.raises(TransactionManagementError):
            twelfths(3)
        connection.set_rollback(False)


def test_whoever_watches_statements_sees_every_one(db, django_assert_num_queries):
    assert twelfths(3) == [(4, "a")]
    with django_assert_num_queries(1):
        twelfths(3)
    seen = []
    with connection.execute_wrapper(lambda run, text, *rest: (seen.append(text), run(text, *rest))[1]):
        twelfths(3)
    assert seen == [TWELFTHS.text]


def test_what_a_queryset_compares_with_is_written_out_but_for_stand_ins(owner):
    rows = Memory.objects.filter(user=owner, content="5% o'clock").values_list("pk")
    written = build_statement("SELECT * FROM ({rows}) AS r (id) WHERE r.id = {id} OR r.id = {id}", {"rows": rows})
    assert "'5% o''clock'" in written.text
    assert written.parameters == ("id",)
    assert written.text.count("$1") == 2
    assert written.run({"id": "x"}) == []
    standing = build_statement("SELECT * FROM ({rows}) AS r (id)", {"rows": rows}, placeholders=["5% o'clock"])
    assert standing.parameters == ("5% o'clock",)
    assert standing.run({"5% o'clock": "x"}) == []


def test_json_is_read_as_it_is_stored_and_what_is_empty_is_nobody_else_s(db):
    given = build_statement("SELECT {one}::jsonb, {other}::jsonb, {third}::jsonb, {none}::jsonb", {})
    ((one, other, third, none),) = given.run({"one": "{}", "other": "{}", "third": '{"a": [1, {}]}', "none": None})
    assert (one, other, third, none) == ({}, {}, {"a": [1, {}]}, None)
    assert one is not other


# --- Side by side -----------------------------------------------------------------------------------------------

NUMBER = build_statement("SELECT {number}::int", {})
INVERSE = build_statement("SELECT 12 / {number}::int", {})


@Stepwise
def counted(start, steps):
    """A number for each step, each from the one before."""
    got = [start]
    for _ in range(steps):
        ((number,),) = yield Call(NUMBER, {"number": got[-1] + 1})
        got.append(number)
    return got


@Stepwise
def inverse(number):
    return (yield Call(INVERSE, {"number": number}))


def test_readings_side_by_side_take_a_round_trip_for_a_step_of_all(db):
    with mock.patch.object(prepared, "_run", wraps=prepared._run) as run:
        assert together(counted.steps(10, 3), counted.steps(20, 0), counted.steps(30, 1)) == [
            [10, 11, 12, 13],
            [20],
            [30, 31],
        ]
        assert [len(call.args[0]) for call in run.call_args_list] == [2, 1, 1]
    assert counted(5, 1) == [5, 6]
    assert together() == []


def test_what_fails_beside_others_is_an_error_of_the_database_and_leaves_the_connection_usable(db):
    with pytest.raises(DataError), transaction.atomic():
        together(counted.steps(1, 1), inverse.steps(0), counted.steps(2, 1))
    assert connection.connection.prepare_threshold is None
    assert together(inverse.steps(4), inverse.steps(6)) == [[(3,)], [(2,)]]

"""The token budget of the memory block: what goes when it is full, in which order, and what never does."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from accounts.queries import principal_for_person
from journal.actions import ledger_write
from journal.exceptions import Gated
from journal.models import Change, Ledger
from memories.actions.budget import block_evict
from memories.block import memory_block
from memories.models import Memory, MemoryVersion
from statements.models import Suppression
from tests import factories

from .rows import TEST, counted, place, recount, remember

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def evict(person, keep=()):
    with ledger_write(TEST, person.pk) as write:
        return block_evict(write, person.pk, keep=keep)


def evict_and_fail(person):
    with ledger_write(TEST, person.pk) as write:
        assert block_evict(write, person.pk)
        1 / 0  # noqa: B018


def events(person, event="EVICT"):
    return list(Change.objects.of_owner(person.pk).filter(event=event).values_list("rev", "object_id"))


def costing(tokens, number=0, **columns):
    return {"content": f"Statement number {number}.", "tokens": tokens, **columns}


def test_within_the_budget_nothing_goes_and_nothing_is_asked(owner, settings, django_assert_num_queries):
    settings.MEMORY_BLOCK_TOKENS = 20
    remember(owner, costing(10), costing(10))
    with ledger_write(TEST, owner.pk) as write, django_assert_num_queries(0):
        assert block_evict(write, owner.pk) == []


def test_the_oldest_unpinned_of_the_block_go_first(owner, stranger, settings):
    settings.MEMORY_BLOCK_TOKENS = 35
    remember(
        owner,
        costing(10, id="pinned00", created_at=NOON, pinned=True),
        costing(90, id="outside0", created_at=NOON, category="event"),
        costing(90, id="episode0", created_at=NOON, kind="episodic"),
        costing(90, id="waiting0", created_at=NOON, state="proposed"),
        costing(10, id="second00", created_at=NOON + timedelta(2), category="person", importance=5),
        costing(10, id="second0A", created_at=NOON + timedelta(2), category="tone"),
        costing(10, id="first000", created_at=NOON + timedelta(1), category="tone"),
        costing(10, id="newest00", created_at=NOON + timedelta(3), importance=1),
    )
    remember(stranger, costing(30, created_at=NOON), costing(30, created_at=NOON))
    before = principal_for_person(owner.pk).rev
    assert evict(owner) == ["first000", "second00"]
    assert events(owner) == [(before + 1, "first000"), (before + 2, "second00")]
    assert counted(owner) == recount(owner)
    assert Memory.objects.filter(user=stranger, state="active").count() == 2


def test_ids_decide_between_those_made_at_once(owner, settings):
    settings.MEMORY_BLOCK_TOKENS = 20
    remember(owner, *(costing(10, id=f"{letter}aaaaaaa", created_at=NOON) for letter in "bBaA1"))
    assert evict(owner) == ["1aaaaaaa", "Aaaaaaaa", "Baaaaaaa"]


def test_what_goes_can_be_restored(owner, settings):
    settings.MEMORY_BLOCK_TOKENS = 10
    gone, _ = remember(owner, costing(10, created_at=NOON), costing(10))
    evict(owner)
    gone.refresh_from_db()
    assert (gone.state, gone.deleted_why, gone.active_rev, gone.version) == ("archived", "evicted", None, 1)
    assert gone.purge_at - gone.deleted_at == timedelta(days=settings.ARCHIVE_DAYS)
    assert MemoryVersion.objects.filter(memory=gone, recorded_to=None).count() == 1
    assert not Suppression.objects.exists()
    assert gone.pk not in memory_block(principal_for_person(owner.pk)).ids


def test_what_the_action_wrote_itself_stays(owner, settings):
    settings.MEMORY_BLOCK_TOKENS = 20
    remember(owner, *(costing(10, id=f"{n}aaaaaaa", created_at=NOON + timedelta(n)) for n in range(3)))
    assert evict(owner, keep=["0aaaaaaa"]) == ["1aaaaaaa"]


@pytest.mark.parametrize("what", ["pinned", "place", "kept"])
def test_what_has_to_stay_can_not_be_over_the_limit(owner, settings, what):
    settings.MEMORY_BLOCK_TOKENS = 20
    (memory,) = remember(owner, costing(15, pinned=what == "pinned"))
    if what == "place":
        place(owner, "home", "Home", "a long way to go from here, over the hills and far away, behind the mountains")
    remember(owner, costing(15, number=1))
    (last,) = remember(owner, costing(21 if what == "kept" else 15, number=2, pinned=what == "pinned"))
    before = counted(owner), Change.objects.count()
    with pytest.raises(Gated) as refused:
        evict(owner, keep=[last.pk] if what == "kept" else [])
    assert refused.value.code == "budget"
    assert refused.value.extra["needed"] > 20
    assert (counted(owner), Change.objects.count()) == before
    assert Memory.objects.filter(state="active").count() == 3
    assert memory.state == "active"


def test_it_is_logged_as_a_warning_when_it_is_done(owner, settings, caplog, django_capture_on_commit_callbacks):
    caplog.set_level("WARNING")
    settings.MEMORY_BLOCK_TOKENS = 10
    remember(owner, costing(10, id="aaaaaaaa", created_at=NOON), costing(10))
    with django_capture_on_commit_callbacks(execute=True), pytest.raises(ZeroDivisionError):
        evict_and_fail(owner)
    assert "memories_evicted" not in caplog.text
    with django_capture_on_commit_callbacks(execute=True):
        evict(owner)
    assert "memories_evicted" in caplog.text
    assert "aaaaaaaa" in caplog.text
    assert str(owner.pk) in caplog.text
    assert "Statement" not in caplog.text


@pytest.mark.parametrize("number", [1, 40, 400])
def test_one_statement_takes_away_any_number(owner, settings, number):
    settings.MEMORY_BLOCK_TOKENS = 10
    remember(owner, *(costing(10, n) for n in range(number + 1)))
    with ledger_write(TEST, owner.pk) as write:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert len(block_evict(write, owner.pk)) == number
        assert len(queries) == 1
    assert [rev for rev, _ in events(owner)] == list(range(number + 2, 2 * number + 2))
    assert counted(owner) == recount(owner)


few = st.lists(
    st.fixed_dictionaries(
        {
            "tokens": st.integers(1, 60),
            "created_at": st.sampled_from([NOON, NOON + timedelta(seconds=1), NOON + timedelta(1)]),
            "category": st.sampled_from(["context", "person", "event"]),
            "pinned": st.booleans(),
        }
    ),
    max_size=12,
)


@how(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=few, limit=st.integers(1, 300), kept=st.sets(st.integers(0, 11)))
def test_no_more_goes_than_has_to_and_the_sums_are_exact(db, settings, columns, limit, kept):
    settings.MEMORY_BLOCK_TOKENS = limit
    with transaction.atomic():
        person = factories.UserFactory()
        made = remember(person, *(costing(number=n, **each) for n, each in enumerate(columns)))
        keep = [memory.pk for number, memory in enumerate(made) if number in kept]
        block = [memory for memory in made if memory.category != "event"]
        may_go = sorted(
            (memory for memory in block if not memory.pinned and memory.pk not in keep),
            key=lambda memory: (memory.created_at, memory.pk),
        )
        excess, expected = sum(memory.tokens for memory in block) - limit, []
        for memory in may_go:
            if excess > 0:
                expected.append(memory.pk)
                excess -= memory.tokens
        if excess > 0:
            with pytest.raises(Gated), transaction.atomic():
                evict(person, keep)
            assert Memory.objects.filter(user=person, state="active").count() == len(made)
        else:
            assert evict(person, keep) == expected
            assert Ledger.objects.get(pk=person.pk).block_tokens <= limit
        assert counted(person) == recount(person)
        transaction.set_rollback(True)


@pytest.mark.django_db(transaction=True)
def test_eight_who_add_at_once_stay_within_it(owner, settings, at_once):
    settings.MEMORY_BLOCK_TOKENS = 100
    remember(owner, costing(30, pinned=True))
    seen = []

    def add(number):
        for each in range(6):
            with ledger_write(TEST, owner.pk) as write:
                columns = costing(7 + number, number * 10 + each)
                (memory,) = remember(owner, columns, write=write)
                block_evict(write, owner.pk, keep=[memory.pk])
            seen.append(Ledger.objects.get(pk=owner.pk).block_tokens)

    assert at_once(add, 8) == [None] * 8
    assert max(seen) <= 100
    assert counted(owner) == recount(owner)
    revs = Change.objects.of_owner(owner.pk).values_list("rev", flat=True)
    assert list(revs) == list(range(1, len(revs) + 1))
    gone = Memory.objects.filter(user=owner, deleted_why="evicted").count()
    assert gone + Memory.objects.filter(user=owner, state="active").count() == 49

"""Several at once on one fact, on one person, on one legacy."""

import threading
from uuid import UUID

import pytest

from accounts.queries import principal_for_person
from facts import actions
from facts.models import FactVersion, LegacyFact
from journal.actions import ledger_write
from journal.exceptions import Conflict
from journal.models import Ledger
from journal.undo import register_revert, undo
from statements.models import Suppression
from tests import factories
from tests.conftest import wait_until_somebody_waits
from tests.factories import rev_of

from .conftest import now
from .test_ledgers import check_invariants

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def test_eight_edits_of_the_same_version_one_wins_and_seven_are_told(add, owner, legacy, at_once):
    fact = add(owner, legacy)
    principal = principal_for_person(owner.pk)

    def edit(number):
        return actions.fact_edit(principal, fact.pk, content=f"Rosa kept {number} bees.", version=1)

    results = at_once(edit, 8)
    won = [result for result in results if isinstance(result, LegacyFact)]
    told = [result for result in results if isinstance(result, Conflict)]
    assert (len(won), len(told)) == (1, 7)
    assert {(each.code, each.extra["current"]) for each in told} == {("version_conflict", 2)}
    assert (now(fact).version, now(fact).content) == (2, won[0].content)


def test_eight_who_retry_on_a_conflict_lose_nothing(add, owner, legacy, at_once):
    fact = add(owner, legacy)
    principal = principal_for_person(owner.pk)

    def edit(number):
        while True:
            seen = now(fact).version
            try:
                return actions.fact_edit(principal, fact.pk, content=f"Rosa kept {number} bees.", version=seen)
            except Conflict as conflict:
                if conflict.code != "version_conflict":
                    raise

    results = at_once(edit, 8)
    assert all(isinstance(result, LegacyFact) for result in results), results
    versions = list(FactVersion.objects.filter(fact=fact).order_by("number"))
    assert [version.number for version in versions] == list(range(1, 10))
    assert {version.content for version in versions[1:]} == {f"Rosa kept {number} bees." for number in range(8)}
    check_invariants(legacy, [owner])


def test_eight_who_add_the_same_words_add_them_once(owner, legacy, at_once):
    principal = principal_for_person(owner.pk)
    results = at_once(lambda _: actions.fact_add(principal, legacy.pk, "Rosa kept bees.", "hobby"), 8)
    assert sorted(type(result).__name__ for result in results) == ["Conflict"] * 7 + ["LegacyFact"]
    assert LegacyFact.objects.count() == 1


def test_two_members_write_at_once_and_the_legacy_counts_right(owner, member, legacy, at_once):
    principals = [principal_for_person(person.pk) for person in (owner, member)]

    def add(number):
        return actions.fact_add(principals[number % 2], legacy.pk, f"Rosa owned {number} spoons.", "other", "shared")

    assert all(isinstance(result, LegacyFact) for result in at_once(add, 8))
    assert Ledger.objects.get(pk=legacy.pk).facts == 8
    check_invariants(legacy, [owner, member])


def test_deciding_and_deleting_at_once_leaves_one_clear_state(add, owner, legacy, at_once):
    fact = add(owner, legacy)
    principal = principal_for_person(owner.pk)
    moves = [
        lambda: actions.fact_delete(principal, fact.pk),
        lambda: actions.fact_reject(principal, fact.pk),
        lambda: actions.fact_restore(principal, fact.pk),
        lambda: actions.fact_set_visibility(principal, fact.pk, "shared"),
    ]
    results = at_once(lambda number: moves[number % 4](), 8)
    assert all(isinstance(result, LegacyFact | Conflict) for result in results), results
    assert Suppression.objects.exists() == (now(fact).state in {"archived", "rejected"})
    check_invariants(legacy, [owner])


def test_sharing_while_leaving_leaves_nothing_shared(add, owner, member, legacy, at_once):
    fact = add(member, legacy)
    principal = principal_for_person(member.pk)
    membership = legacy.memberships.get(user=member).pk
    moves = [
        lambda: actions.member_leave(principal, legacy.pk, membership),
        lambda: actions.fact_set_visibility(principal, fact.pk, "shared"),
    ]
    at_once(lambda number: moves[number](), 2)
    assert now(fact).visibility == "private"
    assert not legacy.memberships.filter(user=member).exists()
    check_invariants(legacy, [owner, member])


def test_undo_locks_in_the_order_of_everybody_else(owner, at_once, monkeypatch):
    """What is reverted locks the person alone; whoever holds the legacy's ledger by then waits for the person's."""
    legacy = factories.LegacyFactory(id=UUID(int=1), owner=owner)  # Before any person in the order of ids.
    principal = principal_for_person(owner.pk)
    shared, other = (factories.LegacyFactFactory(legacy=legacy, user=owner) for _ in range(2))
    actions.fact_set_visibility(principal, shared.pk, "shared")
    with ledger_write(principal.actor, owner.pk) as write:
        write.change(owner.pk, "ADD", "thing", "one", thing="one")
    reverting = threading.Event()

    def revert(principal, object_id):
        with ledger_write(principal.actor, owner.pk):
            reverting.set()
            wait_until_somebody_waits()
        return ""

    monkeypatch.setattr("journal.undo._group_reverts", {})
    register_revert("thing", revert)

    def take_part(number):
        if number == 0:
            return undo(principal, rev_of(owner) - 1, rev_of(owner)).left
        assert reverting.wait(30)
        return actions.fact_set_visibility(principal, other.pk, "shared").visibility

    assert at_once(take_part, 2) == [[], "shared"]
    assert (now(shared).visibility, now(other).visibility) == ("private", "shared")
    check_invariants(legacy, [owner])

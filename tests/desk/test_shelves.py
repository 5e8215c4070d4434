"""Which facts stand on which shelf, and what an address says."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from desk.shelves import GONE, SHELVES, WAITING, Numbers, View, is_waiting, numbers_by_legacy, on_shelf, tabs
from facts import actions
from facts.models import LegacyFact
from tests.factories import LegacyFactFactory


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, View()),
        ({"show": "waiting"}, View("waiting")),
        ({"show": "everything", "category": "gossip", "page": "2"}, View(page="2")),
        ({"show": "gone", "search": " b\x00ees ", "category": "hobby"}, View("gone", "bees", "hobby")),
        ({"search": "x" * 500}, View(words="x" * 200)),
    ],
)
def test_an_address_is_read(query, expected):
    assert View.of(query) == expected


def test_a_view_is_written_as_an_address():
    view = View("shared", "bees & honey", "hobby", "3")
    assert view.query == "?show=shared&search=bees+%26+honey&category=hobby&page=3"
    assert view.at(4).query.endswith("page=4")
    assert view.on("gone") == View("gone", "bees & honey", "hobby", "")
    assert view.unfiltered.query == "?show=shared"
    assert (view.is_filtered, View().is_filtered) == (True, False)


@pytest.fixture
def in_every_state(owner, legacy):
    """One fact of the owner in each state, active ones reviewed and not."""
    facts = {}
    for state in [*LegacyFact.State.values, "reviewed"]:
        fact = facts[state] = LegacyFactFactory(legacy=legacy, user=owner)
        gone = timezone.now() if state in {"archived", "rejected"} else None
        active = state in {"active", "reviewed"}
        LegacyFact.objects.filter(pk=fact.pk).update(
            state="active" if active else state,
            reviewed_at=timezone.now() if state == "reviewed" else None,
            active_since=fact.active_since if active else None,
            hidden_at=timezone.now() if state == "hidden" else None,
            deleted_at=gone,
            purge_at=gone,
        )
    return facts


def test_every_fact_of_a_person_stands_on_a_shelf(owner, legacy, in_every_state):
    principal = principal_for_person(owner.pk)
    rows = LegacyFact.objects.visible_to(principal)
    states = {fact.pk: state for state, fact in in_every_state.items()}

    def standing_on(name):
        return {states[pk] for pk in rows.filter(on_shelf(name, principal)).values_list("pk", flat=True)}

    assert standing_on("gone") == {"archived", "rejected"}
    assert standing_on("mine") == set(states.values()) - standing_on("gone")
    assert standing_on("waiting") == {"proposed", "quarantined", "active"}
    assert standing_on("shared") == set()
    assert {tab.title: tab.count for tab in tabs(rows, principal, View())} == {
        "To review": 3, "Mine": 5, "Shared with me": 0, "Removed": 2
    }  # fmt: skip


def test_one_row_and_many_rows_wait_alike(owner, in_every_state):
    waiting = set(LegacyFact.objects.filter(WAITING).values_list("pk", flat=True))
    assert {fact.pk for fact in LegacyFact.objects.all() if is_waiting(fact)} == waiting
    assert not LegacyFact.objects.filter(WAITING & GONE).exists()


def test_numbers_by_legacy(owner, member, legacy):
    LegacyFactFactory(legacy=legacy, user=owner)
    LegacyFactFactory(legacy=legacy, user=owner, visibility="shared")
    LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
    LegacyFactFactory(legacy=legacy, user=member)
    deleted = LegacyFactFactory(legacy=legacy, user=owner)
    actions.fact_delete(principal_for_person(owner.pk), deleted.pk)
    waiting = LegacyFactFactory(legacy=legacy, user=owner)
    actions.fact_reopen(principal_for_person(owner.pk), waiting.pk)
    assert numbers_by_legacy(principal_for_person(owner.pk)) == {
        legacy.pk: Numbers(waiting=1, private=2, shared=1, from_others=1)
    }


def test_a_shelf_is_searched_and_ordered(owner, legacy):
    principal = principal_for_person(owner.pk)
    old, new = (LegacyFactFactory(legacy=legacy, user=owner, content=f"She kept {n} bees.") for n in ("two", "three"))
    LegacyFactFactory(legacy=legacy, user=owner, content="She was kind.", category="personality")
    rows = LegacyFact.objects.visible_to(principal)
    assert list(View(words="bees").select(rows, principal)) == [new, old]
    assert not View(words="bees", category="personality").select(rows, principal)
    assert View(category="personality").select(rows, principal).get().content == "She was kind."
    for fact in (old, new):
        actions.fact_reopen(principal, fact.pk)
    assert list(View("waiting").select(rows, principal)) == [old, new]
    assert list(SHELVES) == ["waiting", "mine", "shared", "gone"]

"""Which facts stand on which choice."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from desk.legacies.tabs import Numbers, in_tab, numbers_by_legacy, tab_counts
from facts import actions
from facts.models import LegacyFact
from facts.policy import is_waiting
from facts.querysets import GONE, WAITING
from tests.factories import LegacyFactFactory, fact_waits


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
            quarantined_at=timezone.now() if state == "quarantined" else None,
            deleted_at=gone,
            purge_at=gone,
        )
    return facts


def test_every_fact_of_a_person_stands_on_a_shelf(owner, legacy, in_every_state):
    principal = principal_for_person(owner.pk)
    rows = LegacyFact.objects.visible_to(principal)
    states = {fact.pk: state for state, fact in in_every_state.items()}

    def standing_on(name):
        return {states[pk] for pk in rows.filter(in_tab(name, principal)).values_list("pk", flat=True)}

    assert standing_on("gone") == {"archived", "rejected"}
    assert standing_on("mine") == set(states.values()) - standing_on("gone")
    assert standing_on("waiting") == {"proposed", "quarantined", "active"}
    assert standing_on("shared") == set()
    on_tabs = {name: sum(counts.values()) for name, counts in tab_counts(principal).items()}
    assert on_tabs == {"waiting": 3, "mine": 5, "shared": 0, "gone": 2}


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
    fact_waits(principal_for_person(owner.pk), waiting.pk)
    assert numbers_by_legacy(principal_for_person(owner.pk)) == {
        legacy.pk: Numbers(waiting=1, private=2, shared=1, from_others=1)
    }

"""Letting a fact wait for review again: what takes back an approval, a sharing, a rejection or a deletion."""

from dataclasses import replace

import pytest

from accounts.queries import principal_for_person
from facts import actions
from facts.models import LegacyFact
from journal.exceptions import Conflict, NotFound, NotYoursToDecide
from memories.models import Tombstone
from tests.factories import LegacyFactFactory, rev_of

from .conftest import now


def as_person(user):
    return principal_for_person(user.pk)


def decided(owner, legacy, *decisions):
    fact = LegacyFactFactory(legacy=legacy, user=owner)
    for decide in decisions:
        decide(as_person(owner), fact.pk)
    return fact


def share(principal, fact_id):
    actions.fact_set_visibility(principal, fact_id, "shared")


@pytest.mark.parametrize("proposed", [False, True])
@pytest.mark.parametrize(
    "decisions", [(), (share,), (actions.fact_reject,), (actions.fact_delete,), (share, actions.fact_delete)]
)
def test_a_decided_fact_waits_again(owner, legacy, decisions, proposed):
    fact = decided(owner, legacy, *decisions)
    before = rev_of(owner)
    actions.fact_reopen(as_person(owner), fact.pk, proposed=proposed)
    after = now(fact)
    assert after.state == ("proposed" if proposed else "active")
    assert (after.visibility, after.reviewed_at, after.deleted_at, after.state_reason) == ("private", None, None, "")
    assert not Tombstone.objects.exists()
    assert rev_of(owner) == before + 1


def test_reopening_a_shared_fact_takes_it_from_the_others(owner, member, legacy):
    fact = decided(owner, legacy, share)
    assert LegacyFact.objects.visible_to(as_person(member)).exists()
    before = rev_of(legacy)
    actions.fact_reopen(as_person(owner), fact.pk)
    assert not LegacyFact.objects.visible_to(as_person(member)).exists()
    assert rev_of(legacy) == before + 1


def test_what_staff_have_hidden_is_not_reopened(owner, legacy):
    fact = decided(owner, legacy, actions.fact_delete)
    LegacyFact.objects.filter(pk=fact.pk).update(hidden_at=now(fact).deleted_at)
    with pytest.raises(Conflict, match="Staff"):
        actions.fact_reopen(as_person(owner), fact.pk)
    assert now(fact).state == "archived"


def test_a_fact_that_is_there_anew_is_not_reopened(owner, legacy):
    fact = decided(owner, legacy, actions.fact_delete)
    LegacyFactFactory(legacy=legacy, user=owner, content=fact.content)
    with pytest.raises(Conflict) as refused:
        actions.fact_reopen(as_person(owner), fact.pk)
    assert refused.value.code == "similar_exists"
    assert now(fact).state == "archived"


def test_only_its_author_reopens_a_fact(owner, member, legacy):
    fact = decided(owner, legacy, share)
    with pytest.raises(NotFound):
        actions.fact_reopen(as_person(member), fact.pk)
    assert now(fact).visibility == "shared"


def test_an_agent_reopens_nothing(owner, legacy, agent):

    fact = decided(owner, legacy)
    with pytest.raises(NotYoursToDecide):
        actions.fact_reopen(replace(as_person(owner), scopes=frozenset({"read", "write"})), fact.pk)
    assert now(fact).reviewed_at is not None

"""An agent's undo brings back no fact, and no wording of one, that the person rejected."""

import pytest

from accounts.actions import preferences_set
from facts import actions
from journal.exceptions import NotFound, NotYoursToDecide
from journal.undo import undo
from tests import factories
from tests.factories import rev_of

from .conftest import now

pytestmark = pytest.mark.django_db

BREAD = "Rosa baked bread every Sunday."


def whys(undone):
    return [each.why for each in undone.left]


@pytest.fixture
def backend(service, owner):
    """The principal of a service that decides for ``owner``."""
    return factories.agent_principal(service, owner, scopes=("read", "write", "admin"))


def test_an_agent_brings_back_nothing(bot, me, owner, legacy):
    fact = actions.fact_add(bot, legacy.pk, BREAD, "habit")
    undo(bot, rev_of(owner), rev_of(owner))
    rev = rev_of(owner)
    actions.fact_reject(me, actions.fact_add(bot, legacy.pk, BREAD, "habit").pk)
    assert whys(undo(bot, rev, rev)) == ["not_yours"]
    with pytest.raises(NotYoursToDecide):
        actions.fact_restore(bot, fact.pk)
    assert now(fact).state == "archived"


def test_an_agent_takes_back_a_fact_of_its_own_that_waits(bot, me, owner, legacy):
    preferences_set(me, review="before")
    fact = actions.fact_add(bot, legacy.pk, BREAD, "habit")
    rev = rev_of(owner)
    with pytest.raises(NotFound):
        undo(factories.agent_principal(factories.AgentFactory(owner=owner), owner), rev, rev)
    assert whys(undo(bot, rev, rev)) == []
    assert now(fact).state == "archived"


@pytest.mark.parametrize("how", ["restore", "undo"])
def test_the_person_brings_it_back(me, owner, legacy, add, how):
    fact = add(owner, legacy, BREAD)
    rev = rev_of(owner)
    undo(me, rev, rev)
    rev = rev_of(owner)
    actions.fact_reject(me, add(owner, legacy, BREAD).pk)
    if how == "restore":
        actions.fact_restore(me, fact.pk)
    else:
        assert whys(undo(me, rev, rev)) == []
    assert now(fact).state == "active"


@pytest.mark.parametrize(("rejected", "why"), [(BREAD, ["rejected_before"]), ("Rosa kept bees.", [])])
def test_a_service_is_refused_a_wording_that_was_rejected(backend, owner, me, legacy, add, rejected, why):
    fact = actions.fact_add(backend, legacy.pk, BREAD, "habit")
    actions.fact_edit(backend, fact.pk, content="Rosa kept hens behind the house.")
    rev = rev_of(owner)
    actions.fact_reject(me, add(owner, legacy, rejected).pk)
    assert whys(undo(backend, rev, rev)) == why
    assert now(fact).content == ("Rosa kept hens behind the house." if why else BREAD)

"""What the person rejected does not come back as an older memory with the same words: only they restore it."""

from dataclasses import replace

import pytest

from journal.undo import undo
from memories import actions
from memories.models import Memory
from memories.records import NewMemory
from statements.models import RejectionReason, Suppression
from statements.policy.resembling import RESEMBLES
from tests.factories import rev_of
from tests.memories.rest import add, refusal, url

from .state import check, now

pytestmark = pytest.mark.django_db

BREAD = "The user bakes bread every Sunday."
LIKE = "Every Sunday the user bakes bread."


@pytest.fixture
def deleted(api, agent, owner):
    """``deleted(content)``: a memory of an agent that it deleted, with the revision of that."""

    def deleted(content=BREAD, **values):
        memory = add(api(agent), content, "context", **values)
        assert api(agent).delete(url(memory)).status_code == 204
        return Memory.objects.get(pk=memory["id"]), rev_of(owner)

    return deleted


@pytest.fixture
def reject(api, agent, me):
    """``reject(content)``: the agent adds it again, and the person rejects that."""

    def reject(content=BREAD, reason=RejectionReason.NOT_TRUE):
        actions.memory_reject(me, add(api(agent), content, "context")["id"], reason)

    return reject


def undone(client, rev):
    """Why a revision is not undone, over REST."""
    answer = client.post("/api/v1/changes/undo/", {"first": rev, "last": rev}, format="json")
    assert answer.status_code == 200, answer.content
    return [each["why"] for each in answer.json()["left"]]


@pytest.mark.parametrize("reason", RejectionReason)
def test_an_agent_is_refused_the_same_words(api, agent, owner, deleted, reject, reason):
    old, rev = deleted()
    reject(reason=reason)
    assert refusal(api(agent).post(url(old, "restore/"))) == (422, "rejected_before")
    assert undone(api(agent), rev) == ["rejected_before"]
    assert now(old).state == "archived"
    assert Suppression.objects.count() == 1
    check(owner)


@pytest.mark.parametrize("beside", [{"subject": "bakes every Sunday"}, {"topics": ["bakes", "every Sunday"]}])
def test_nor_does_it_come_back_beside_another_statement(api, agent, owner, deleted, reject, beside):
    old, rev = deleted("The user keeps hens.", **beside)
    kept = add(api(agent), "The user drinks tea.", "context", **beside)
    api(agent).patch(url(kept), {"subject": "", "topics": []}, format="json")
    refiled = rev_of(owner)
    reject("The user bakes every Sunday.")
    assert refusal(api(agent).post(url(old, "restore/"))) == (422, "rejected_before")
    assert undone(api(agent), rev) == undone(api(agent), refiled) == ["rejected_before"]
    assert now(old).state == "archived"


def test_what_resembles_it_waits_or_stays(api, agent, owner, me, deleted, reject):
    old, rev = deleted(LIKE)
    reject()
    assert undone(api(agent), rev) == ["rejected_before"]
    waiting = api(agent).post(url(old, "restore/")).json()
    assert (waiting["state"], waiting["state_reason"]) == ("proposed", RESEMBLES)
    assert Suppression.objects.count() == 1
    actions.proposal_approve(me, old.proposals.get(state="waiting").pk)
    assert now(old).state == "active"
    check(owner)


def test_what_waits_for_the_person_may_resemble_it(api, agent, owner, deleted, reject):
    reject()
    old, _rev = deleted(LIKE)
    assert undone(api(agent), rev_of(owner)) == []
    assert now(old).state == "proposed"


def test_without_a_rejection_both_restore(api, agent, owner, deleted):
    old, rev = deleted()
    assert undone(api(agent), rev) == []
    assert api(agent).delete(url(old)).status_code == 204
    assert api(agent).post(url(old, "restore/")).json()["state"] == "active"
    check(owner)


@pytest.mark.parametrize("how", ["restore", "undo"])
def test_the_person_brings_it_back(api, owner, me, deleted, reject, how):
    old, rev = deleted()
    reject()
    if how == "restore":
        assert api(owner).post(url(old, "restore/")).json()["state"] == "active"
        assert not Suppression.objects.exists()
    else:
        assert undo(me, rev, rev).left == []
    assert now(old).state == "active"
    check(owner)


def test_a_narrowed_agent_does_not_learn_of_it(bot, owner, me, deleted):
    old, rev = deleted()
    actions.memory_reject(me, actions.memory_add(me, NewMemory(BREAD, "interests")).memory.pk)
    narrowed = replace(bot, categories=frozenset({"context"}))
    assert [each.why for each in undo(narrowed, rev, rev).left] == ["not_yours"]
    assert actions.memory_restore(narrowed, old.pk).state == "proposed"
    assert Suppression.objects.count() == 1

"""Statements are compared with what was rejected before the ledger is locked, and again if more was rejected."""

import pytest

from facts.actions import fact_add, fact_edit
from journal import verdicts
from journal.actions import holds_ledgers
from journal.undo import undo
from memories.actions import (
    adding,
    memories_add,
    memories_decide,
    memory_add,
    memory_approve,
    memory_archive,
    memory_reject,
)
from memories.actions.editing import memory_update
from memories.models import Memory
from memories.records import Addition, NewMemory
from statements import querysets
from statements.policy.resembling import RESEMBLES, matching
from tests import factories
from tests.factories import rev_of

pytestmark = pytest.mark.django_db

BOAT, OWN_BOAT, YACHT = (
    "The user owns a small sailing boat.",
    "The user has their own little boat.",
    "The user sails their own yacht.",
)
BREAD = "The user bakes bread on Saturdays."


@pytest.fixture(autouse=True)
def _real_vectors(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


@pytest.fixture
def compared(monkeypatch):
    """Whether each comparison was made under a lock, in order."""
    under_lock = []

    def noted(*args):
        under_lock.append(holds_ledgers())
        return matching(*args)

    monkeypatch.setattr(querysets, "matching", noted)
    return under_lock


def reject(me, content=BOAT):
    memory_reject(me, memory_add(me, NewMemory(content, "context")).memory.pk)


@pytest.fixture
def bot_add(bot):
    return lambda content: memory_add(bot, NewMemory(content, "context"), insist=True).memory


def _decided(me, memory):
    memories_decide(me, {memory.pk: None}, "approve")


WAYS = {
    "add": lambda bot, kept: memory_add(bot, NewMemory(OWN_BOAT, "context"), insist=True),
    "add many": lambda bot, kept: memories_add(bot, [Addition(NewMemory(OWN_BOAT, "context"), True)]),
    "update": lambda bot, kept: memory_update(bot, kept.pk, OWN_BOAT),
}


@pytest.mark.parametrize("way", WAYS)
def test_an_agents_statement_is_compared_before_the_lock(me, bot, bot_add, compared, way):
    kept = bot_add(BREAD)
    reject(me)
    compared.clear()
    WAYS[way](bot, kept)
    assert compared
    assert not any(compared)
    assert Memory.objects.get(proposals__reason=RESEMBLES, proposals__state="waiting")


@pytest.mark.parametrize("approve", [lambda me, held: memory_approve(me, held.pk), _decided])
def test_so_is_what_the_person_approves(me, bot_add, compared, approve):
    reject(me)
    held = bot_add(OWN_BOAT)
    compared.clear()
    approve(me, held)
    assert compared
    assert not any(compared)


def test_and_a_fact(owner, me, bot, compared):
    legacy = factories.LegacyFactory(owner=owner)
    reject(me)
    compared.clear()
    held = fact_add(bot, legacy.pk, "The user has their own little boat.", "hobby")
    fact_edit(me, held.pk, approve=True)
    assert compared
    assert not any(compared)


def test_what_is_rejected_while_the_lock_is_waited_for_counts(me, bot_add, compared, monkeypatch):
    """Otherwise it would slip through, or be compared under the lock."""
    read, others = adding.compare_ahead, [BOAT, "The user is the owner of a little boat of their own."]

    def reject_meanwhile(*args):
        reading = read(*args)
        if others:
            reject(me, others.pop())
        return reading

    monkeypatch.setattr(adding, "compare_ahead", reject_meanwhile)
    held = bot_add(YACHT)
    assert (held.state, held.state_reason, others) == ("proposed", RESEMBLES, [])
    assert compared
    assert not any(compared)


def test_an_agent_s_undo_compares_before_its_locks(owner, bot, me, bot_add, compared):
    memory_archive(bot, bot_add(OWN_BOAT).pk)
    archived = rev_of(owner)
    reject(me)
    compared.clear()
    assert [each.why for each in undo(bot, archived, archived).left] == ["rejected_before"]
    assert compared
    assert not any(compared)


def test_after_too_many_runs_it_is_compared_under_the_lock(me, bot_add, compared, monkeypatch, settings):
    settings.KEEPSAKE_ENTAILMENT = "off"  # It refuses to run there, in tests.
    monkeypatch.setattr(verdicts, "_TRIES", 0)
    monkeypatch.setattr(adding, "compare_ahead", lambda *args: None)
    reject(me)
    compared.clear()
    assert bot_add(OWN_BOAT).state == "proposed"
    assert all(compared)

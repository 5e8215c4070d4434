"""What nobody uses is archived, can be fetched back, and goes for good later (003, 7)."""

from datetime import timedelta
from io import StringIO

import pytest
import time_machine
from django.core.management import call_command
from django.db import OperationalError
from django.utils import timezone
from psycopg.errors import LockNotAvailable, QueryCanceled

from accounts import categories
from accounts.queries import principal_for_person
from assistant.recall.query import Question, answer_question
from assistant.recall.turn import prepare_turn
from conversations.actions import conversation_create
from desk.memories.history import make_memory_history
from journal.actions import ledger_write
from memories import actions, tasks
from memories.block import memory_block
from memories.delta import memory_delta
from memories.lifecycle import leaving_soon
from memories.models import MemoryEvidence
from memories.policy.leaving import gone_because
from tests import factories
from tests.factories import rev_of

from .rows import remember, reword
from .state import changes, check, now

pytestmark = pytest.mark.django_db

LATER = timedelta(days=61)


def forgotten(memories, at=LATER):
    """Which of some memories were archived when so long has passed."""
    with time_machine.travel(timezone.now() + at):
        tasks.forget_unused()
    return [memory for memory in memories if now(memory).state == "archived"]


def test_unused_for_60_days_of_little_weight_not_pinned_and_no_field(owner):
    memories = remember(
        owner,
        {"content": "Went to a fair.", "category": "event"},
        {"content": "Weighs more.", "category": "event", "importance": 3},
        {"content": "Is pinned.", "category": "event", "pinned": True},
        {"content": "Lives in Porto.", "category": "event", "field": "city"},
        {"content": "Stands in the block.", "category": "context"},
    )
    assert forgotten(memories, timedelta(days=59)) == []
    assert forgotten(memories) == memories[:1]
    gone = now(memories[0])
    assert (gone.deleted_why, gone.purge_at - gone.deleted_at) == ("ttl", timedelta(days=30))
    history = make_memory_history(principal_for_person(owner.pk), gone)
    assert history[0].what == "put it away, as nobody used it"
    assert gone_because(gone) == "Put away as nobody used it"
    check(owner)


def test_what_had_an_end_is_called_expired_only_when_that_came(owner):
    end = timezone.now() + timedelta(days=90)
    early, late = remember(
        owner, *({"content": f"Went to fair {n}.", "category": "event", "expires_at": end} for n in range(2))
    )
    assert forgotten([early]) == [early]
    actions.memory_restore(principal_for_person(owner.pk), late.pk)
    with time_machine.travel(end + timedelta(hours=1)):
        tasks.expire_memories()
    assert [gone_because(now(each)) for each in (early, late)] == ["Put away as nobody used it", "Expired"]


def test_recalled_said_again_or_edited_is_used_and_a_block_that_was_shown_is_not(owner):
    memories = remember(owner, *({"content": f"Saw film {n}.", "category": "event"} for n in range(4)))
    recalled, said, edited, shown = memories
    with time_machine.travel(timezone.now() + timedelta(days=30)):
        actions.memories_used([recalled.pk], timezone.now())
        message = factories.MessageFactory(conversation=factories.ConversationFactory(user=owner))
        MemoryEvidence.objects.create(version=said.versions.get(), message=message, quote="film")
        reword(edited, "Saw another film.", updated_at=timezone.now())
        memory_block(principal_for_person(owner.pk))
    assert forgotten(memories) == [shown]


def test_what_the_block_carries_only_while_it_is_over_half_its_budget(owner, settings):
    memories = remember(owner, "Stands in the block.")
    assert forgotten(memories) == []
    settings.MEMORY_BLOCK_TOKENS = memories[0].tokens
    assert forgotten(memories) == memories


@pytest.mark.parametrize(("cause", "is_raised"), [(LockNotAvailable, False), (QueryCanceled, True)])
def test_rows_that_somebody_keeps_locked_leave_those_of_others(owner, stranger, monkeypatch, cause, is_raised):
    """Reproduction: one person's locked row ended the nightly archiving for all that came after them."""
    fair = {"content": "Went to a fair.", "category": "event"}
    locked, *others = sorted([*remember(owner, fair), *remember(stranger, fair)], key=lambda each: each.user_id)

    def refuse(actor, user_id):
        if user_id == locked.user_id:
            raise OperationalError from cause()
        return ledger_write(actor, user_id)

    monkeypatch.setattr("accounts.upkeep.ledger_write", refuse)
    if is_raised:
        with pytest.raises(OperationalError):
            forgotten(others)
    else:
        assert forgotten([locked, *others]) == others


def test_by_category_in_categories_yaml(owner, monkeypatch):
    known = categories.load()
    rules = {"event": {"unused_days": 10}, "history": {"unused_days": 0}, "knowledge": {"forget_below": 1}}
    by_name = {
        name: categories.Category(name, each.context, each.rag_length, **rules.get(name, {}))
        for name, each in known.by_name.items()
    }
    monkeypatch.setattr(categories, "load", lambda: categories.Categories(by_name, known.aliases, known.allowlists))
    memories = remember(owner, *({"content": f"Of {name}.", "category": name} for name in [*rules, "interests"]))
    assert forgotten(memories, timedelta(days=11)) == memories[:1]
    assert forgotten(memories) == [memories[0], memories[3]]


def test_a_rule_that_is_none_is_a_fault():
    own = {"categories": {"system": [{"name": "pets", "context": "rag", "unused_days": -1, "forget_below": True}]}}
    _, faults = categories.parse(own)
    assert [fault.split(" of ")[0] for fault in faults] == ["the unused_days", "the forget_below"]


def test_a_dry_run_lists_and_changes_nothing(owner):
    (memory,) = remember(owner, {"content": "Went to a fair.", "category": "event"})
    out = StringIO()
    with time_machine.travel(timezone.now() + LATER):
        call_command("forget_unused", "--dry-run", stdout=out)
        assert f"{owner.pk} {memory.pk} event 2" in out.getvalue()
        assert "fair" not in out.getvalue()
        assert now(memory).state == "active"
        call_command("forget_unused", stdout=out)
    assert "1 archived." in out.getvalue()
    assert now(memory).state == "archived"


def test_delta_surfaces_the_transition_once(owner):
    memories = remember(owner, {"content": "Went to a fair.", "category": "event"})
    before = rev_of(owner)
    forgotten(memories)
    told = memory_delta(principal_for_person(owner.pk), before)
    assert told.count("archived: [event]") == 1
    assert "fair" not in told
    assert memory_delta(principal_for_person(owner.pk), rev_of(owner)) is None


def test_no_soft_deleted_items_in_context(owner):
    memories = remember(owner, {"content": "Went to a fair in Ghent.", "category": "event"}, "The user likes fairs.")
    principal = principal_for_person(owner.pk)
    question = Question("fair", categories=("event",))
    assert [each.id for each in answer_question(principal, question).results] == [memories[0].pk]
    forgotten(memories[:1])
    assert answer_question(principal, question).results == []
    assert "Ghent" not in memory_block(principal).text
    talk = conversation_create(principal)
    assert "Ghent" not in prepare_turn(principal, talk.pk, "Which fair was it?", format="text").text


def test_restorable_until_the_purge_which_removes_it_after_purge_at(owner, me):
    kept, gone = memories = remember(owner, *({"content": f"Saw film {n}.", "category": "event"} for n in range(2)))
    assert forgotten(memories) == memories
    with time_machine.travel(timezone.now() + timedelta(days=90)):
        tasks.purge_memories()
        assert actions.memory_restore(me, kept.pk).state == "active"
        tasks.forget_unused()
        assert now(kept).state == "active"
    with time_machine.travel(timezone.now() + timedelta(days=92)):
        tasks.purge_memories()
    assert not type(gone).objects.filter(pk=gone.pk).exists()
    assert changes(owner)[-1] == "PURGE"
    check(owner)


def test_what_made_room_and_was_important_goes_last_and_is_announced(owner, me, settings):
    memories = remember(owner, {"content": "Is allergic to nuts.", "importance": 5}, "Keeps bees.")
    settings.MEMORY_BLOCK_TOKENS = 30
    factories.MemoryFactory(user=owner, content="The user keeps hens.")
    weighty, light = (now(memory) for memory in memories)
    assert {weighty.deleted_why, light.deleted_why} == {"evicted"}
    assert weighty.purge_at - light.purge_at == timedelta(days=30)
    assert leaving_soon(me) is None
    with time_machine.travel(timezone.now() + timedelta(days=47)):
        tasks.purge_memories()
        soon = leaving_soon(me)
        assert (soon.count, soon.first_at) == (1, weighty.purge_at)


def test_of_what_made_room_important_memories_are_purged_last_and_announced_14_days_before(owner, me, settings):
    weighty, light = remember(owner, {"content": "Is allergic to nuts.", "importance": 5}, "Keeps bees.")
    settings.MEMORY_BLOCK_TOKENS = 30
    factories.MemoryFactory(user=owner, content="The user keeps hens.")
    rows, begun = type(weighty).objects.filter(pk__in=[weighty.pk, light.pk]), timezone.now()
    for days, left, announced in ((29, {weighty.pk, light.pk}, False), (31, {weighty.pk}, False),
                                  (45, {weighty.pk}, False), (47, {weighty.pk}, True), (61, set(), False)):  # fmt: skip
        with time_machine.travel(begun + timedelta(days=days)):
            tasks.purge_memories()
            assert set(rows.values_list("pk", flat=True)) == left, days
            assert (leaving_soon(me) is not None) == announced, days


def test_a_category_of_the_file_says_how_long_and_from_which_weight():
    own = {"categories": {"system": [{"name": "pets", "context": "rag", "unused_days": 10, "forget_below": 2}]}}
    known, faults = categories.parse(own)
    assert faults == []
    assert (known.by_name["pets"].unused_days, known.by_name["pets"].forget_below) == (10, 2)

"""What counts while a person reviews before: of what was remembered earlier, only what they have looked at."""

from dataclasses import replace

import pytest
from django.utils import timezone

from accounts.actions import preferences_set
from accounts.queries import principal_for_job, principal_for_person
from journal.undo import undo
from memories import actions
from memories.block import memory_block
from memories.document import memory_document
from memories.models import Memory
from memories.policy import writing
from tests import factories

from .rest import contents, url
from .rows import counted, recount, remember
from .state import check, now

pytestmark = pytest.mark.django_db

BEES, HENS, BOATS = "The user keeps bees.", "The user keeps hens.", "The user rows a boat."


@pytest.fixture
def me_now(owner):
    """``me_now()`` is the owner as their next request comes."""
    return lambda: principal_for_person(owner.pk)


@pytest.fixture
def review(me_now):
    """``review("before")``: what the owner chooses."""
    return lambda how: preferences_set(me_now(), review=how)


@pytest.fixture
def other_bot(owner):
    """Another agent of the owner."""
    return factories.agent_principal(factories.AgentFactory(name="second", owner=owner))


@pytest.fixture
def memories(me, bot, add):
    """Three memories: the person's own word, one that an agent wrote, and one of an agent that was approved."""
    approved = add(bot, BOATS).memory
    actions.memory_approve(me, approved.pk)
    return add(me, BEES).memory, add(bot, HENS).memory, approved


def test_the_block_holds_what_was_reviewed_and_takes_the_rest_back_in(memories, me_now, review):
    assert all(words in memory_block(me_now()).text for words in (BEES, HENS, BOATS))
    review("before")
    text = memory_block(me_now()).text
    assert BEES in text
    assert BOATS in text
    assert HENS not in text
    actions.memory_approve(me_now(), memories[1].pk)
    assert HENS in memory_block(me_now()).text
    undo(me_now(), me_now().rev, me_now().rev)
    assert HENS not in memory_block(me_now()).text
    review("after")
    assert HENS in memory_block(me_now()).text


def test_a_conversation_that_stays_with_a_revision_leaves_it_out_too(memories, me_now, review):
    rev = me_now().rev
    review("before")
    assert HENS not in memory_block(me_now(), as_of_rev=rev).text


def test_an_agent_sees_of_it_what_it_added_itself(memories, bot, other_bot, backend, me_now, review, owner):
    review("before")
    seen = {
        name: set(Memory.objects.visible_to(replace(who, review="before")).values_list("content", flat=True))
        for name, who in {"its own": bot, "another": other_bot, "one that decides": backend}.items()
    }
    assert seen == {
        "its own": {BEES, HENS, BOATS},
        "another": {BEES, BOATS},
        "one that decides": {BEES, HENS, BOATS},
    }
    assert Memory.objects.visible_to(principal_for_job(owner.pk)).count() == 3
    assert Memory.objects.visible_to(me_now()).count() == 3


def test_what_it_may_not_see_is_not_there_over_rest(memories, api, owner, agent, review):
    second = factories.AgentKeyFactory(agent=factories.AgentFactory(name="second", owner=owner))
    review("before")
    assert set(contents(api(second).get("/api/v1/memories/"))) == {BEES, BOATS}
    assert api(second).get(url(memories[1])).status_code == 404
    assert api(second).get(url(memories[1], "history/")).status_code == 404
    assert api(second).put(url(memories[1]), {"content": "The user keeps geese."}).status_code == 404
    assert set(contents(api(owner).get("/api/v1/memories/"))) == {BEES, HENS, BOATS}
    assert HENS not in api(agent).get("/api/v1/memories/context/").json()["text"]


def test_archived_ones_that_nobody_reviewed_stay_hidden_from_other_agents(memories, bot, other_bot, review):
    actions.memory_archive(bot, memories[1].pk)
    review("before")
    assert memories[1] not in Memory.objects.visible_to(replace(other_bot, review="before"))
    assert memories[1] in Memory.objects.visible_to(other_bot)


@pytest.mark.parametrize(("how", "used"), [("after", True), ("before", False)])
def test_in_use(memories, me_now, review, how, used):
    review(how)
    assert (memories[1] in Memory.objects.visible_to(me_now()).in_use(me_now())) is used
    assert writing.is_unused(now(memories[1]), how) is not used
    assert not writing.is_unused(now(memories[0]), how)
    assert writing.is_used("archived", timezone.now(), how) is False


def test_what_is_proposed_is_unused_and_what_is_gone_is_neither(me, cautious, add):
    proposed = add(cautious, HENS).memory
    gone = add(me, BEES).memory
    actions.memory_archive(me, gone.pk)
    assert writing.is_unused(now(proposed), "after")
    assert not writing.is_unused(now(gone), "before")


def test_nobody_in_particular_has_all_that_is_active(memories, moderator):
    assert Memory.objects.in_use(replace(moderator, review="before")).count() == 3


def test_the_document_tells_apart_what_counts(memories, me_now, review):
    def told():
        document = memory_document(me_now())
        active = {fact["content"] for fact in document["facts"] if fact["is_active"]}
        return active, document["metadata"]["total_active_facts"], document["metadata"]["token_count"]

    everything = told()
    assert everything[:2] == ({BEES, HENS, BOATS}, 3)
    review("before")
    assert told() == ({BEES, BOATS}, 2, everything[2] - now(memories[1]).tokens)
    assert len(memory_document(me_now())["facts"]) == 3


def test_the_ledger_keeps_its_place_so_that_an_approval_never_overflows(memories, owner, me_now, review, settings):
    before = counted(owner)
    review("before")
    assert counted(owner) == before == recount(owner)
    settings.MEMORY_BLOCK_TOKENS = before["block_tokens"]
    actions.memory_approve(me_now(), memories[1].pk)
    review("after")
    assert counted(owner) == before
    assert not Memory.objects.exclude(state="active").exists()
    check(owner)


def test_what_makes_room_stays_within_the_budget_while_reviewing_before(owner, bot, me_now, review, add, settings):
    remember(owner, *({"content": f"Statement number {n}.", "tokens": 100} for n in range(5)))
    review("before")
    settings.MEMORY_BLOCK_TOKENS = 350
    add(me_now(), BEES)
    assert counted(owner) == recount(owner)
    assert counted(owner)["block_tokens"] <= 350
    review("after")
    assert memory_block(me_now()).tokens <= 350 + 100  # The fence, the note and headings are not in the budget.


def test_the_block_stays_one_read(owner, me_now, review, django_assert_num_queries):
    review("before")
    remember(owner, *(f"Statement number {number}." for number in range(20)))
    principal = me_now()
    with django_assert_num_queries(2):
        memory_block(principal)

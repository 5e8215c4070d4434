"""The delta header: what a conversation is told of changes in memory, in which words, and until when."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from conversations.actions import NewMessage, conversation_create, messages_append
from conversations.models import Conversation
from memories import actions
from memories.delta import memory_delta
from memories.models import Memory
from memories.records import NewMemory
from tests import factories
from tests.memories.rows import remember

from .querying import ask

pytestmark = pytest.mark.django_db


@pytest.fixture
def me(owner):
    """``me()`` is the owner as their next request comes."""
    return lambda: principal_for_person(owner.pk)


@pytest.fixture
def add(me):
    def add(content, category="goals", **values):
        return actions.memory_add(me(), NewMemory(content, category, **values), insist=True).memory

    return add


@pytest.fixture
def opened(me):
    """A new conversation of the owner."""
    return conversation_create(me())


def turn(client, talk, **body):
    answer = client.post(f"/api/v1/conversations/{talk.pk}/turn/", {"content": "Hello?", **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def reply(me, talk):
    messages_append(me(), talk.pk, [NewMessage("user", "Hello?"), NewMessage("assistant", "Hello!")])


def fenced_delta(since, *lines):
    return "\n".join(["<memory_updates>", f"Memory updates since rev {since}:", *lines, "</memory_updates>"])


def test_header_appears_when_changes_exist(api, owner, me, add, opened):
    """And is absent when there are none: in the turn, in the query and in the context of a conversation."""
    ways = {
        "turn": lambda: turn(api(owner), opened)["delta"],
        "query": lambda: ask(api(owner), "x", conversation=str(opened.pk))["delta"],
        "context": lambda: api(owner).get(f"/api/v1/memories/context/?conversation={opened.pk}").json()["delta"],
    }
    assert {way: tell() for way, tell in ways.items()} == dict.fromkeys(ways)
    memory = add("Ship v1 by <September>.", importance=4)
    told = fenced_delta(0, f"- +created: [goals] [id:{memory.pk}] Ship v1 by &lt;September&gt;. (imp=4)")
    assert {way: tell() for way, tell in ways.items()} == dict.fromkeys(ways, told)
    assert api(owner).get("/api/v1/memories/context/").json()["delta"] is None
    assert ask(api(owner), "x")["delta"] is None


def test_in_a_turn_it_stands_below_the_boundary_after_the_time(api, owner, add, opened):
    before = turn(api(owner), opened, save=True)
    add("Ship v1 by September.")
    after = turn(api(owner), opened)
    above, below = after["system"]
    assert above == before["system"][0]
    assert below["text"].split("\n\n")[1].startswith("Current datetime: ")
    assert below["text"].split("\n\n")[2] == after["delta"]
    assert after["text"].count("Memory updates since") == 1


def test_size_is_at_most_three_bullets(me, add):
    memories = [add(f"Goal number {number} is to win.", importance=number % 5 + 1) for number in range(7)]
    lines = memory_delta(me(), 0).split("\n")[1:-1]
    assert len(lines) == 4
    assert memories[4].pk in lines[1]
    assert memories[3].pk in lines[2]
    assert lines[3] == "- +5 more"
    three = memory_delta(me(), me().rev - 3).split("\n")[1:-1]
    assert len(three) == 4
    assert "more" not in three[-1]


def test_newest_and_most_important_first(me, add):
    old, important, new = add("Old goal."), add("Important goal.", importance=5), add("New goal.")
    order = [memory_delta(me(), 0).index(memory.pk) for memory in (important, new, old)]
    assert order == sorted(order)


def test_a_long_memory_is_quoted_in_part(me, add):
    add("Goals: " + "win " * 120)
    assert len(memory_delta(me(), 0)) < 320


def test_rev_increments_atomically(api, owner, me, add, opened):
    """What was told counts once the reply is saved, in its transaction; what changed in between is told next."""
    first = add("Ship v1.")
    told = turn(api(owner), opened, save=True)
    assert first.pk in told["delta"]
    again = turn(api(owner), opened)
    assert again["delta"] == told["delta"]
    second = add("Ship v2 later.")
    reply(me, opened)
    conversation = Conversation.objects.get(pk=opened.pk)
    assert conversation.seen_rev == told["revision"] == again["revision"]
    after = turn(api(owner), opened)["delta"]
    assert second.pk in after
    assert first.pk not in after
    assert after.startswith(f"<memory_updates>\nMemory updates since rev {conversation.seen_rev}:")
    reply(me, opened)
    assert turn(api(owner), opened)["delta"] is None


@pytest.mark.django_db(transaction=True)
def test_the_revision_never_goes_back_however_many_save_at_once(api, owner, me, add, at_once):
    talk = conversation_create(me())
    for number in range(3):
        add(f"Goal number {number}.")
        turn(api(owner), talk)
    told = Conversation.objects.get(pk=talk.pk).told_rev
    assert told == me().rev
    results = at_once(lambda _: reply(me, talk), 6)
    assert results == [None] * 6
    conversation = Conversation.objects.get(pk=talk.pk)
    assert (conversation.seen_rev, conversation.message_count) == (told, 12)


def test_a_users_message_alone_moves_nothing(api, owner, me, add, opened):
    add("Ship v1.")
    turn(api(owner), opened, save=True)
    assert Conversation.objects.get(pk=opened.pk).seen_rev == 0
    messages_append(me(), opened.pk, [NewMessage("user", "Well?")])
    assert Conversation.objects.get(pk=opened.pk).seen_rev == 0


def test_a_new_conversation_starts_at_the_current_rev(api, owner, me, add):
    add("Ship v1.")
    talk = conversation_create(me())
    assert talk.seen_rev == me().rev > 0
    assert turn(api(owner), talk)["delta"] is None


def test_each_event_has_its_words(me, add):
    goal, tone, gone, wrong, held = (
        add("Ship v1 by May."),
        add("Be brief.", "tone"),
        add("Likes tea."),
        add("Hates tea."),
        add("Tea time."),
    )
    since = me().rev
    actions.memory_update(me(), goal.pk, "Ship v1 by June.")
    actions.memory_amend(me(), tone.pk, category="style")
    actions.memory_archive(me(), gone.pk)
    actions.memory_reject(me(), wrong.pk)
    told = set(everything(me(), since))
    assert told == {
        f"- ↑updated: [goals] [id:{goal.pk}] Ship v1 by June. (imp=2)",
        f"- ↑updated: [style] [id:{tone.pk}] Be brief. (imp=2)",
        f"- −archived: [goals] id:{gone.pk}",
        f"- −rejected: [goals] id:{wrong.pk}",
    }
    since = me().rev
    actions.memory_restore(me(), gone.pk)
    actions.memory_pin(me(), held.pk, True)
    assert everything(me(), since) == [f"- +restored: [goals] [id:{gone.pk}] Likes tea. (imp=2)"]


def everything(principal, since):
    """All lines, however many."""
    from memories import delta

    most, delta.BULLETS = delta.BULLETS, 100
    try:
        return memory_delta(principal, since).split("\n")[2:-1]
    finally:
        delta.BULLETS = most


def test_one_bullet_when_something_archived_itself(api, owner, me, add, opened, time_machine):
    time_machine.move_to("2026-03-01T10:00:00Z", tick=False)
    memory = add("Is away this week.", expires_at=timezone.now() + timedelta(days=1))
    turn(api(owner), opened)
    reply(me, opened)
    time_machine.move_to("2026-03-03T10:00:00Z", tick=False)
    actions.memories_expire()
    told = turn(api(owner), opened)["delta"]
    assert told.split("\n")[2:-1] == [f"- −archived: [goals] id:{memory.pk}"]
    assert "away" not in told
    reply(me, opened)
    assert turn(api(owner), opened)["delta"] is None


def test_what_made_room_in_the_block_is_never_told(me, add, settings):
    settings.MEMORY_BLOCK_TOKENS = 60
    first = add("The first goal is to row a boat over the lake.")
    since = me().rev
    add("The second goal is to row a boat over the sea.")
    add("The third goal is to row a boat over the ocean.")
    assert Memory.objects.get(pk=first.pk).deleted_why == "evicted"
    assert first.pk not in memory_delta(me(), since)


def test_what_was_only_proposed_is_told_when_it_counts(me, add, agent, owner):
    preferences_set(me(), review="before")
    since = me().rev
    bot = factories.agent_principal(agent)
    kept = actions.memory_add(bot, NewMemory("Keeps bees.", "goals")).memory
    refused = actions.memory_add(bot, NewMemory("Hates chess and go.", "goals")).memory
    assert memory_delta(me(), since) is None
    actions.memory_approve(me(), kept.pk)
    actions.memory_reject(me(), refused.pk)
    assert everything(me(), since) == [f"- +created: [goals] [id:{kept.pk}] Keeps bees. (imp=2)"]


def test_a_role_is_told_of_its_own_categories(me, add, owner):
    planner = factories.AgentFactory(owner=owner, role="planner")
    goal, tone = add("Ship v1."), add("Be brief.", "tone")
    for memory in (goal, tone):
        actions.memory_archive(me(), memory.pk)
    add("Be kind.", "tone")
    told = memory_delta(factories.agent_principal(planner), 0)
    assert told == fenced_delta(0, f"- −archived: [goals] id:{goal.pk}")


def test_a_role_is_told_that_something_left_its_categories(me, add, owner):
    planner = factories.AgentFactory(owner=owner, role="planner")
    moved, kept, proposed = add("Ship v1."), add("Ship v2."), add("Ship v3.")
    Memory.objects.filter(pk=proposed.pk).update(state="proposed", active_rev=None)
    since = me().rev
    for memory in (moved, kept, proposed):
        actions.memory_amend(me(), memory.pk, category="tone")
    actions.memory_amend(me(), kept.pk, category="goals")
    told = memory_delta(factories.agent_principal(planner), since)
    assert told.split("\n")[2:-1] == [
        f"- ↑updated: [goals] [id:{kept.pk}] Ship v2. (imp=2)",
        f"- −withdrawn: [goals] id:{moved.pk}",
    ]
    actions.memory_archive(me(), moved.pk)
    assert f"−withdrawn: [goals] id:{moved.pk}" in memory_delta(factories.agent_principal(planner), since)
    assert "withdrawn" not in memory_delta(me(), since)


@pytest.mark.parametrize("how", ["private", "off"])
def test_without_memory_nothing_is_told(api, owner, me, add, how):
    talk = conversation_create(me(), private=how == "private")
    add("Ship v1.")
    if how == "off":
        preferences_set(me(), has_memory=False)
    assert turn(api(owner), talk)["delta"] is None
    assert api(owner).get(f"/api/v1/memories/context/?conversation={talk.pk}").json()["delta"] is None


def test_it_takes_four_queries_at_most_and_none_when_the_revision_is_the_same(me, add):
    for number in range(5):
        add(f"Goal number {number}.")
    since = me().rev
    for memory in Memory.objects.all()[:3]:
        actions.memory_archive(me(), memory.pk)
    for rev, queries in ((since, 4), (0, 4), (me().rev, 0)):
        principal = me()
        with CaptureQueriesContext(connection) as asked:
            memory_delta(principal, rev)
        assert len(asked) == queries, rev


def test_a_budget_too_small_for_it_goes_without(api, owner, add, opened):
    add("Goals: " + "win " * 60)
    whole = turn(api(owner), opened)
    assert whole["delta"]
    tight = turn(api(owner), opened, budget_tokens=200, instructions="Be brief.")
    assert tight["delta"] is None
    assert {"kind": "delta"} in tight["dropped"]


def test_a_new_insight_is_told_as_a_guess(me, owner):
    """Issue 17, 2: shown as guesses, wherever they are shown."""
    since = me().rev
    said = "The user seems worried lately."
    remember(owner, {"content": said, "kind": "insight", "category": "relationship_dynamic"})
    assert f"A guess: {said}" in memory_delta(me(), since)


def test_new_steps_are_not_quoted(me, owner):
    since = me().rev
    steps = {"content": "1. Open the valve. 2. Wait a minute.", "kind": "procedural", "category": "procedural"}
    (memory,) = remember(owner, steps)
    assert everything(me(), since) == [f"- +created: [procedural] [id:{memory.pk}] (imp={memory.importance})"]

"""The memory block in the prepared turn, over HTTP: where it stands, how long it keeps its bytes, what rebuilds it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.actions import grant_set, preferences_set
from accounts.queries import principal_for_person
from assistant.recall.turn import PER_MESSAGE
from conversations.actions import Pin, conversation_pin
from conversations.models import Conversation
from facts.actions import fact_add
from language.tokens import count_tokens
from memories.block import NOTE, memory_block
from tests import factories
from tests.memories.rows import archive, change, place, purge, remember, reword

pytestmark = pytest.mark.django_db
NOTHING = {"facts": [], "memories": [], "chunks": [], "turns": []}


@pytest.fixture
def turn(api):
    def prepare(person, conversation, content="What do I like?", expect=200, **body):
        url = f"/api/v1/conversations/{conversation.pk}/turn/"
        answer = api(person).post(url, {"content": content, **body}, format="json")
        assert answer.status_code == expect, answer.content
        return answer.json()

    return prepare


def pinned(conversation):
    return Conversation.objects.values_list("block_rev", flat=True).get(pk=conversation.pk)


def test_the_block_stands_between_instructions_and_facts_above_the_boundary(turn, owner, legacy, talk):
    (memory,) = remember(owner, "Likes trains.")
    fact_add(principal_for_person(owner.pk), legacy.pk, "Rosa loved gardening.", "hobby")
    made = turn(owner, talk(owner, legacy), instructions="Be brief.")
    above, below = made["system"]
    order = ["Be brief.", NOTE, f"- [id:{memory.pk}]", "</memories_from_previous", "<facts_about", "Rosa loved"]
    places = [above["text"].index(part) for part in order]
    assert places == sorted(places)
    assert above["cache_control"]
    assert "trains" not in below["text"]
    assert made["used"]["memories"] == [memory.pk]
    assert count_tokens(made["text"]) <= made["tokens"]


def test_a_conversation_about_nobody_has_it_too(turn, owner, talk):
    remember(owner, "Likes trains.")
    assert "Likes trains." in turn(owner, talk(owner))["system"][0]["text"]


def test_nothing_remembered_leaves_no_trace(turn, owner, talk):
    made = turn(owner, talk(owner), instructions="Be brief.")
    assert made["system"][0]["text"] == "Be brief."
    assert made["used"] == NOTHING


def test_a_conversation_stays_with_the_revision_of_its_first_turn(turn, owner, talk):
    first, second = remember(owner, "Works on the Platform team.", "Likes trains.")
    home = place(owner, "home", "Home")
    conversation = talk(owner)
    begun = turn(owner, conversation, save=True)
    assert pinned(conversation) == begun["revision"]
    reword(first, "Works on the Design team.")
    remember(owner, "Moved to Porto.")
    change(second, importance=5)
    place(owner, "work", "Office")
    later = turn(owner, conversation, save=True)
    assert later["system"][0] == begun["system"][0]
    assert later["revision"] > begun["revision"] == pinned(conversation)
    assert later["used"]["memories"][:2] == begun["used"]["memories"]
    another = turn(owner, talk(owner))["system"][0]["text"]
    assert all(word in another for word in ("Design", "Porto", "Office"))
    assert home.name in another


def test_a_conversation_begun_before_there_was_a_block_is_pinned_at_its_next_turn(turn, owner, talk):
    conversation = talk(owner)
    turn(owner, conversation, save=True)
    Conversation.objects.filter(pk=conversation.pk).update(block_rev=None)
    remember(owner, "Likes trains.")
    assert "trains" in turn(owner, conversation, save=True)["system"][0]["text"]
    assert pinned(conversation) == 1


@pytest.mark.parametrize("how", ["archived", "rejected", "quarantined", "erased"])
def test_what_is_taken_away_is_gone_at_the_next_turn(turn, owner, talk, how):
    kept, memory = remember(owner, "Likes trains.", "Works on the Platform team.")
    conversation = talk(owner)
    turn(owner, conversation, save=True)
    now = timezone.now()
    {
        "archived": lambda: archive(memory),
        "rejected": lambda: change(memory, state="rejected", deleted_at=now, purge_at=now, deleted_why="rejected"),
        "quarantined": lambda: change(memory, state="quarantined"),
        "erased": lambda: purge(archive(memory)),
    }[how]()
    later = turn(owner, conversation, save=True)
    assert later["used"]["memories"] == [kept.pk]
    assert "Platform" not in later["text"]
    assert "trains" in later["system"][0]["text"]
    assert pinned(conversation) == later["revision"]


def test_a_narrowed_grant_counts_at_the_next_turn(turn, owner, agent, talk):
    remember(owner, "Likes trains.", {"content": "Speaks softly.", "category": "tone"})
    conversation = talk(owner)
    assert len(turn(agent, conversation, save=True)["used"]["memories"]) == 2
    grant_set(principal_for_person(owner.pk), agent.pk, categories=["tone"], sources=["turns"])
    later = turn(agent, conversation, save=True)
    assert "trains" not in later["text"]
    assert "Speaks softly." in later["system"][0]["text"]


@pytest.mark.parametrize("how", ["private", "memory off"])
def test_without_memory_there_is_no_block(turn, owner, talk, how):
    remember(owner, "Likes trains.")
    conversation = talk(owner, private=how == "private")
    if how == "memory off":
        assert "trains" in turn(owner, conversation, save=True)["text"]
        preferences_set(principal_for_person(owner.pk), has_memory=False)
    made = turn(owner, conversation, save=True)
    assert made["used"] == NOTHING
    assert "trains" not in made["text"]
    if how == "memory off":
        preferences_set(principal_for_person(owner.pk), has_memory=True)
        assert "trains" in turn(owner, conversation)["text"]


def test_an_idle_hour_pins_it_anew(turn, owner, talk, time_machine):
    time_machine.move_to("2026-03-01T10:00:00Z")
    remember(owner, "Likes trains.")
    conversation = talk(owner)
    turn(owner, conversation, save=True)
    remember(owner, "Moved to Porto.")
    time_machine.shift(3_500)
    assert "Porto" not in turn(owner, conversation, save=True)["system"][0]["text"]
    time_machine.shift(3_700)
    shown = turn(owner, conversation)
    assert "Porto" in shown["system"][0]["text"]
    assert shown["difference"] is None
    assert turn(owner, conversation, save=True)["system"][0] == shown["system"][0]
    assert pinned(conversation) == shown["revision"]


def test_a_repeated_turn_answers_as_it_stood(api, owner, talk):
    remember(owner, "Likes trains.")
    conversation = talk(owner)
    url, body = f"/api/v1/conversations/{conversation.pk}/turn/", {"content": "What do I like?", "save": True}
    first = api(owner).post(url, body, format="json", HTTP_IDEMPOTENCY_KEY="k").json()
    remember(owner, "Moved to Porto.")
    again = api(owner).post(url, body, format="json", HTTP_IDEMPOTENCY_KEY="k").json()
    assert again["system"][0] == first["system"][0]
    assert again["messages"] == first["messages"]


def test_of_two_turns_that_begin_at_once_the_later_pin_counts(owner, talk):
    conversation = talk(owner)
    principal, now = principal_for_person(owner.pk), timezone.now()
    for pin in (Pin(now, 7), Pin(now - timedelta(seconds=1), 3)):
        conversation_pin(principal, conversation, pin)
    assert pinned(conversation) == 7


def test_agents_of_other_roles_get_their_own_block(turn, owner, talk):
    remember(owner, "Likes trains.", {"content": "Speaks softly.", "category": "tone"})
    conversation = talk(owner)
    seen = {}
    for role in ("", "stylist"):
        key = factories.AgentKeyFactory(agent=factories.AgentFactory(owner=owner, role=role))
        factories.GrantFactory(user=owner, agent=key.agent, sources=["turns"])
        seen[role] = turn(key, conversation)["used"]["memories"]
    assert len(seen[""]) == 2
    assert set(seen["stylist"]) < set(seen[""])


# --- Budget -------------------------------------------------------------------------------------------------------


def test_the_block_goes_after_facts_and_before_the_latest_summary(turns_of_each_budget, owner, legacy, talk):
    remember(owner, *(f"Likes the number {n} train to the sea." for n in range(6)))
    place(owner, "home", "Home")
    for n in range(3):
        fact_add(principal_for_person(owner.pk), legacy.pk, f"Rosa kept {n + 2} parrots in the house.", "hobby")
    conversation = talk(owner, legacy, 4, said="A long sentence about the garden of her youth, number {n}.")
    order = ["messages", "facts", "places", "memories"]
    seen = []
    for full, budget, made in turns_of_each_budget(owner, conversation, "What do I like?", down_to=280):
        assert full.dropped == []
        assert count_tokens(made.text) - 60 <= made.tokens <= budget
        kinds = [item["kind"] for item in made.dropped]
        assert kinds == sorted(kinds, key=order.index)
        if "memories" in kinds:
            assert made.used["facts"] == []
            assert [item["id"] for item in made.dropped if item["kind"] == "memories"] == (
                full.used["memories"][: kinds.count("memories")]
            )
        seen += kinds
    assert set(seen) == set(order)


def test_a_full_block_fits_into_the_turn_with_room_for_the_talk(turn, owner, talk):
    text = "Prefers the early train because the sea looks best before the fog has gone, and says so every day: {n}. "
    remember(owner, *(text.format(n=n) * 4 for n in range(75)))
    block = memory_block(principal_for_person(owner.pk))
    assert 8_500 < block.tokens < 10_000
    made = turn(owner, talk(owner, count=20))
    assert made["dropped"] == []
    assert len(made["used"]["memories"]) == 75
    assert made["tokens"] >= block.tokens + PER_MESSAGE


def test_the_turn_costs_the_same_number_of_queries_however_much_is_remembered(
    api, owner, talk, django_capture_on_commit_callbacks, django_assert_num_queries
):
    conversation = talk(owner, count=4)
    client, url = api(owner), f"/api/v1/conversations/{conversation.pk}/turn/"
    client.post(url, {"content": "Hello."}, format="json")
    for number in (1, 10):
        remember(owner, *(f"Statement number {n}." for n in range(number)))
        with django_capture_on_commit_callbacks(execute=True), django_assert_num_queries(19):
            client.post(url, {"content": "Hello."}, format="json")
        with django_assert_num_queries(13):
            client.post(url, {"content": "Hello."}, format="json")

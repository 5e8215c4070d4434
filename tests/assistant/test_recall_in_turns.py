"""Memories in the prepared turn that no block carries: which come, where they stand, what goes first."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from memories.actions import disclosures_trim, memories_note_shown, memory_add
from memories.models import Disclosure, MemoryUse, Relation
from memories.records import NewMemory
from tests import factories
from tests.memories.rows import remember

from .querying import embedded

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn(api, owner):
    def prepare(content, **body):
        talk = body.pop("talk", None) or factories.ConversationFactory(user=owner)
        answer = api(owner).post(f"/api/v1/conversations/{talk.pk}/turn/", {"content": content, **body})
        assert answer.status_code == 200, answer.content
        return answer.json()

    return prepare


def test_what_is_only_recalled_stands_below_with_its_id_and_date(turn, owner):
    event, block = embedded(owner, ("Rowed a boat.", "event"), ("Likes boats.", "preference"))
    made = turn("the boat")
    above, below = (part["text"] for part in made["system"])
    assert f"- [id:{event.pk}] [{event.updated_at:%Y-%m-%d}] Rowed a boat." in below
    assert below.count("boat") == 1
    assert "Likes boats." in above
    assert made["used"]["memories"] == [block.pk, event.pk]


def test_what_is_related_comes_beside_it(turn, owner, settings):
    settings.RECALLED_MEMORIES = 1
    boat, sister, carried = embedded(
        owner, ("Rowed a boat.", "event"), ("Her sister came to the lake.", "event"), ("Likes lakes.", "preference")
    )
    for other, strength in ((sister, 0.9), (carried, 0.95)):
        Relation.objects.create(user=owner, from_memory=boat, to_memory=other, type="related_to", strength=strength)
    made = turn("the boat")
    below = made["system"][1]["text"]
    assert "Her sister came to the lake." in below
    assert "Likes lakes." not in below
    assert made["used"]["memories"] == [carried.pk, boat.pk, sister.pk]


def test_they_are_dropped_after_turns_and_before_the_window(api, turn, owner, settings):
    settings.RECALLED_MEMORIES = 1
    boat, sister = embedded(owner, ("Rowed a boat.", "event"), ("Her sister came along.", "event"))
    Relation.objects.create(user=owner, from_memory=boat, to_memory=sister, type="related_to", strength=0.9)
    factories.MessageFactory(conversation=factories.ConversationFactory(user=owner), content="I rowed the boat home.")
    talk = factories.ConversationFactory(user=owner)
    factories.MessageFactory(conversation=talk, content="It is a fine day.")
    whole = turn("the boat", talk=talk)
    assert whole["dropped"] == []
    order = []
    for spared in range(0, whole["tokens"], 4):
        body = {"content": "the boat", "budget_tokens": max(200, whole["tokens"] - spared), "instructions": "Hi."}
        answer = api(owner).post(f"/api/v1/conversations/{talk.pk}/turn/", body)
        if answer.status_code == 422 or "messages" in order:
            break
        for gone in answer.json()["dropped"]:
            kind = "related" if gone.get("id") == sister.pk else gone["kind"]
            order += [] if kind in order else [kind]
    assert order == ["related", "turns", "memories", "messages"]


@pytest.mark.parametrize("how", ["private", "off"])
def test_without_memory_none_is_recalled(turn, owner, how):
    embedded(owner, ("Rowed a boat.", "event"))
    if how == "off":
        factories.PreferencesFactory(user=owner, has_memory=False)
    talk = factories.ConversationFactory(user=owner, private=how == "private")
    assert "Rowed" not in turn("the boat", talk=talk)["text"]


@pytest.mark.usefixtures("nothing_shown_yet")
def test_what_a_turn_or_a_context_shows_an_agent_is_noted(api, owner, agent, django_capture_on_commit_callbacks):
    """Recalled memories are used each time, those of the block are not."""
    event, block = embedded(owner, ("Rowed a boat.", "event"), ("Likes boats.", "preference"))
    talk = factories.ConversationFactory(user=owner, agent=agent)
    client = api(agent)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(2):
            client.post(f"/api/v1/conversations/{talk.pk}/turn/", {"content": "the boat"})
            client.get(f"/api/v1/memories/context/?conversation={talk.pk}")
    assert memories_note_shown() == 4
    shown = Disclosure.objects.order_by("at").values_list("by", "memories", "agent", "conversation")
    of_turn, of_context = ("turn", [block.pk, event.pk]), ("context", [block.pk])
    assert list(shown) == [(*each, agent.pk, talk.pk) for each in (of_turn, of_context, of_turn, of_context)]
    assert dict(MemoryUse.objects.values_list("memory", "uses")) == {event.pk: 2}


def test_who_was_shown_what_is_forgotten_with_operations(owner, agent, settings):
    now = timezone.now()
    for days in (1, settings.OPERATION_EVENT_DAYS + 1):
        Disclosure.objects.create(
            user=owner, agent=agent, by="query", memories=["abcdefgh"], at=now - timedelta(days=days)
        )
    assert disclosures_trim() == 1
    assert Disclosure.objects.get().at > now - timedelta(days=2)


def test_a_recalled_insight_stands_there_as_a_guess(turn, owner):
    said = "The user seems worried about the boat."
    remember(owner, {"content": said, "kind": "insight", "category": "relationship_dynamic"})
    assert f"A guess: {said}" in turn("Is the boat a worry?")["system"][1]["text"]


def test_no_turn_recalls_steps(turn, owner):
    """They come when their category is asked for (003, 12)."""
    memory_add(principal_for_person(owner.pk), NewMemory("1. Open the valve. 2. Wait a minute.", "procedural"))
    embedded(owner, ("Opened the valve of the radiator.", "event"))
    told = "".join(part["text"] for part in turn("How do I open the valve and wait a minute?")["system"])
    assert "Opened the valve of the radiator." in told
    assert "Open the valve." not in told

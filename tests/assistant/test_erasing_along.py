"""What says the same as something erased: offered before, erased with it under one receipt if the person chooses it."""

import pytest

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from conversations.models import Conversation, Message
from facts.models import LegacyFact
from journal.exceptions import Refused
from journal.models import Change, Erased, Erasure, JobRun
from memories.actions import place_add
from memories.models import Memory, Place
from statements.models import Suppression
from tests.factories import ConversationFactory, LegacyFactFactory, MemoryFactory, MessageFactory

pytestmark = pytest.mark.django_db

CELLO = "I play the cello in an orchestra."


@pytest.fixture
def said(owner):
    """A message, said in other words in another conversation."""
    message = MessageFactory(conversation=ConversationFactory(user=owner), content=CELLO)
    again = ConversationFactory(user=owner, title="Cello and orchestra")
    MessageFactory(conversation=again, content="In the orchestra I play the cello. It rains.")
    MessageFactory(conversation=ConversationFactory(user=owner), content="I keep bees.")
    return message


def preview(client, scope, pk):
    answer = client.get("/api/v1/erase/", {"scope": scope, "id": str(pk)})
    assert answer.status_code == 200, answer.json()
    return answer.json()


def run():
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    return Erasure.objects.get()


def test_over_rest_what_else_says_the_same_is_listed_and_goes_under_one_receipt(api, owner, said, legacy):
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Plays the cello in an orchestra.")
    place = place_add(principal_for_person(owner.pk), "hall", "Hall", "Plays the cello in an orchestra here.").place
    client = api(owner)
    seen = preview(client, "message", said.pk)
    assert seen["counts"] == {"messages": 1}
    found = {each["object_type"]: each for each in seen["also_said"]}
    assert found.keys() == {"message", "title", "memory", "fact", "place"}
    assert found["message"]["quote"] == "In the orchestra I play the cello."
    also = [{name: each[name] for name in ("object_type", "object")} for each in seen["also_said"]]
    body = {"scope": "message", "id": str(said.pk), "confirm": True, "also": also}
    assert client.post("/api/v1/erase/", body, format="json").status_code == 202
    erasure = run()
    assert Message.objects.filter(content__icontains="cello").count() == 0
    assert Message.objects.filter(content="[withheld] It rains.").exists()
    assert not Conversation.objects.filter(title__icontains="cello").exists()
    assert not Memory.objects.filter(pk=memory.pk).exists()
    assert not LegacyFact.objects.filter(pk=fact.pk).exists()
    assert not Place.objects.filter(pk=place.pk).exists()
    told = api().get(f"/api/v1/erase/{erasure.pk}/").json()["removed"]
    assert {name: told[name] for name in ("memory", "legacyfact", "place", "messages")} == dict.fromkeys(
        ("memory", "legacyfact", "place", "messages"), 1
    )
    assert told["withheld"] == 3  # The message itself, the passage and the title.
    gone = set(Erased.objects.filter(erasure=erasure).values_list("kind", flat=True))
    assert gone == {"message", "memory", "fact", "place"}
    assert Suppression.objects.filter(user_id=owner.pk, object_id=str(place.pk)).exists()
    assert Message.objects.filter(content="I keep bees.").exists()


def test_what_is_not_chosen_stays(owner, said):
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    erasure_request(principal_for_person(owner.pk), "message", str(said.pk))
    run()
    assert Memory.objects.get(pk=memory.pk).state == "active"
    assert Message.objects.filter(content__startswith="In the orchestra").exists()


def test_what_goes_anyway_is_counted_and_not_offered(api, owner, said):
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    memory.versions.get().evidence.create(message=said, quote=CELLO)
    seen = preview(api(owner), "message", said.pk)
    assert seen["counts"] == {"messages": 1, "memories": 1}
    assert {each["object_type"] for each in seen["also_said"]} == {"message", "title"}


def test_a_memory_and_a_fact_offer_what_says_the_same(api, owner, said, legacy):
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Plays the cello in an orchestra.")
    for scope, pk in (("memory", memory.pk), ("fact", fact.pk)):
        offered = {each["object"] for each in preview(api(owner), scope, pk)["also_said"]}
        assert str(said.pk) in offered
        assert str(pk) not in offered


@pytest.mark.parametrize("content", ["Yes.", "Yes I do.", "[withheld]", "Thanks!"])
def test_a_message_that_says_nothing_offers_nothing(api, owner, content):
    message = MessageFactory(conversation=ConversationFactory(user=owner), content=content)
    MessageFactory(conversation=ConversationFactory(user=owner), content="Yes, thanks. That is withheld, yes.")
    assert preview(api(owner), "message", message.pk)["also_said"] == []


def test_what_does_not_say_the_same_is_refused_and_nothing_happens(owner, said):
    other = MemoryFactory(user=owner, content="The user keeps bees.")
    with pytest.raises(Refused) as refused:
        erasure_request(principal_for_person(owner.pk), "message", str(said.pk), also=[f"memory-{other.pk}"])
    assert refused.value.code == "not_said_again"
    assert not Erasure.objects.exists()


def test_only_who_erases_previews(api, owner, stranger, said):
    assert api(stranger).get("/api/v1/erase/", {"scope": "message", "id": str(said.pk)}).status_code == 404
    assert api().get("/api/v1/erase/", {"scope": "message", "id": str(said.pk)}).status_code == 401
    for query in ({}, {"scope": "everything", "id": "x"}, {"scope": "message"}):
        assert api(owner).get("/api/v1/erase/", query).status_code == 400
    assert not Change.objects.filter(event="ERASE").exists()


@pytest.mark.parametrize("noun", ["message", "memory"])
def test_the_page_offers_it_and_takes_it_along(client, owner, said, noun):
    client.force_login(owner)
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    where = {
        "message": f"/conversations/{said.conversation_id}/1/remove/",
        "memory": f"/memories/{memory.pk}/erase/",
    }[noun]
    again = Message.objects.get(content__startswith="In the orchestra")
    other = f"memory-{memory.pk}" if noun == "message" else f"message-{said.pk}"
    page = client.get(where).content.decode()
    for key in (other, f"message-{again.pk}"):
        assert f'name="also" value="{key}" checked' in page
    client.post(where, {"decision": "erase", "at_once": "yes", "also": [other, f"message-{again.pk}"]})
    run()
    again.refresh_from_db()
    assert again.content == "[withheld] It rains."
    assert not Memory.objects.filter(pk=memory.pk).exists()

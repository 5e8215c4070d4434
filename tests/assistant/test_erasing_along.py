"""What says the same as something erased: offered before, erased with it under one receipt if the person chooses it."""

import re

import pytest
from django.utils import timezone

from accounts.queries import principal_for_agent, principal_for_person
from assistant.erasure import actions as erasing
from assistant.erasure import hiding
from assistant.erasure.actions import erasure_request, erasure_withdraw, run_erasure
from assistant.erasure.verifying import left_of
from assistant.learn.actions import message_decline
from conversations.models import Conversation, Message, Withheld
from facts.actions import fact_restore, facts_decide
from facts.models import LegacyFact
from journal.exceptions import Conflict, Refused
from journal.models import Change, Erased, Erasure, JobRun, Ledger
from memories.actions import memories_decide, memory_add, memory_restore, place_add, place_restore
from memories.models import Memory, Place
from memories.records import NewMemory
from statements.models import ERASURE_WAITS, Suppression
from tests.factories import (
    AgentFactory,
    AgentKeyFactory,
    ConversationFactory,
    LegacyFactFactory,
    MemoryFactory,
    MessageFactory,
)
from web.errors import was_erased

from .rich import summarise

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


def test_a_conversation_offers_what_its_own_messages_say(api, client, owner, said, legacy):
    """Also beyond its own messages, which would fill the list, and what was put away."""
    talk = ConversationFactory(user=owner, title="My cello and the orchestra")
    for _ in range(22):
        MessageFactory(conversation=talk, content=CELLO)
    MessageFactory(conversation=talk, role="assistant", content="I keep bees.")
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    memories_decide(principal_for_person(owner.pk), {memory.pk: None}, "archive")
    again = Message.objects.get(content__startswith="In the orchestra")
    seen = preview(api(owner), "conversation", talk.pk)
    offered = {f"{each['object_type']}-{each['object']}" for each in seen["also_said"]}
    keys = {f"message-{said.pk}", f"message-{again.pk}", f"title-{again.conversation_id}", f"memory-{memory.pk}"}
    assert offered == keys
    client.force_login(owner)
    where = f"/conversations/{talk.pk}/remove/"
    page = client.get(where).content.decode()
    assert 'name="also"' not in page
    looked = re.search(r'href="(\?elsewhere=yes)#erase"', page)[1]
    page = client.get(where + looked).content.decode()
    assert all(f'name="also" value="{key}" checked' in page for key in keys)
    assert "of 50 messages at most 300 sentences" in page
    client.post(where, {"decision": "erase", "at_once": "", "also": [*keys]})
    again.refresh_from_db()
    assert again.content == "[withheld] It rains."
    client.post(where, {"decision": "erase", "at_once": "yes"})
    erasure = run()
    again.refresh_from_db()
    assert again.content == "[withheld] It rains."
    assert not Memory.objects.filter(pk=memory.pk).exists()
    assert not Withheld.objects.exclude(text="").exists()
    assert list(left_of(erasure)) == []


@pytest.mark.parametrize("scope", ["message", "memory", "fact"])
def test_what_was_put_away_or_rejected_is_offered(api, owner, said, legacy, scope):
    me = principal_for_person(owner.pk)
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    rejected = MemoryFactory(user=owner, content="The user plays the cello in the orchestra.")
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Plays the cello in an orchestra.")
    other = MemoryFactory(user=owner, content="The user plays the cello in this orchestra.")
    own = LegacyFactFactory(user=owner, legacy=legacy, content="Plays the cello in this orchestra.")
    memories_decide(me, {memory.pk: None}, "archive")
    memories_decide(me, {rejected.pk: None}, "reject")
    facts_decide(me, {fact.pk: None}, "reject")
    pk = {"message": said.pk, "memory": other.pk, "fact": own.pk}[scope]
    offered = {each["object"] for each in preview(api(owner), scope, pk)["also_said"]}
    assert offered >= {memory.pk, rejected.pk, str(fact.pk)}


@pytest.mark.parametrize("scope", ["message", "conversation"])
def test_what_was_not_kept_before_it_is_erased_is_offered_and_goes_along(api, owner, said, scope):
    """The words of the message are withheld by then, so they are looked for as they were."""
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    memory.versions.get().evidence.create(message=said, quote=CELLO)
    again = MemoryFactory(user=owner, content="In an orchestra the user plays the cello.")
    for each in (memory, again):
        assert api(owner).post(f"/api/v1/memories/{each.pk}/reject/", {"reason": "dont_keep"}).status_code == 200
    said.refresh_from_db()
    assert "cello" not in said.content
    pk = said.pk if scope == "message" else said.conversation_id
    offered = preview(api(owner), scope, pk)["also_said"]
    assert again.pk in {each["object"] for each in offered}
    erasure_request(principal_for_person(owner.pk), scope, str(pk), also=[f"memory-{again.pk}"])
    run()
    assert not Memory.objects.filter(content__icontains="cello").exists()


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


# --- While it waits ---------------------------------------------------------------------------------------------------


def heard(client, about):
    """Which ways an agent still gets to words by."""
    asked = client.post("/api/v1/memories/query/", {"query": about}).json()
    ways = {
        "recall": asked["results"],
        "block": client.get("/api/v1/memories/context/").json()["text"],
        "list": client.get("/api/v1/memories/").json()["results"],
        "record": [each.content for each in Message.objects.all()]
        + [each.title for each in Conversation.objects.all()],
        "places": client.get("/api/v1/places/").json()["results"],
    }
    return {name for name, told in ways.items() if about in str(told).lower()}


@pytest.mark.parametrize("scope", ["message", "conversation", "memory", "fact", "place"])
def test_what_waits_for_its_erasure_is_hidden_and_shown_again_when_it_is_taken_back(api, owner, agent, legacy, scope):
    me = principal_for_person(owner.pk)
    talk = ConversationFactory(user=owner, title="On zithers" if scope == "conversation" else "Music")
    message = MessageFactory(conversation=talk, content="I play the zither.")
    MessageFactory(conversation=talk, role="assistant", content="So you play the zither. It rains.")
    about = {"zither": "recall block list record", "harp": "recall block list", "flute": "block places"}
    memory = MemoryFactory(user=owner, content="The user plays the zither.")
    memory.versions.get().evidence.create(message=message, quote="I play the zither")
    memory = MemoryFactory(user=owner, content="The user plays the harp.")
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Played the lute.")
    place = place_add(me, "flute", "Flute shop", "").place
    client = api(AgentKeyFactory(agent=agent).credential)
    pk = {"message": message, "conversation": talk, "memory": memory, "fact": fact, "place": place}[scope].pk

    def told():
        ways = {word: heard(client, word) for word in about}
        return ways | {"lute": client.get(f"/api/v1/legacies/{legacy.pk}/facts/").json()["count"]}

    before = told()
    assert before == {word: set(ways.split()) for word, ways in about.items()} | {"lute": 1}
    body = {"scope": scope, "id": str(pk), "confirm": True, "grace_hours": 24}
    receipt = api(owner).post("/api/v1/erase/", body, format="json").json()["receipt"]
    word = {"memory": "harp", "place": "flute", "fact": "lute"}.get(scope, "zither")
    assert told() == before | {word: 0 if word == "lute" else set()}
    assert api(owner).delete(f"/api/v1/erase/{receipt}/").status_code == 200
    assert told() == before
    again = api(owner).post("/api/v1/erase/", body, format="json").json()["receipt"]
    JobRun.objects.filter(state="waiting", kind="erase").update(not_before=timezone.now())
    Erasure.objects.filter(pk=again).update(due_at=timezone.now())
    run_erasure(JobRun.objects.get(kind="erase", state="waiting").pk)
    assert told() == before | {word: 0 if word == "lute" else set()}
    assert list(left_of(Erasure.objects.get(pk=again))) == []


def test_agents_do_not_find_a_conversation_that_waits_however_long_it_is(api, owner, agent, monkeypatch):
    monkeypatch.setattr(hiding, "MOST_WITHHELD", 1)
    talk = ConversationFactory(user=owner, agent=agent)
    for content in ("I play the zither.", "It rains."):
        MessageFactory(conversation=talk, content=content)
    summarise(principal_for_person(owner.pk), talk, "They play the zither.")
    clients = [api(agent), api(AgentKeyFactory(agent__owner=owner).credential)]
    paths = ("", "messages/", "chunks/")

    def told():
        answers = [each.get(f"/api/v1/conversations/{talk.pk}/{path}") for each in clients for path in paths]
        body = {"query": "zither", "sources": ["turns", "chunks"]}
        answers += [each.post("/api/v1/memories/query/", body, format="json") for each in clients]
        return [answer.status_code == 200 and "zither" in str(answer.content) for answer in answers[1:3] + answers[4:]]

    assert told() == [True] * 6
    erasure, _job = erasure_request(principal_for_person(owner.pk), "conversation", str(talk.pk), grace_hours=24)
    assert told() == [False] * 6
    assert [each.get(f"/api/v1/conversations/{talk.pk}/").status_code for each in clients] == [404, 404]
    assert str(talk.pk) not in str(clients[0].get("/api/v1/conversations/").content)
    erasure_withdraw(principal_for_person(owner.pk), erasure.pk)
    assert told() == [True] * 6


def test_taking_back_again_does_what_an_interrupted_call_left(api, owner, monkeypatch):
    """It stayed hidden for good: the second call only said that the erasure was taken back."""
    memory = MemoryFactory(user=owner, content="The user plays the harp.")
    erasure, _job = erasure_request(principal_for_person(owner.pk), "memory", memory.pk, grace_hours=24)
    address = f"/api/v1/erase/{erasure.pk}/"
    with monkeypatch.context() as killed:
        killed.setattr(erasing, "_show_again", lambda erasure: 1 / 0)
        assert api(owner).delete(address).status_code == 500
    assert Memory.objects.get(pk=memory.pk).state == "archived"
    assert [api(owner).delete(address).status_code for _ in range(2)] == [200, 409]
    assert Memory.objects.get(pk=memory.pk).state == "active"
    rev = Ledger.objects.get(pk=owner.pk).rev
    erasing._show_again(erasure)  # As another call would that read it before.
    assert (Memory.objects.get(pk=memory.pk).state, Ledger.objects.get(pk=owner.pk).rev) == ("active", rev)


def test_taking_back_gives_back_nothing_that_was_withheld_before(api, owner, said):
    """And what was chosen to go along comes back with it."""
    me = principal_for_person(owner.pk)
    message_decline(me, said.conversation_id, 0)
    again = Message.objects.get(content__startswith="In the orchestra")
    memory = MemoryFactory(user=owner, content="The user plays the cello in an orchestra.")
    erasure, _job = erasure_request(me, "memory", memory.pk, grace_hours=24, also=[f"message-{again.pk}"])
    again.refresh_from_db()
    assert (again.content, Memory.objects.get(pk=memory.pk).state) == ("[withheld] It rains.", "archived")
    erasure_withdraw(me, erasure.pk)
    again.refresh_from_db()
    said.refresh_from_db()
    assert (said.content, again.content[:16]) == ("[withheld]", "In the orchestra")
    assert Memory.objects.get(pk=memory.pk).state == "active"


@pytest.mark.parametrize("noun", ["memory", "fact", "place"])
def test_what_waits_is_not_restored_by_itself_and_its_page_says_so(client, owner, legacy, noun):
    me = principal_for_person(owner.pk)
    pk = {
        "memory": lambda: MemoryFactory(user=owner),
        "fact": lambda: LegacyFactFactory(user=owner, legacy=legacy),
        "place": lambda: place_add(me, "pool", "Pool", "").place,
    }[noun]().pk
    client.force_login(owner)
    path = {"memory": "memories", "fact": "facts", "place": "places"}[noun]
    erasure, _job = erasure_request(me, noun, str(pk), grace_hours=24)
    keep = f'action="/conversations/kept/{erasure.pk}/"'
    assert keep in client.get(f"/{path}/{pk}/").content.decode()
    with pytest.raises(Conflict) as refused:
        {"memory": memory_restore, "fact": fact_restore, "place": place_restore}[noun](me, pk)
    assert (refused.value.code, refused.value.detail) == ("erasure_waits", ERASURE_WAITS)
    if noun == "memory":
        assert memories_decide(me, {pk: None}, "restore").skipped == {"erasure_waits": 1}
    assert noun == "place" or ERASURE_WAITS in client.get(f"/{path}/{pk}/").content.decode()
    client.post(f"/conversations/kept/{erasure.pk}/")
    assert keep not in client.get(f"/{path}/{pk}/").content.decode()


def test_what_was_left_hidden_by_an_erasure_taken_back_can_be_restored(owner):
    me = principal_for_person(owner.pk)
    memory = MemoryFactory(user=owner, content="The user plays the harp.")
    erasure, _job = erasure_request(me, "memory", memory.pk, grace_hours=24)
    again = memory_add(me, NewMemory("The user plays the harp.", "interests")).memory
    erasure_withdraw(me, erasure.pk)
    assert Memory.objects.get(pk=memory.pk).state == "archived"  # The same words are there again.
    memories_decide(me, {again.pk: None}, "archive")
    other = MemoryFactory(user=owner)
    erasure_request(me, "memory", other.pk, grace_hours=24)  # Of something else, which alone stays put away.
    assert memory_restore(me, memory.pk).state == "active"
    with pytest.raises(Conflict):
        memory_restore(me, other.pk)


def test_a_place_that_a_conversation_takes_along_is_not_restored_by_itself(owner):
    me = principal_for_person(owner.pk)
    said = MessageFactory(conversation=ConversationFactory(user=owner), content="We met at the pool.")
    place = place_add(me, "pool", "Pool", "", message_id=said.pk).place
    erasure, _job = erasure_request(me, "conversation", str(said.conversation_id), grace_hours=24)
    with pytest.raises(Conflict):
        place_restore(me, place.pk)
    erasure_withdraw(me, erasure.pk)
    place.refresh_from_db()
    assert place.deleted_at is None


@pytest.mark.parametrize("state", ["active", "proposed", "archived"])
def test_agents_do_not_read_a_memory_that_waits_as_an_archived_one(api, owner, agent, state):
    me = principal_for_person(owner.pk)
    memory = MemoryFactory(user=owner, content="The user plays the harp.")
    if state == "archived":
        memories_decide(me, {memory.pk: None}, "archive")
        Memory.objects.filter(pk=memory.pk).update(deleted_why="evicted")
    elif state == "proposed":
        Memory.objects.filter(pk=memory.pk).update(state="proposed", active_rev=None)
    Memory.objects.filter(pk=memory.pk).update(state_reason="As before")
    before = Memory.objects.values("state", "state_reason", "deleted_why").get(pk=memory.pk)
    rev = Ledger.objects.get(pk=owner.pk).rev
    reader, whole = (
        api(AgentKeyFactory(agent=agent, scopes=scopes).credential)
        for scopes in (["read", "write"], ["read", "write", "admin"])
    )
    one = f"/api/v1/memories/{memory.pk}/"

    def told(client):
        asked = {"query": "harp", "known_at": timezone.now().isoformat()}
        answers = {
            "one": client.get(one),
            "history": client.get(f"{one}history/"),
            "list": client.get("/api/v1/memories/", {"state": "archived"}),
            "document": client.get("/api/v1/memories/document/"),
            "query": client.post("/api/v1/memories/query/", asked, format="json"),
            "mem0": client.get(f"/mem0/v1/memories/{memory.pk}/history/"),
        }
        return {name for name, answer in answers.items() if "harp" in str(answer.content)}

    could = told(reader)
    assert could >= {"active": {"one", "document", "query", "mem0"}, "archived": {"one", "list"}}.get(state, set())
    erasure, _job = erasure_request(me, "memory", memory.pk, grace_hours=24)
    assert told(reader) == set()
    assert {reader.get(f"{one}{path}").status_code for path in ("", "history/")} == {404}
    assert whole.get(one).json()["state_reason"] == ERASURE_WAITS == api(owner).get(one).json()["state_reason"]
    changes = reader.get("/api/v1/changes/", {"after": rev}).content.decode()
    assert "harp" not in changes
    erasure_withdraw(me, erasure.pk)
    assert Memory.objects.values("state", "state_reason", "deleted_why").get(pk=memory.pk) == before
    assert told(reader) == could


def test_agents_do_not_read_a_fact_that_waits(api, owner, agent, legacy):
    me = principal_for_person(owner.pk)
    fact = LegacyFactFactory(user=owner, legacy=legacy, content="Played the lute.")
    before = LegacyFact.objects.values("state", "state_reason").get(pk=fact.pk)
    client = api(AgentKeyFactory(agent=agent).credential)
    path = f"/api/v1/facts/{fact.pk}/"
    assert client.get(path).status_code == 200
    erasure, _job = erasure_request(me, "fact", str(fact.pk), grace_hours=24)
    assert (client.get(path).status_code, api(owner).get(path).status_code) == (404, 200)
    erasure_withdraw(me, erasure.pk)
    assert LegacyFact.objects.values("state", "state_reason").get(pk=fact.pk) == before
    assert client.get(path).status_code == 200


@pytest.mark.parametrize("noun", ["conversation", "message"])
@pytest.mark.parametrize("hidden", ["", "private", "memory_off"])
def test_what_an_agent_never_saw_is_not_told_to_have_been_erased(api, owner, agent, noun, hidden):
    other = AgentFactory(owner=owner)
    talk = ConversationFactory(user=owner, agent=other, private=hidden == "private")
    message = MessageFactory(conversation=talk, content=CELLO)
    Message.objects.update(private=hidden == "private", memory_off=hidden == "memory_off")
    pk = {"conversation": talk, "message": message}[noun].pk
    erasure_request(principal_for_person(owner.pk), noun, str(pk))
    run()

    def told(caller):
        return was_erased(owner.pk, {"pk": pk}, caller)

    mine, theirs = principal_for_agent(other.pk, owner.pk), principal_for_agent(agent.pk, owner.pk)
    assert (told(mine), told(theirs), told(None)) == (True, not hidden, True)

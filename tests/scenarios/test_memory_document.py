"""One memory document for each user, kept by an agent's tool: each helper, operation and promise of it, over HTTP.

The document is rendered from rows; what would be a method of it is an operation of the tool or a request.
"""

import logging

import pytest
from django.db import DatabaseError

from accounts.models import Preferences
from journal.models import Change, Ledger
from memories.models import Memory, Place, PlaceMention
from tests import factories
from tests.memories.rows import recount, remember

from .conftest import Program

pytestmark = pytest.mark.django_db


@pytest.fixture
def manage(program):
    """``manage(operation, **arguments)``: what the tool answers; it has to be taken."""
    program.opens_a_conversation()

    def call(operation, *, message=None, **arguments):
        answer = program.tool("manage_user_memory", message=message, operation=operation, **arguments)
        assert answer["ok"], answer
        return answer

    return call


@pytest.fixture
def document(program):
    return lambda: program.ask("get", "memories/document/")


# --- Helpers --------------------------------------------------------------------------------------------------------


def test_helper_add_fact_returns_its_id_and_updates_the_metadata(program, manage, document):
    message = program.hears("I'm Alex.")
    before = document()["metadata"]
    pk = manage("add_fact", message=message, content="The user works with Alex.")["data"]["memory"]["id"]
    (fact,) = document()["facts"]
    assert (fact["id"], fact["content"], fact["is_active"]) == (pk, "The user works with Alex.", True)
    assert (fact["source_conversation_id"], fact["source_message_id"]) == (program.talk, message)
    after = document()["metadata"]
    assert (after["total_facts"], after["total_active_facts"]) == (1, 1)
    assert after["token_count"] > before["token_count"] == 0
    assert after["last_updated"] > before["last_updated"]


def test_helper_deactivate_fact_finds_it_or_says_that_it_is_not_there(program, manage, document):
    pk = manage("add_fact", content="The user works in Seattle.")["data"]["memory"]["id"]
    manage("deactivate_fact", fact_id=pk)
    (fact,) = document()["facts"]
    assert (fact["id"], fact["is_active"]) == (pk, False)
    metadata = document()["metadata"]
    assert (metadata["total_facts"], metadata["total_active_facts"], metadata["token_count"]) == (1, 0, 0)
    missing = program.tool("manage_user_memory", operation="deactivate_fact", fact_id="AAAAAAAA")
    assert (missing["ok"], missing["data"]["code"]) == (False, "not_found")


def test_helper_add_poi_keeps_it_with_its_first_mention(program, manage, document):
    message = program.hears("I live at 123 Main St.")
    manage("add_poi", message=message, place_id="home", place_name="Home", notes="123 Main St, Seattle")
    (point,) = document()["placer_user_datapoints"]
    assert (point["place_id"], point["place_name"], point["notes"]) == ("home", "Home", "123 Main St, Seattle")
    ((mentioned, at),) = point["mentioned_in"][program.talk]
    assert mentioned == message
    assert point["added_at"] <= at
    assert document()["metadata"]["total_pois"] == 1


def test_helper_add_poi_mention_counts_a_message_once(program, manage, document):
    manage("add_poi", place_id="home", place_name="Home")
    first = program.talk
    place = Place.objects.get()
    again = program.hears("I'm at home.")
    mentions = f"places/{place.pk}/mentions/"
    program.ask("post", mentions, {"message": again}, 201)
    program.ask("post", mentions, {"message": again}, 200)
    program.opens_a_conversation()
    elsewhere = program.hears("Home again.")
    manage("add_poi", message=elsewhere, place_id="home", place_name="Home")
    mentioned_in = document()["placer_user_datapoints"][0]["mentioned_in"]
    assert {talk: [message for message, _ in messages] for talk, messages in mentioned_in.items()} == {
        first: [again],
        program.talk: [elsewhere],
    }
    missing = "00000000-0000-4000-8000-000000000000"
    program.ask("post", f"places/{missing}/mentions/", {"message": again}, 404)
    assert PlaceMention.objects.count() == 2


def test_helper_get_memory_of_a_new_user_is_an_empty_document(manage, document):
    shown = manage("get_memory")["data"]
    assert shown == document()
    assert (shown["facts"], shown["placer_user_datapoints"]) == ([], [])
    assert shown["metadata"] == {
        "last_updated": shown["metadata"]["last_updated"],
        "total_facts": 0,
        "total_active_facts": 0,
        "total_pois": 0,
        "token_count": 0,
        "schema_version": "1.0",
    }


def test_helper_get_active_facts_leaves_out_the_others(program, manage):
    kept = manage("add_fact", content="The user works in tech.")["data"]["memory"]["id"]
    gone = manage("add_fact", content="The user works in Seattle.")["data"]["memory"]["id"]
    manage("deactivate_fact", fact_id=gone)
    assert [each["id"] for each in program.ask("get", "memories/")["results"]] == [kept]
    told = manage("get_memory")["content"]
    assert kept in told
    assert gone not in told


def test_helper_update_metadata_is_right_after_every_operation(owner, manage, document):
    def sound():
        shown = document()
        metadata, facts = shown["metadata"], shown["facts"]
        assert metadata["total_facts"] == len(facts)
        assert metadata["total_active_facts"] == sum(fact["is_active"] for fact in facts)
        assert metadata["total_pois"] == len(shown["placer_user_datapoints"])
        assert metadata["token_count"] == recount(owner)["block_tokens"]
        return metadata["last_updated"]

    moments = [sound()]
    test_cases = [
        ("add_fact", {"content": "The user works with Alex."}),
        ("add_fact", {"content": "The user prefers morning workouts."}),
        ("add_poi", {"place_id": "gym", "place_name": "Gym"}),
        ("add_poi", {"place_id": "gym", "place_name": "Gym", "notes": "Pike Street"}),
    ]
    for operation, arguments in test_cases:
        manage(operation, **arguments)
        moments.append(sound())
    manage("deactivate_fact", fact_id=Memory.objects.latest("created_at").pk)
    moments.append(sound())
    assert moments == sorted(set(moments))


def test_helper_enforce_token_limit_removes_the_oldest_until_it_fits_and_logs_which(
    owner, program, manage, document, settings, caplog, committed
):
    settings.MEMORY_BLOCK_TOKENS = 120
    with caplog.at_level(logging.WARNING), committed():
        # Statements that differ in a figure only would take each other's place.
        for flower in [
            "rose",
            "fern",
            "lily",
            "iris",
            "tulip",
            "daisy",
            "poppy",
            "aster",
            "peony",
            "dahlia",
            "pansy",
            "lilac",
        ]:
            answer = manage("add_fact", content=f"The user keeps a pressed {flower} in a book.")
            assert "evict" not in str(answer)
            assert document()["metadata"]["token_count"] <= 120
    facts = document()["facts"]
    active = [fact["is_active"] for fact in facts]
    assert active == sorted(active)
    evicted = [fact["id"] for fact in facts if not fact["is_active"]]
    assert evicted
    warned = " ".join(record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert all(pk in warned for pk in evicted)
    assert str(owner.pk) in warned
    assert "pressed" not in warned
    program.ask("post", f"memories/{evicted[-1]}/restore/")
    assert document()["metadata"]["token_count"] <= 120


def test_the_update_pattern_is_immutable_so_no_earlier_state_is_lost(program, manage):
    pk = manage("add_fact", content="The user works in Seattle.")["data"]["memory"]["id"]
    program.tool("update_memory", memory_id=pk, content="The user works in Porto.")
    manage("deactivate_fact", fact_id=pk)
    shown = program.ask("get", f"memories/{pk}/")
    assert [each["content"] for each in shown["versions"]] == ["The user works in Seattle.", "The user works in Porto."]
    history = program.ask("get", f"memories/{pk}/history/")["results"]
    assert [each["event"] for each in history] == ["DELETE", "UPDATE", "ADD"]


def test_every_update_is_logged_with_user_conversation_and_time(owner, program, manage):
    manage("add_fact", content="The user works with Alex.")
    manage("add_poi", place_id="home", place_name="Home")
    rows = Change.objects.of_owner(owner.pk)
    assert {str(row.conversation_id) for row in rows} == {program.talk}
    assert all(row.at for row in rows)
    assert [row.rev for row in rows] == list(range(1, Ledger.objects.get(pk=owner.pk).rev + 1))


# --- Operations on rows ---------------------------------------------------------------------------------------------


def test_crud_each_operation_over_rest(program):
    program.opens_a_conversation()
    fact = program.ask("post", "memories/", {"content": "The user likes Italian food.", "category": "preference"}, 201)
    assert program.ask("get", f"memories/{fact['id']}/")["content"] == "The user likes Italian food."
    changed = program.ask("put", f"memories/{fact['id']}/", {"content": "The user likes Thai food."})
    assert (changed["content"], changed["previous"]["version"]) == ("The user likes Thai food.", 1)
    program.ask("delete", f"memories/{fact['id']}/", None, 204)
    place = program.ask("post", "places/", {"place_id": "home", "name": "Home"}, 201)
    assert program.ask("patch", f"places/{place['id']}/", {"notes": "123 Main St"})["notes"] == "123 Main St"
    program.ask("delete", f"places/{place['id']}/", None, 204)
    shown = program.ask("get", "memories/document/")
    assert [fact["is_active"] for fact in shown["facts"]] == [False]
    assert shown["placer_user_datapoints"] == []


def test_crud_users_are_isolated(api, program, manage, owner, stranger, other_agent):
    pk = manage("add_fact", content="The user works with Alex.")["data"]["memory"]["id"]
    manage("add_poi", place_id="home", place_name="Home")
    other = Program(api(other_agent))
    assert other.ask("get", "memories/document/")["facts"] == []
    assert other.ask("get", "memories/document/")["placer_user_datapoints"] == []
    assert other.ask("get", "memories/context/")["text"] == ""
    other.ask("get", f"memories/{pk}/", None, 404)
    refused = other.tool("manage_user_memory", operation="deactivate_fact", fact_id=pk)
    assert refused["data"]["code"] == "not_found"
    other.tool("manage_user_memory", operation="add_poi", place_id="home", place_name="Elsewhere")
    assert sorted(Place.objects.values_list("user__username", "name")) == [("owner", "Home"), ("stranger", "Elsewhere")]
    assert Memory.objects.get().state == "active"


@pytest.mark.parametrize(
    ("operation", "arguments", "fails"),
    [
        ("add_fact", {"content": "The user works with Alex."}, "memories.actions.candidates.memories_insert"),
        ("deactivate_fact", {}, "memories.actions.single.MemoryWrite.update_counts"),
        ("add_poi", {"place_id": "home", "place_name": "Home"}, "memories.models.PlaceVersion.save"),
    ],
)
@pytest.mark.django_db(transaction=True)
def test_crud_a_failure_rolls_the_whole_transaction_back(owner, program, monkeypatch, operation, arguments, fails):
    (known,) = remember(owner, "The user keeps bees.", written_by="agent")
    before = document_rows()
    program.opens_a_conversation()
    arguments = arguments or {"fact_id": known.pk}

    def fail(*_, **__):
        raise DatabaseError("away")

    with monkeypatch.context() as broken:
        broken.setattr(fails, fail)
        body = {"arguments": {"operation": operation, **arguments}}
        answer = program.client.post("/api/v1/tools/manage_user_memory/", body)
        assert answer.status_code in {500, 503}
        assert "away" not in answer.content.decode()
    assert document_rows() == before
    again = program.tool("manage_user_memory", operation=operation, **arguments)
    assert again["ok"]


def document_rows():
    return (
        list(Memory.objects.order_by("pk").values_list("pk", "state", "version")),
        list(Place.objects.values_list("pk")),
        Change.objects.count(),
        list(Ledger.objects.order_by("pk").values_list("rev", "memories", "block_tokens")),
    )


# --- The tool -------------------------------------------------------------------------------------------------------


def test_tool_is_one_with_an_operation_to_keep_the_context_small(program):
    (tool,) = [each for each in program.ask("get", "tools/")["tools"] if each["name"] == "manage_user_memory"]
    operations = tool["parameters"]["properties"]["operation"]["enum"]
    assert operations == ["add_fact", "deactivate_fact", "add_poi", "get_memory"]
    assert tool["parameters"]["required"] == ["operation"]


def test_tool_validates_its_input(program):
    program.opens_a_conversation()
    test_cases = [
        ({}, "operation"),
        ({"operation": "remove"}, "operation"),
        ({"operation": "add_fact"}, "needs content"),
        ({"operation": "add_fact", "content": "A"}, "at least 5"),
        ({"operation": "add_fact", "content": "A" * 501}, "at most 500"),
        ({"operation": "deactivate_fact"}, "needs fact_id"),
        ({"operation": "add_poi", "place_name": "Home"}, "needs place_id"),
        ({"operation": "add_poi", "place_id": "home"}, "needs place_name"),
    ]
    for arguments, told in test_cases:
        answer = program.tool("manage_user_memory", **arguments)
        assert (answer["ok"], answer["data"]["code"]) == (False, "bad_arguments")
        assert told in answer["content"]
    assert not Change.objects.exists()


def test_tool_runs_every_operation(program, manage):
    fact = manage("add_fact", content="The user is vegetarian.")
    assert fact["data"]["outcome"] == "created"
    assert manage("add_poi", place_id="work", place_name="Work")["data"]["outcome"] == "kept"
    assert manage("get_memory")["data"]["metadata"]["total_pois"] == 1
    assert manage("deactivate_fact", fact_id=fact["data"]["memory"]["id"])["data"]["outcome"] == "deactivated"


def test_tool_stores_no_sensitive_data(program):
    program.opens_a_conversation()
    for content in (
        "The user's password is hunter2secret.",
        "The user's SSN is 536-90-4399.",
        "The user's card number is 4111 1111 1111 1111.",
    ):
        answer = program.tool("manage_user_memory", operation="add_fact", content=content)
        assert (answer["ok"], answer["data"]["code"]) == (False, "gate")
    assert not Memory.objects.exists()


# --- What an agent gets out of it -----------------------------------------------------------------------------------


def test_agent_stores_facts_when_the_user_shares_information(program, manage):
    message = program.hears("My name is Alex and I prefer morning workouts.")
    for content in ("The user works with Alex.", "The user prefers morning workouts."):
        manage("add_fact", message=message, content=content)
    assert Memory.objects.filter(state="active").count() == 2


def test_agent_retrieves_and_references_stored_memories_across_conversations(program, manage):
    manage("add_fact", content="The user works with Alex.")
    manage(
        "add_poi", message=program.hears("Home is 123 Main St."), place_id="h", place_name="Home", notes="123 Main St"
    )
    program.opens_a_conversation()
    above, _ = program.prepares("What's my name, and where do I live?")
    assert "The user works with Alex." in above
    assert "- Home: 123 Main St (mentioned in 1 conversation)" in above


def test_agent_deactivates_outdated_facts(program, manage):
    old = manage("add_fact", content="The user works in Seattle.")["data"]["memory"]["id"]
    manage("deactivate_fact", fact_id=old)
    manage("add_fact", content="The user works in Porto.")
    program.opens_a_conversation()
    above, _ = program.prepares("Where do I live?")
    assert "Porto" in above
    assert "Seattle" not in above


def test_memory_is_loaded_with_the_first_message_and_stays_as_it_was(program, manage):
    manage("add_fact", content="The user works with Alex.")
    program.opens_a_conversation()
    first, _ = program.prepares("Hello.")
    manage("add_fact", content="The user works in Seattle.")
    second, _ = program.prepares("Where do I live?")
    assert first == second
    assert "Alex" in first


def test_the_current_datetime_is_in_the_prompt_below_what_is_cached(program, manage):
    manage("add_fact", content="The user works with Alex.")
    program.opens_a_conversation()
    above, below = program.prepares("What day is it?")
    today = program.ask("get", f"conversations/{program.talk}/messages/")["results"][0]["at"][:10]
    assert today in below
    assert "now" in below.lower() or "time" in below.lower()
    assert above.count(today) == above.count(f"[{today}]")


def test_each_memory_carries_its_date(program, manage):
    manage("add_fact", content="The user works with Alex.")
    (fact,) = program.ask("get", "memories/document/")["facts"]
    text = program.ask("get", "memories/context/")["text"]
    assert f"- [id:{fact['id']}] [{fact['added_at'][:10]}] The user works with Alex." in text


def test_a_person_who_switched_memory_off_has_none_of_it(owner, program, manage):
    manage("add_fact", content="The user works with Alex.")
    Preferences.objects.update_or_create(user=owner, defaults={"has_memory": False})
    refused = program.tool("manage_user_memory", operation="add_fact", content="The user works in Seattle.")
    assert refused["data"]["code"] == "memory_off"
    program.opens_a_conversation()
    above, _ = program.prepares("What's my name?")
    assert "Alex" not in above
    assert factories.rev_of(owner) == 1

"""A memory service with a cache: each of its flows, over HTTP, from the hot path to switching it off."""

import re

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories import block as block_module
from memories.models import Memory
from tests.memories.rows import remember

pytestmark = pytest.mark.django_db


@pytest.fixture
def kept(owner):
    """The names of what is kept in the cache for ``owner``."""

    def names():
        client = cache._cache.get_client(None, write=True)
        keys = client.scan_iter(match=f"*memory:{owner.pk}:*", count=10_000)
        return sorted(re.search(r"memory:[^:]+:(\d+):(\w+):", key.decode()).groups() for key in keys)

    return names


def queries(work):
    with CaptureQueriesContext(connection) as asked:
        work()
    return len(asked)


# --- 3.1 Read path --------------------------------------------------------------------------------------------------


def test_hot_path_hit_asks_the_database_for_the_principal_alone(owner, program, committed, monkeypatch):
    remember(owner, "The user is a Python developer.", topics=["occupation"])
    with committed():
        cold = program.ask("get", "memories/context/")
    warm = []
    with monkeypatch.context() as without_rows:
        without_rows.setattr(Memory, "from_db", None)
        without_rows.setattr(block_module, "_read", None)
        assert queries(lambda: warm.append(program.ask("get", "memories/context/"))) == 1
    assert warm == [cold]


def test_hot_path_miss_reads_the_database_and_keeps_what_it_read(owner, program, committed, kept):
    remember(owner, "The user is a Python developer.")
    program.ask("get", "tools/")
    assert kept() == []
    with committed():
        assert queries(lambda: program.ask("get", "memories/context/")) == 3
    assert kept() == [("1", "context")]


def test_hot_path_memories_are_fenced_in_the_system_message(owner, program):
    remember(owner, "The user is a Python developer.")
    program.opens_a_conversation()
    above, _ = program.prepares("Which language should I use?")
    fenced = re.search(
        r"<memories_from_previous_interactions>\n(.*)\n</memories_from_previous_interactions>", above, re.DOTALL
    )
    assert "The user is a Python developer." in fenced[1]


def test_hot_path_without_a_cache_answers_from_the_database(owner, program, monkeypatch):
    remember(owner, "The user is a Python developer.")

    def gone(*_, **__):
        raise ConnectionError

    monkeypatch.setattr(type(cache._cache), "get_client", gone)
    for _ in range(2):
        assert "Python" in program.ask("get", "memories/context/")["text"]


# --- 3.2 Write path -------------------------------------------------------------------------------------------------


def test_write_path_every_tool_call_is_seen_by_the_next_read(owner, program, committed):
    program.opens_a_conversation()

    def read():
        with committed():
            return (
                program.ask("get", "memories/context/")["text"],
                program.ask("get", "memories/topics/")["topics"],
                [each["content"] for each in program.ask("get", "memories/?sort_by=created_at")["results"]],
                program.ask("get", "memories/document/")["metadata"]["total_active_facts"],
            )

    def see(content, topics, count):
        text, found, listed, total = read()
        assert (content in text) == (content in listed) == (count > 0)
        assert (found, total) == (topics, count)

    assert read() == ("", [], [], 0)
    added = program.tool(
        "update_user_memory", operation="add", memory="The user is a Python developer.", topics=["occupation"]
    )
    pk = added["data"]["memory"]["id"]
    see("The user is a Python developer.", ["occupation"], 1)
    program.tool("update_user_memory", operation="update", memory_id=pk, memory="The user is a Rust developer.")
    see("The user is a Rust developer.", ["occupation"], 1)
    program.tool("update_user_memory", operation="delete", memory_id=pk)
    see("The user is a Rust developer.", [], 0)


def test_write_path_in_the_background_what_was_said_is_learned_and_seen_by_the_next_read(program, committed):
    program.opens_a_conversation()
    with committed():
        assert program.ask("get", "memories/context/")["text"] == ""
    program.hears("I am a Python developer.")
    program.hears("Good to know!", "assistant")
    with committed():
        assert program.ask("get", "memories/context/")["text"] == ""
    program.finishes()
    text = program.ask("get", "memories/context/")["text"]
    assert "The user is a Python developer." in text
    program.opens_a_conversation()
    above, _ = program.prepares("What do I do for a living?")
    assert "The user is a Python developer." in above


def test_write_path_in_the_background_adds_nothing_that_the_tool_has_added(program):
    program.opens_a_conversation()
    program.hears("I am a Python developer.")
    program.tool("update_user_memory", operation="add", memory="The user is a Python developer.")
    program.finishes()
    memory = Memory.objects.get()
    assert (memory.version, memory.state) == (1, "active")


def test_write_path_in_the_background_stops_with_the_preference(program, person):
    person.ask("patch", "me/preferences/", {"has_memory": False})
    program.opens_a_conversation()
    program.hears("I am a Python developer.")
    program.finishes()
    assert not Memory.objects.exists()


def test_write_path_nothing_is_evicted_from_the_cache_a_new_revision_is_asked_for(owner, program, committed, kept):
    program.opens_a_conversation()
    for number in (1, 2):
        assert program.tool("update_user_memory", operation="add", memory=f"The user owns {number} boats.")["ok"]
        with committed():
            program.ask("get", "memories/context/")
    assert kept() == [("1", "context"), ("2", "context")]


def test_write_path_memories_know_their_agent_and_topics(program, agent):
    program.opens_a_conversation()
    program.tool("update_user_memory", operation="add", memory="The user plays chess.", topics=["hobbies", "games"])
    (shown,) = program.ask("get", "memories/")["results"]
    assert (shown["agent"], shown["topics"]) == (str(agent.pk), ["hobbies", "games"])


# --- 3.3 Dashboard --------------------------------------------------------------------------------------------------


@pytest.fixture
def many(owner):
    chess = [{"content": f"Plays chess opening {n}.", "topics": ["games"]} for n in range(12)]
    bread = [{"content": f"Bakes bread number {n}.", "topics": ["food"], "category": "interests"} for n in range(13)]
    return remember(owner, *chess, *bread)


def test_dashboard_pages_hold_every_memory_once(person, many):
    seen, path = [], "memories/?page=1&per_page=10&sort_by=updated_at&sort_order=desc"
    while path:
        page = person.ask("get", path)
        assert page["count"] == 25
        seen += [each["id"] for each in page["results"]]
        path = (page["next"] or "").partition("/api/v1/")[2]
    assert len(seen) == 25
    assert set(seen) == {memory.pk for memory in many}


def test_dashboard_search_topic_and_category_filters_and_orders(person, many):
    test_cases = [
        ("search=bread", 13),
        ("search=chess+opening+7", 1),
        ("topics=games", 12),
        ("category=interests", 13),
        ("topics=games&search=bread", 0),
    ]
    for query, count in test_cases:
        assert person.ask("get", f"memories/?{query}")["count"] == count, query
    assert person.ask("get", "memories/topics/") == {"topics": ["food", "games"]}
    for order in ("asc", "desc"):
        page = person.ask("get", f"memories/?per_page=25&sort_by=created_at&sort_order={order}")
        moments = [each["created_at"] for each in page["results"]]
        assert moments == sorted(moments, reverse=order == "desc")


def test_dashboard_a_page_is_kept_under_its_parameters_until_a_write(program, many, committed, kept):
    program.ask("get", "tools/")
    with committed():
        first = program.ask("get", "memories/?page=2&per_page=10")
        program.ask("get", "memories/?page=3&per_page=10")
    again = []
    assert queries(lambda: again.append(program.ask("get", "memories/?page=2&per_page=10"))) == 1
    assert again == [first]
    assert [family for _, family in kept()] == ["page", "page"]
    program.opens_a_conversation()
    program.tool("update_user_memory", operation="add", memory="The user collects stamps.")
    assert program.ask("get", "memories/?page=1&per_page=10")["count"] == 26


@pytest.mark.parametrize("per_page", [1, 10, 25])
def test_dashboard_queries_do_not_grow_with_the_page(program, many, per_page):
    program.ask("get", "tools/")
    assert queries(lambda: program.ask("get", f"memories/?per_page={per_page}")) == 3


# --- 3.4 Preferences ------------------------------------------------------------------------------------------------


def test_preference_toggle_stops_and_starts_memory_at_once(program, person, committed):
    program.opens_a_conversation()
    program.tool("update_user_memory", operation="add", memory="The user is a Python developer.")
    with committed():
        assert "Python" in program.ask("get", "memories/context/")["text"]
        assert person.ask("patch", "me/preferences/", {"has_memory": False})["has_memory"] is False
    assert program.ask("get", "memories/context/")["text"] == ""
    assert program.ask("get", "tools/") == {"guidance": "", "tools": []}
    refused = program.tool("update_user_memory", operation="add", memory="The user keeps bees.")
    assert refused["data"]["code"] == "memory_off"
    program.opens_a_conversation()
    above, _ = program.prepares("What do I do for a living?")
    assert "Python" not in above
    assert person.ask("get", "memories/")["count"] == 1
    person.ask("patch", "me/preferences/", {"has_memory": True})
    assert "Python" in program.ask("get", "memories/context/")["text"]
    program.opens_a_conversation()
    above, _ = program.prepares("And now?")
    assert "Python" in above


def test_preference_toggle_of_the_agentic_tool(program, person):
    names = [tool["name"] for tool in program.ask("get", "tools/")["tools"]]
    assert "update_user_memory" in names
    person.ask("patch", "me/preferences/", {"agentic_memory": False})
    assert [tool["name"] for tool in program.ask("get", "tools/")["tools"]] == names[:-1]
    program.opens_a_conversation()
    refused = program.tool("update_user_memory", operation="add", memory="The user keeps bees.")
    assert (refused["ok"], refused["data"]["code"]) == (False, "agentic_memory_off")


# --- 7 The rest of the API ------------------------------------------------------------------------------------------


def test_bulk_delete_answers_for_each_id_and_is_seen_at_once(person, many, stranger):
    (theirs,) = remember(stranger, "Keeps bees.")
    ids = [memory.pk for memory in many[:3]]
    answer = person.ask("post", "memories/bulk-delete/", {"ids": [*ids, theirs.pk, "AAAAAAAA"]})
    assert [each["outcome"] for each in answer["results"]] == ["archived"] * 3 + ["not_found"] * 2
    assert person.ask("get", "memories/")["count"] == 22
    assert Memory.objects.get(pk=theirs.pk).state == "active"


def test_optimistic_locking_a_stale_write_is_told_and_changes_nothing(program, person, owner):
    (memory,) = remember(owner, "The user is a Python developer.")
    path = f"memories/{memory.pk}/"
    etag = person.client.get(f"/api/v1/{path}")["ETag"]
    assert person.ask("put", path, {"content": "The user is a Rust developer.", "version": 1})["version"] == 2
    refused = program.ask("put", path, {"content": "The user is a Go developer.", "version": 1}, 409)
    assert (refused["code"], refused["current"]) == ("version_conflict", 2)
    answer = program.client.put(f"/api/v1/{path}", {"content": "The user is a Go developer."}, HTTP_IF_MATCH=etag)
    assert (answer.status_code, answer.json()["current"]) == (409, 2)
    program.opens_a_conversation()
    told = program.tool("update_memory", memory_id=memory.pk, content="The user is a Go developer.", version=1)
    assert told["data"]["code"] == "version_conflict"
    assert "The user is a Rust developer." in told["content"]
    waits = program.tool("update_memory", memory_id=memory.pk, content="The user is a Go developer.", version=2)
    assert waits["data"]["outcome"] == "proposed"  # The person worded the second version.
    assert Memory.objects.get().version == 2


def test_two_contexts_share_one_view_of_memory(owner, program, person, committed):
    """What an agent's program and the person's pages read is the same, whoever wrote it."""
    with committed():
        person.ask("post", "memories/", {"content": "The user is a Python developer.", "category": "profile"}, 201)
        assert person.ask("get", "memories/context/")["text"] == program.ask("get", "memories/context/")["text"]
    with committed():
        program.opens_a_conversation()
        program.tool("update_user_memory", operation="add", memory="The user keeps bees.")
        assert person.ask("get", "memories/context/")["text"] == program.ask("get", "memories/context/")["text"]
    assert "bees" in person.ask("get", "memories/context/")["text"]

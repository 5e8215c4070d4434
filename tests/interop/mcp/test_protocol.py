"""Memory over the Model Context Protocol, asked by the SDK's own client over both transports, in both generations."""

import asyncio
import json
from contextlib import suppress

import httpx2
import pytest
from asgiref.sync import async_to_sync, sync_to_async
from mcp import MCPError

from accounts.actions import agent_key_revoke, grant_set
from accounts.models import User
from accounts.queries import principal_for_person
from assistant.tools import read_guidance
from memories.actions import memories_note_shown, memory_archive, memory_update
from memories.models import Disclosure, Memory
from tests import factories
from tests.conftest import with_key
from web.streaming import valkey_client

pytestmark = [
    pytest.mark.django_db(transaction=True),
    # What older clients do is deprecated, and done all the same.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]
GENERATIONS = ["auto", "legacy"]
BLOCK = "memory://block"


def asked(session, agent, talk, *more, **options):
    """What ``talk(client)`` returns."""

    async def run():
        async with asyncio.timeout(60), session(agent, *more, **options) as client:
            return await talk(client)

    return async_to_sync(run)()


def text_of(result):
    return "\n".join(part.text for part in result.content)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_client_over_http_remembers_rewords_and_recalls(over_http, agent, owner, generation):
    async def talk(client):
        tools = (await client.list_tools()).tools
        added = await client.call_tool(
            "add_to_memory", {"content": "Alec is the user's boss.", "category": "person", "subject": "Alec"}
        )
        changed = await client.call_tool(
            "update_memory",
            {"memory_id": added.structured_content["memory"]["id"], "content": "Alec was the user's boss until May."},
        )
        found = await client.call_tool("memory_query", {"query": "Who is Alec?"})
        return tools, added, changed, found

    tools, added, changed, found = asked(over_http, agent, talk, generation)
    assert {tool.name for tool in tools} == {
        *("add_to_memory", "update_memory", "memory_query", "manage_user_memory", "update_user_memory")
    }
    assert not added.is_error
    assert added.structured_content["outcome"] == "created"
    assert not changed.is_error
    assert "Alec was the user's boss until May." in text_of(found)
    memory = Memory.objects.get(user=owner)
    assert (memory.content, memory.version, memory.agent) == ("Alec was the user's boss until May.", 2, agent)


@pytest.mark.slow
@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_client_over_stdio_remembers_and_hears_of_changes(over_stdio, agent, owner, generation):
    """In a process of its own. An older client is told on its one connection, a newer one listens."""
    heard = asyncio.Queue()

    async def hear(message):
        heard.put_nowait(message)

    async def talk(client):
        added = await client.call_tool(
            "add_to_memory", {"content": "Alec is the user's boss.", "category": "person", "subject": "Alec"}
        )
        uri = f"memory://memories/{added.structured_content['memory']['id']}"
        if generation == "legacy":
            await client.subscribe_resource(uri)
            await sync_to_async(reword)(uri)
            while (message := await heard.get()).method != "notifications/resources/updated":
                pass
            return str(message.params.uri) == uri
        async with client.listen(resource_subscriptions=[uri]) as changes:
            await sync_to_async(reword)(uri)
            return (await anext(changes)).uri == uri

    def reword(uri):
        memory_update(principal_for_person(owner.pk), uri.rpartition("/")[2], "Alec was the user's boss until May.")

    assert asked(over_stdio, agent, talk, generation, message_handler=hear)


@pytest.mark.parametrize("generation", GENERATIONS)
def test_a_client_over_http_hears_of_changes_by_whomever(over_http, agent, owner, generation):
    memory = factories.MemoryFactory(user=owner)
    uri = f"memory://memories/{memory.pk}"
    heard = asyncio.Queue()

    async def hear(message):
        heard.put_nowait(message)

    def change():
        memory_archive(principal_for_person(owner.pk), memory.pk)

    def reword(content):
        memory_update(principal_for_person(owner.pk), memory.pk, content)

    def named(message):
        return message.method, str(getattr(message.params, "uri", ""))

    async def talk(client):
        told = set()
        if generation == "legacy":
            await client.subscribe_resource(uri)
            await client.subscribe_resource("memory://memories/00000000")
            for hens in range(2, 1_000):
                await sync_to_async(reword)(f"The user keeps {hens} hens.")
                with suppress(TimeoutError):  # The stream of the session may open later than the client is ready.
                    async with asyncio.timeout(0.2):
                        told.add(named(await heard.get()))
                        break
            await sync_to_async(change)()
            while len(told) < 2:
                told.add(named(await heard.get()))
            return told
        async with client.listen(resource_subscriptions=[uri], resources_list_changed=True) as changes:
            await sync_to_async(change)()
            while len(told) < 2:
                event = await anext(changes)
                told.add((type(event).__name__, getattr(event, "uri", "")))
            return told

    told = asked(over_http, agent, talk, generation, message_handler=hear)
    if generation == "legacy":
        assert told == {("notifications/resources/updated", uri), ("notifications/resources/list_changed", "")}
    else:
        assert told == {("ResourceUpdated", uri), ("ResourcesListChanged", "")}


def test_the_block_and_the_memories_are_resources_and_noted_as_shown(over_http, agent, owner):
    memories = [factories.MemoryFactory(user=owner) for _ in range(3)]
    hidden = factories.MemoryFactory(user=factories.UserFactory())

    async def talk(client):
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        block = await client.read_resource(BLOCK)
        one = await client.read_resource(f"memory://memories/{memories[0].pk}")
        with pytest.raises(MCPError) as refused:
            await client.read_resource(f"memory://memories/{hidden.pk}")
        return listed, templates, block, one, refused.value

    listed, templates, block, one, refused = asked(over_http, agent, talk)
    assert [str(each.uri) for each in listed.resources] == [
        BLOCK,
        *sorted(f"memory://memories/{each.pk}" for each in memories),
    ]
    assert templates.resource_templates[0].uri_template == "memory://memories/{id}"
    assert all(each.content in block.contents[0].text for each in memories)
    assert json.loads(one.contents[0].text)["content"] == memories[0].content
    assert refused.code == -32602
    memories_note_shown()
    assert sorted(map(len, Disclosure.objects.values_list("memories", flat=True))) == [1, 3, 3]


def test_lists_of_many_memories_come_in_pages(over_http, agent, owner, monkeypatch):
    monkeypatch.setattr("interop.mcp.memory.PER_PAGE", 2)
    kept = sorted(factories.MemoryFactory(user=owner).pk for _ in range(3))

    async def talk(client):
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        with pytest.raises(MCPError, match="cursor"):
            await client.list_resources(cursor="../..")
        return [each.name for each in (*first.resources, *second.resources)], second.next_cursor

    assert asked(over_http, agent, talk) == (["block", *kept], None)


def test_tools_say_what_they_may_do(over_http, agent):
    """So that a client knows before which calls to ask its user."""

    async def talk(client):
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    tools = asked(over_http, agent, talk)
    read_only = {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    destructive = {name for name, tool in tools.items() if tool.annotations.destructive_hint}
    assert read_only == {"memory_query"}
    assert destructive == {"manage_user_memory", "update_user_memory"}
    assert not any(tool.annotations.open_world_hint for tool in tools.values())
    assert all(tool.title for tool in tools.values())


def test_refusals_are_results_and_unknown_things_are_errors(over_http, agent, owner):
    async def talk(client):
        gated = await client.call_tool("add_to_memory", {"content": "My PIN is 4711", "category": "no such"})
        faulty = await client.call_tool("add_to_memory", {"content": "Alec is the user's boss."})
        for call in (
            lambda: client.call_tool("drop_everything", {}),
            lambda: client.get_prompt("nothing"),
            lambda: client.get_prompt("recall"),
            lambda: client.read_resource("file:///etc/passwd"),
        ):
            with pytest.raises(MCPError) as refused:
                await call()
            assert refused.value.code == -32602
        return gated, faulty

    gated, faulty = asked(over_http, agent, talk)
    assert gated.is_error
    assert faulty.is_error
    assert faulty.structured_content["code"] == "bad_arguments"
    assert not Memory.objects.filter(user=owner).exists()


def test_a_key_that_only_reads_changes_nothing(over_http, owner):
    reader = with_key(factories.AgentFactory(owner=owner), ["read"])

    async def talk(client):
        added = await client.call_tool(
            "add_to_memory", {"content": "Alec is the user's boss.", "category": "person", "subject": "Alec"}
        )
        return added, await client.call_tool("memory_query", {"query": "boss"})

    added, found = asked(over_http, reader, talk)
    assert added.is_error
    assert added.structured_content["code"] == "missing_scope"
    assert not found.is_error


def test_a_service_acts_for_the_person_whom_it_names(over_http, service):
    """A look makes nobody; a write makes the person."""
    named = {"headers": {"X-Keepsake-User": "42"}}

    async def look(client):
        return (await client.read_resource(BLOCK)).contents[0].text

    async def keep(client):
        await client.call_tool("manage_user_memory", {"operation": "add_fact", "content": "The user keeps hens."})

    assert asked(over_http, service, look, **named) == ""
    assert not Memory.objects.exists()
    asked(over_http, service, keep, **named)
    assert "The user keeps hens." in asked(over_http, service, look, **named)
    assert "hens" not in asked(over_http, service, look, headers={"X-Keepsake-User": "43"})


def test_a_call_that_fails_makes_nobody(over_http, service):
    """Reproduction: a refused call left an account behind for each misspelt name."""

    async def fail(client):
        with pytest.raises(MCPError):
            await client.call_tool("no_such_tool", {})
        return await client.call_tool("add_to_memory", {"content": "", "category": "context"})

    before = User.objects.count()
    assert asked(over_http, service, fail, headers={"X-Keepsake-User": "ghost"}).is_error
    assert User.objects.count() == before


def test_prompts_carry_what_is_remembered(over_http, agent, owner):
    kept = factories.MemoryFactory(user=owner, content="The user keeps 41 hens.")

    async def talk(client):
        listed = await client.list_prompts()
        return (
            [each.name for each in listed.prompts],
            (await client.get_prompt("with_memory")).messages,
            (await client.get_prompt("recall", {"topic": "hens"})).messages,
            (await client.get_prompt("remember", {"topic": "hens"})).messages,
        )

    names, begin, recall, remember = asked(over_http, agent, talk)
    assert names == ["with_memory", "recall", "remember"]
    assert [begin[0].content.text, kept.content in begin[1].content.text] == [read_guidance(), True]
    assert kept.content in recall[0].content.text
    assert recall[0].content.text.startswith("<recalled_from_earlier_conversations>")
    assert "hens" in remember[0].content.text


def test_a_role_sees_its_categories_only(over_http, owner, agent):
    factories.MemoryFactory(user=owner, content="The user keeps 41 hens.", category="context")
    grant_set(principal_for_person(owner.pk), agent.pk, categories=["person"])

    async def talk(client):
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        block = (await client.read_resource(BLOCK)).contents[0].text
        return tools["add_to_memory"].input_schema["properties"]["category"]["enum"], block

    assert asked(over_http, agent, talk) == (["person"], "")


def posted(address, path="/mcp", method="POST", **headers):
    sent = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    return httpx2.request(method, f"{address}{path}", headers=sent, json=ping if method == "POST" else None, timeout=20)


def test_without_a_key_one_is_told_where_to_get_one(address, agent):
    refused = posted(address)
    assert refused.status_code == 401
    metadata = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
    told = httpx2.get(metadata).json()
    assert told["resource"] == f"{address}/mcp"
    assert told["bearer_methods_supported"] == ["header"]
    assert httpx2.get(f"{address}/.well-known/oauth-protected-resource").json() == told
    assert posted(address, authorization=f"Bearer {agent.credential}x").status_code == 401


def test_pages_of_other_sites_and_other_hosts_are_not_let_in(address, agent):
    key = {"authorization": f"Bearer {agent.credential}"}
    assert posted(address, **key).status_code == 200
    assert posted(address, **key, origin="http://localhost:6274").status_code == 200
    assert posted(address, **key, origin="http://evil.example").status_code == 403
    assert posted(address, **key, host="evil.example").status_code == 400


def test_a_revoked_key_hears_nothing_more(over_http, agent, owner):
    """Neither on a stream that is open nor by asking."""
    memory = factories.MemoryFactory(user=owner)

    def revoke():
        agent_key_revoke(principal_for_person(owner.pk), agent.keys.get().pk)
        memory_archive(principal_for_person(owner.pk), memory.pk)

    async def talk(client):
        async with client.listen(resources_list_changed=True) as changes:
            await sync_to_async(revoke)()
            heard = [event async for event in changes]
        with pytest.raises(MCPError):
            await client.call_tool("memory_query", {"query": "hens"})
        return heard

    assert asked(over_http, agent, talk) == []


def test_listening_holds_no_thread_and_one_place(over_http, agent, settings):
    settings.UPDATES_STREAMS_PER_PERSON = 2

    async def talk(client):
        async with client.listen(tools_list_changed=True), client.listen(tools_list_changed=True):
            with pytest.raises(MCPError, match="2 streams"):
                async with client.listen(tools_list_changed=True):
                    pass
            return len((await client.list_tools()).tools)

    assert asked(over_http, agent, talk) == 5


def test_a_stream_ends_in_time_and_says_so(over_http, agent, settings):
    settings.CHANGES_STREAM_SECONDS = 0.2

    async def talk(client):
        async with client.listen(tools_list_changed=True) as changes:
            return [event async for event in changes]

    assert asked(over_http, agent, talk) == []


def test_a_session_is_that_of_its_key(address, agent, other_agent):
    """Whoever knows the id of another's session subscribes to nothing in it."""
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {agent.credential}"}
    answer = httpx2.post(f"{address}/mcp", headers=headers, json=initialize)
    session = answer.headers["mcp-session-id"]
    assert answer.json()["result"]["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
    subscribe = {"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": BLOCK}}
    without = httpx2.post(f"{address}/mcp", headers=headers, json=subscribe)
    assert "Mcp-Session-Id" in without.json()["error"]["message"]
    for each in (agent, other_agent):
        theirs = {**headers, "Authorization": f"Bearer {each.credential}", "mcp-session-id": session}
        assert "result" in httpx2.post(f"{address}/mcp", headers=theirs, json=subscribe).json()
    kept = [key.decode() for key in valkey_client().scan_iter("keepsake:mcp:*") if session in key.decode()]
    assert sorted(key.split(":")[3] for key in kept) == sorted(str(each.pk) for each in (agent, other_agent))
    ended = httpx2.delete(f"{address}/mcp", headers={**headers, "mcp-session-id": session})
    assert ended.status_code == 204
    bad = httpx2.post(f"{address}/mcp", headers={**headers, "mcp-session-id": "../x"}, json=subscribe)
    assert bad.status_code == 400

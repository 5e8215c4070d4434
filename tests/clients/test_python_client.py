"""The Python client: it says what the schema says, repeats what may be repeated, and follows streams that break."""

import asyncio
import inspect
import json
import re
import runpy
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from jsonschema_rs import Draft202012Validator
from keepsake import AsyncKeepsake, Conflict, Keepsake, NotAllowed, RateLimited, Refused, Unavailable, Unreachable

from tests.openapi import contract

ROOT = Path(__file__).parents[2]
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
CALLS = {
    "add": lambda client: client.add("The user keeps hens.", "interests", metadata={"a": 1}, insist=True),
    "add_many": lambda client: client.add_many([{"content": "The user keeps hens.", "category": "interests"}]),
    "get": lambda client: client.get("a1b2c3d4"),
    "memories": lambda client: client.memories(category=["interests", "work"], filters={"pinned": True}, pinned=False),
    "update": lambda client: client.update("a1b2c3d4", "The user keeps ducks.", version=1, correction=True),
    "amend": lambda client: client.amend("a1b2c3d4", importance=4),
    "delete": lambda client: client.delete("a1b2c3d4"),
    "delete_many": lambda client: client.delete_many(["a1b2c3d4"]),
    "restore": lambda client: client.restore("a1b2c3d4"),
    "history": lambda client: client.history("a1b2c3d4"),
    "search": lambda client: client.search("hens", top_k=5, sources=["memories"], filters={"run_id": "r"}),
    "context": lambda client: client.context(conversation=UUID, role="planner"),
    "topics": lambda client: client.topics(),
    "changes": lambda client: client.changes(7),
    "undo": lambda client: client.undo(3, 4),
    "create_conversation": lambda client: client.create_conversation(title="Hens"),
    "conversation": lambda client: client.conversation(UUID),
    "conversations": lambda client: client.conversations(),
    "append": lambda client: client.append(UUID, [{"role": "user", "content": "I keep hens."}]),
    "messages": lambda client: client.messages(UUID),
    "turn": lambda client: client.turn(UUID, "Hello", budget_tokens=500, save=True),
    "reply": lambda client: client.reply(UUID, "Hello", mode="chat"),
    "updates": lambda client: client.updates(UUID, after="5-0"),
    "finish": lambda client: client.finish(UUID),
    "job": lambda client: client.job(UUID),
    "tools": lambda client: client.tools("openai"),
    "call_tool": lambda client: client.call_tool("memory_query", {"query": "hens"}, conversation=UUID),
    "webhooks": lambda client: client.webhooks(),
    "create_webhook": lambda client: client.create_webhook("https://agent.example/hook", agent=UUID),
    "webhook": lambda client: client.webhook(UUID),
    "remove_webhook": lambda client: client.remove_webhook(UUID),
    "rotate_secret": lambda client: client.rotate_secret(UUID),
    "resume_webhook": lambda client: client.resume_webhook(UUID),
    "deliveries": lambda client: client.deliveries(UUID),
    "resend": lambda client: client.resend(UUID, UUID),
    "command": lambda client: client.command("/memory list"),
    "preferences": lambda client: client.preferences(),
    "threads": lambda client: client.threads(),
    "load_state": lambda client: client.load_state("t/1"),
    "save_state": lambda client: client.save_state("t/1", [1], version=0),
    "delete_thread": lambda client: client.delete_thread("t/1"),
}
STREAM = 'id: 1-0\nevent: token\ndata: {"text": "Hens"}\n\n'
END = "id: 2-0\nevent: done\ndata: {}\n\n"


@cache
def document():
    return json.loads(json.dumps(contract().document, default=str))


def check_sent(request):
    """Hold a request against the schema, as strictly as Keepsake does."""
    path = request.url.raw_path.decode().split("?")[0]
    paths = document()["paths"]
    fitting = [each for each in paths if re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", each), path)]
    assert fitting, path
    template = path if path in fitting else fitting[0]
    operation = paths[template][request.method.lower()]
    known = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}
    assert set(request.url.params) <= known
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    if request.content:
        Draft202012Validator({**body, "components": document()["components"]}).validate(json.loads(request.content))
    else:
        assert body is None


def answer(request):
    check_sent(request)
    if request.url.path.endswith(("/reply/", "/updates/")):
        return httpx.Response(200, text=STREAM + END)
    page = {"results": [], "next": None, "next_after": 9, "topics": []}
    return httpx.Response(200, json=page)


def sync_client(handler, **more):
    return Keepsake("http://keepsake", "ks_a.b", transport=httpx.MockTransport(handler), **more)


def test_every_method_sends_what_the_schema_takes():
    public = {name for name, each in inspect.getmembers(Keepsake, inspect.isfunction) if not name.startswith("_")}
    assert public - {"close", "request"} == set(CALLS)
    with sync_client(answer) as client:
        for call in CALLS.values():
            made = call(client)
            if inspect.isgenerator(made):
                list(made)

    async def awaited():
        transport = httpx.MockTransport(answer)
        async with AsyncKeepsake("http://keepsake", "ks_a.b", transport=transport) as client:
            for call in CALLS.values():
                made = call(client)
                if inspect.isasyncgen(made):
                    [each async for each in made]
                else:
                    await made

    asyncio.run(awaited())


def test_what_is_generated_is_up_to_date():
    generate = runpy.run_path(str(ROOT / "clients/python/tools/generate.py"))
    for path, text in generate["generated"](document()).items():
        assert path.read_text() == text, f"{path.name} is old: run make client"


def test_a_repeated_write_carries_the_same_key(monkeypatch):
    monkeypatch.setattr("keepsake.client.sleep", waits := [].append)
    asked = []

    def handler(request):
        asked.append(request.headers["Idempotency-Key"])
        if len(asked) == 1:
            raise httpx.ReadError("gone")
        return httpx.Response(503 if len(asked) == 2 else 201, json={"id": "a1b2c3d4"}, headers={"Retry-After": "5"})

    assert sync_client(handler).add("The user keeps hens.", "interests")["id"] == "a1b2c3d4"
    assert len(asked) == 3
    assert len(set(asked)) == 1
    assert waits.__self__[1] == 5


def test_a_service_names_the_person_in_whatever_letters():
    named = []

    def handler(request):
        named.append(dict(request.headers.raw)[b"X-Keepsake-User"].decode())
        return httpx.Response(200, json={"topics": []})

    client = sync_client(handler, user="Žofie")
    client.topics()
    client.request("GET", "memories/topics/", user="Ådne")
    client.topics()
    assert named == ["Žofie", "Ådne", "Žofie"]


def test_what_could_happen_twice_is_not_repeated(monkeypatch):
    monkeypatch.setattr("keepsake.client.sleep", lambda seconds: None)
    asked = []

    def handler(request):
        asked.append(request.method)
        raise httpx.ReadError("gone")

    with pytest.raises(Unreachable):
        sync_client(handler).update("a1b2c3d4", "The user keeps ducks.")
    assert asked == ["PUT"]
    with pytest.raises(Unreachable):
        sync_client(handler, retries=2).get("a1b2c3d4")
    assert asked == ["PUT", "GET", "GET", "GET"]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (409, {"detail": "There is one.", "code": "similar_exists", "memory": {"id": "a1b2c3d4"}}, Conflict),
        (422, {"detail": "No.", "code": "gate"}, Refused),
        (403, {"detail": "No.", "code": "memory_off"}, NotAllowed),
        (500, None, Unavailable),
    ],
)
def test_errors_are_classes(status, body, kind):
    with pytest.raises(kind) as error:
        sync_client(lambda request: httpx.Response(status, json=body)).get("a1b2c3d4")
    assert (error.value.status, error.value.body) == (status, body)
    assert error.value.code == (body or {}).get("code", "")


def test_a_limit_says_how_long_to_wait():
    told = httpx.Response(429, json={"detail": "Slow.", "code": "throttled"}, headers={"Retry-After": "90"})
    with pytest.raises(RateLimited) as error:
        sync_client(lambda request: told).topics()
    assert error.value.retry_after == 90


def test_pages_follow_each_other():
    pages = {"1": {"results": [{"id": "a"}], "next": "http://elsewhere/api/v1/memories/?page=2&per_page=100"}}
    last = {"results": [{"id": "b"}], "next": None}
    asked = []

    def handler(request):
        asked.append(request.url.host)
        return httpx.Response(200, json=pages.get(request.url.params.get("page", "1"), last))

    assert [each["id"] for each in sync_client(handler).memories()] == ["a", "b"]
    assert asked == ["keepsake", "keepsake"]


def test_many_things_go_in_parts_and_keep_their_order():
    def handler(request):
        items = json.loads(request.content)["items"]
        assert len(request.content) < 1_000_000
        return httpx.Response(200, json={"results": [{"index": index} for index in range(len(items))]})

    items = [{"content": "x" * 500, "category": "work", "metadata": {"x": "y" * 3_000}}] * 1_100
    assert [each["index"] for each in sync_client(handler).add_many(items)] == list(range(1_100))


class Broken(httpx.SyncByteStream):
    def __iter__(self):
        yield STREAM.encode()
        raise httpx.ReadError("gone")


def test_a_reply_that_breaks_is_followed_where_it_broke():
    asked = []

    def handler(request):
        asked.append((request.method, unquote(request.url.raw_path.decode())))
        if request.method == "POST":
            return httpx.Response(200, stream=Broken(), headers={"Keepsake-Reply": UUID})
        return httpx.Response(200, text=END)

    events = list(sync_client(handler).reply("c1", "Hello"))
    assert [each.name for each in events] == ["token", "done"]
    assert asked[1] == ("GET", f"/api/v1/conversations/c1/reply/{UUID}/?after=1-0")

"""The change feed as it happens: the long poll and the stream, over a real port; and who is told how long."""

import json
import threading
import time

import httpx2
import pytest
from asgiref.sync import async_to_sync
from django.db import connections

from accounts.actions import grant_set
from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from journal.exceptions import NotAllowed
from memories.actions import memory_archive, memory_reject
from memories.feed import follow_changes
from tests import factories
from tests.conftest import collected, with_key
from tests.factories import rev_of
from tests.serving import running
from web import streaming

pytestmark = pytest.mark.django_db(transaction=True)
CHANGES = "/api/v1/changes/"


@pytest.fixture
def address():
    with running() as url:
        yield url


@pytest.fixture
def ask(address, agent):
    """``ask(query)`` asks with the agent's key."""

    def get(query="", agent=agent, **headers):
        return httpx2.get(
            f"{address}{CHANGES}{query}",
            headers={"Authorization": f"Bearer {agent.credential}", **headers},
            timeout=20,
        )

    return get


@pytest.fixture
def meanwhile():
    """``meanwhile(act)`` does something once a waiting request or a stream has its place."""
    threads = []

    def begin(user, act):
        def run():
            key, deadline = f"keepsake:streams:{user.pk}", time.monotonic() + 10
            while not streaming.valkey_client().zcard(key) and time.monotonic() < deadline:
                time.sleep(0.01)
            act()

        threads.append(threading.Thread(target=in_thread, args=(run,)))
        threads[-1].start()

    yield begin
    for thread in threads:
        thread.join()


def in_thread(run):
    try:
        run()
    finally:
        connections.close_all()


def stream_events(text):
    """The events of a stream: (id, name, data)."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


class TestWaiting:
    def test_it_answers_as_soon_as_something_happens(self, ask, owner, meanwhile):
        memory = factories.MemoryFactory(user=owner)
        after = rev_of(owner)
        meanwhile(owner, lambda: memory_archive(principal_for_person(owner.pk), memory.pk))
        begun = time.monotonic()
        answer = ask(f"?after={after}&wait=15")
        assert time.monotonic() - begun < 10
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        (told,) = answer.json()["results"]
        assert (told["event"], told["object"], answer.json()["next_after"]) == ("DELETE", memory.pk, rev_of(owner))

    def test_what_is_there_is_answered_at_once(self, ask, owner):
        factories.MemoryFactory(user=owner)
        memory_reject(principal_for_person(owner.pk), factories.MemoryFactory(user=owner).pk)
        assert [each["event"] for each in ask("?wait=15").json()["results"]][-1] == "REJECT"

    def test_after_the_time_it_answers_that_nothing_happened(self, ask, owner):
        assert ask("?after=7&wait=1").json() == {"results": [], "next_after": 7}

    def test_whoever_is_kept_out_meanwhile_is_told_so(self, ask, owner, agent, meanwhile):
        meanwhile(owner, lambda: grant_set(principal_for_person(owner.pk), agent.pk, revoked=True))
        answer = ask(f"?after={rev_of(owner) + 9}&wait=15")
        assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")

    def test_it_takes_a_place_and_gives_it_back(self, ask, owner, settings):
        settings.UPDATES_STREAMS_PER_PERSON = 0
        assert ask("?wait=1").json()["code"] == "too_many_streams"
        settings.UPDATES_STREAMS_PER_PERSON = 1
        for _ in range(3):
            assert ask("?after=7&wait=1").status_code == 200

    def test_a_client_that_leaves_gives_its_place_back(self, address, owner, agent):
        with pytest.raises(httpx2.TimeoutException):
            httpx2.get(
                f"{address}{CHANGES}?after=7&wait=30",
                headers={"Authorization": f"Bearer {agent.credential}"},
                timeout=0.5,
            )
        key, deadline = f"keepsake:streams:{owner.pk}", time.monotonic() + 10
        while streaming.valkey_client().zcard(key) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not streaming.valkey_client().zcard(key)

    def test_with_valkey_away_it_looks_again_after_a_while(self, ask, owner, settings):
        settings.REDIS_URL, settings.CHANGES_RETRY_SECONDS = "unix:///nowhere/valkey.sock", 0.05
        assert ask("?after=7&wait=15").json() == {"results": [], "next_after": 7}

    @pytest.mark.parametrize("wait", ["-1", "31", "x"])
    def test_how_long_is_bounded(self, api, owner, wait):
        assert api(owner).get(f"{CHANGES}?wait={wait}").json().keys() == {"wait"}


class TestStream:
    @pytest.fixture(autouse=True)
    def _short(self, settings):
        settings.CHANGES_STREAM_SECONDS = 0.3

    def test_it_tells_what_happened_and_what_happens(self, ask, owner, meanwhile, settings):
        settings.CHANGES_STREAM_SECONDS = 2
        memory = factories.MemoryFactory(user=owner)
        memory_archive(principal_for_person(owner.pk), memory.pk)
        other = factories.MemoryFactory(user=owner)
        meanwhile(owner, lambda: memory_reject(principal_for_person(owner.pk), other.pk))
        answer = ask(Accept="text/event-stream")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/event-stream")
        told = stream_events(answer.text)
        assert [(name, data["event"], data["object"]) for _, name, data in told if data["event"] != "ADD"] == [
            ("change", "DELETE", memory.pk),
            ("change", "REJECT", other.pk),
        ]
        assert [int(each) for each, _, _ in told] == [data["rev"] for _, _, data in told]
        assert memory.content not in answer.text

    def test_an_erasure_comes_as_a_tombstone_without_text(self, address, owner, agent, meanwhile, settings):
        settings.CHANGES_STREAM_SECONDS = 20
        memory = factories.MemoryFactory(user=owner, content="The user keeps a zanzibar parrot.")
        after = rev_of(owner)

        def erase():
            run_erasure(erasure_request(principal_for_person(owner.pk), "memory", memory.pk)[1].pk)

        meanwhile(owner, erase)
        headers = {"Authorization": f"Bearer {agent.credential}", "Accept": "text/event-stream"}
        lines = []
        with httpx2.stream("GET", f"{address}{CHANGES}?after={after}", headers=headers, timeout=20) as answer:
            for line in answer.iter_lines():
                lines.append(line)
                if '"ERASE"' in line:
                    break
        told = [data for _, _, data in stream_events("\n".join(lines)) if data["object"] == memory.pk]
        assert [each["event"] for each in told] == ["ERASE"]
        assert "zanzibar" not in "\n".join(lines)

    def test_it_goes_on_after_the_last_event(self, api, owner):
        for _ in range(2):
            memory_archive(principal_for_person(owner.pk), factories.MemoryFactory(user=owner).pk)

        def told(query="", **headers):
            answer = api(owner).get(f"{CHANGES}?format=events{query}", headers=headers)
            return [int(each) for each, _, _ in stream_events(b"".join(collected(answer.streaming_content)).decode())]

        every = told()
        assert len(every) >= 2
        assert told(f"&after={every[0]}") == told(**{"Last-Event-ID": str(every[0])}) == every[1:]
        # A browser asks again with the address that it had, and the id.
        assert told("&after=0", **{"Last-Event-ID": str(every[-1])}) == []

    def test_an_id_that_is_none_is_refused(self, api, owner):
        answer = api(owner).get(f"{CHANGES}?format=events", headers={"Last-Event-ID": "1-2"})
        assert answer.status_code == 400
        assert b"bad_id" in answer.content

    def test_it_ends_for_whoever_is_let_in_no_more(self, api, owner, agent):
        stream = api(agent).get(f"{CHANGES}?format=events").streaming_content
        grant_set(principal_for_person(owner.pk), agent.pk, revoked=True)
        assert stream_events(b"".join(collected(stream)).decode()) == []

    def test_an_agent_hears_of_what_it_may_see(self, api, owner):
        stylist = with_key(factories.AgentFactory(name="stylist", owner=owner, role="stylist"))
        memory_archive(principal_for_person(owner.pk), factories.MemoryFactory(user=owner, category="person").pk)
        hers = factories.MemoryFactory(user=owner, category="tone")
        memory_archive(principal_for_person(owner.pk), hers.pk)
        stream = api(stylist).get(f"{CHANGES}?format=events").streaming_content
        told = stream_events(b"".join(collected(stream)).decode())
        assert {data["object"] for _, _, data in told if data["object_type"] == "memory"} == {hers.pk}


def test_whoever_is_let_in_no_more_meanwhile_hears_nothing_of_what_was_read(owner):
    memory_archive(principal_for_person(owner.pk), factories.MemoryFactory(user=owner).pk)
    lets_in = iter([principal_for_person(owner.pk)])

    def caller():
        principal = next(lets_in, None)
        if principal is None:
            raise NotAllowed("The key was revoked.")
        return principal

    async def follow():
        return [each async for each in follow_changes(caller, owner.pk, 0, 5, lambda _, changes: changes)]

    with pytest.raises(NotAllowed):
        async_to_sync(follow)()

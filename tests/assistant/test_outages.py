"""A whole deployment whose broker and whose database go away while people write: nothing is lost, nothing twice."""

import os
import signal
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from .consistency import faults, unfinished
from .deployment import own_deployment
from .processes import PATIENCE_SECONDS, wait_for

pytestmark = pytest.mark.slow

CONVERSATIONS = "/api/v1/conversations/"


@pytest.fixture(scope="module")
def deployment():
    with own_deployment() as made:
        yield made


@pytest.fixture(autouse=True)
def _servers_back(deployment):
    """What one test leaves stopped is there again for the next."""
    yield
    for server in (deployment.valkey, deployment.postgres):
        if not server.running():
            server.start()
            server.wait_ready()


@pytest.fixture
def talk(deployment):
    """The path of the messages of a new conversation about a legacy."""
    client = deployment.client()
    legacy = client.post("/api/v1/legacies/", {"name": "Grandmother Rosa"}).json()["id"]
    conversation = client.post(CONVERSATIONS, {"legacy": legacy}).json()["id"]
    return f"{CONVERSATIONS}{conversation}/messages/"


def message(content):
    return {"role": "user", "content": content}


def test_without_a_broker_appending_is_as_quick_and_the_work_is_done_later(deployment, talk):
    client = deployment.client()
    assert client.post(talk, {"messages": [message(f"Before, {n}.") for n in range(20)]}).status == 201
    os.kill(deployment.valkey.pid, signal.SIGKILL)
    wait_for(lambda: not deployment.valkey.running(), lambda: "Valkey is still there")
    answers = [client.post(talk, message(f"She loved opera, and sang number {n}.")) for n in range(20)]
    assert [answer.status for answer in answers] == [201] * 20
    # Had each waited for the broker, all would be slow; a single one can be, on a machine that is busy otherwise.
    assert statistics.median(answer.seconds for answer in answers) < 1
    assert client.get("/health/ready").json()["status"] == "degraded"

    deployment.valkey.start()
    deployment.valkey.wait_ready()
    assert "more messages wait to be summarised than may" in unfinished(deployment.rows)  # Nobody was told.
    deployment.send_task("assistant.sweep")
    wait_for(lambda: not unfinished(deployment.rows), lambda: unfinished(deployment.rows))
    assert faults(deployment.rows) == {}


def test_a_restarted_database_loses_nothing_and_shows_no_trace(deployment, talk):
    begun, back = Event(), Event()
    answers = []

    def write(number):
        """Write until the database is back and a while longer; return how many messages came in.

        One that was refused is sent again under the same key until it is in.
        """
        client = deployment.client()
        written, after = 0, 0
        deadline = time.monotonic() + PATIENCE_SECONDS
        while after < 5:
            assert time.monotonic() < deadline
            key = {"Idempotency-Key": f"{talk}{number}.{written}"}
            was_back = back.is_set()
            answer = client.post(talk, message(f"Writer {number}, message {written}."), **key)
            answers.append(answer)
            if answer.status == 201:
                written += 1
                after += was_back
                if written == 5:
                    begun.set()
            else:
                time.sleep(0.05)  # As a client does that is told to try again.
        return written

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(write, number) for number in range(4)]
        assert begun.wait(PATIENCE_SECONDS)
        deployment.postgres.stop()
        deployment.postgres.start()
        deployment.postgres.wait_ready()
        back.set()
        written = [future.result() for future in writing]

    assert {answer.status for answer in answers} == {201, 503}
    for answer in answers:
        if answer.status == 503:
            assert answer.json()["code"] == "unavailable"
            assert answer.headers["Retry-After"]
    stored = deployment.rows("SELECT content FROM conversations_message WHERE content LIKE 'Writer %' ORDER BY index")
    said = [content for (content,) in stored]
    assert len(said) == sum(written)
    for number, count in enumerate(written):
        mine = [content for content in said if content.startswith(f"Writer {number},")]
        assert mine == [f"Writer {number}, message {n}." for n in range(count)]

    deployment.let_leases_expire()
    deployment.send_task("assistant.sweep")
    wait_for(lambda: not unfinished(deployment.rows), lambda: unfinished(deployment.rows))
    assert faults(deployment.rows) == {}

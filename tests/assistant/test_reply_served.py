"""An answer over a real port: it comes bit by bit, and is stopped and followed again while the model still speaks."""

import json
from contextlib import contextmanager

import httpx2
import pytest

from conversations.models import Message
from tests import factories
from tests.language.messages_api import spoken
from tests.serving import running

from .replying import address, behind

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _model_behind_the_api(settings, server):
    behind(settings, server)


def done_in(lines):
    """What the event "done" says of the lines that are still to come."""
    told = iter(lines)
    assert "event: done" in told
    return json.loads(next(line for line in told if line.startswith("data: ")).removeprefix("data: "))


@contextmanager
def answering(owner, agent, server):
    """Ask over a port while the model speaks without end: the conversation, the URL, the headers and the answer."""
    conversation = factories.ConversationFactory(user=owner, agent=agent)
    headers = {"Authorization": f"Bearer {agent.credential}"}
    server.answers(spoken("Once upon a time", ends=False))
    with running() as url:
        said = {"url": f"{url}{address(conversation)}", "json": {"content": "Tell me a story."}, "headers": headers}
        with httpx2.stream("POST", **said, timeout=20) as answer:
            assert answer.status_code == 200
            reply = url + address(conversation, answer.headers["Keepsake-Reply"])
            yield conversation, reply, headers, answer.iter_lines()


def test_words_come_while_the_model_still_speaks_and_stop_when_told(owner, agent, server):
    with answering(owner, agent, server) as (conversation, reply, headers, lines):
        assert next(line for line in lines if "Once upon a time" in line)
        assert not server.gone.is_set()  # It has not ended: what was said by then was not held back.
        assert httpx2.post(f"{reply}stop/", headers=headers, timeout=20).status_code == 202
        done = done_in(lines)
        assert (done["state"], done["code"]) == ("stopped", "stopped")
        assert server.gone.wait(10)
    assert Message.objects.get(conversation=conversation, role="assistant").content == "Once upon a time"


def test_another_connection_follows_it_from_its_beginning(owner, agent, server):
    with answering(owner, agent, server) as (_, reply, headers, lines):
        assert next(line for line in lines if "Once" in line)
        with httpx2.stream("GET", reply, headers=headers, timeout=20) as second:
            assert next(line for line in second.iter_lines() if "Once upon a time" in line)
        httpx2.post(f"{reply}stop/", headers=headers, timeout=20)

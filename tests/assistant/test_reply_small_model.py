"""A conversation with a real, if small, model behind a real server that speaks the Messages API."""

import os
import subprocess
from pathlib import Path

import pytest

from assistant.models import Reply
from conversations.models import Message
from tests import factories

from .replying import named, say, text_of

ENVIRONMENT = Path(os.environ.get("KEEPSAKE_SMALL_MODEL", "/nonexistent"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not ENVIRONMENT.exists(), reason="needs KEEPSAKE_SMALL_MODEL, which make test-slow fills"),
]


@pytest.fixture
def address():
    """Where SmolLM2-135M is served."""
    command = [ENVIRONMENT / "bin/python", Path(__file__).with_name("small_model.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        yield next(line.strip() for line in server.stdout if line.startswith("http"))
        server.stdin.close()
        server.wait(60)


def test_a_small_real_model_holds_a_streamed_conversation(api, owner, talk, settings, address):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.KEEPSAKE_REPLY_MODEL = "smollm2"
    settings.ANTHROPIC_API_KEY = "none"
    settings.ANTHROPIC_BASE_URL = address
    settings.REPLY_TOKENS = 100
    factories.MemoryFactory(user=owner, content="Alec is the user's boss at TechCorp.", subject="Alec")
    client, conversation = api(owner), talk(owner)
    for content in ("Hello! Who are you?", "Who is Alec?"):
        events = say(client, conversation, content, mode="chat")
        [done] = named(events, "done")
        assert (done["state"], done["code"]) == ("done", "")
        assert len(named(events, "token")) > 3
        assert Message.objects.get(index=done["index"]).content == text_of(events).strip()
    first, second = Reply.objects.order_by("started_at")
    assert first.output_tokens > 0
    # The second prompt begins with the bytes of the first, so the server takes most of it out of its cache.
    assert second.cached_percent >= 50

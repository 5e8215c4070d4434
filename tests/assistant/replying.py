"""Talking with the assistant over HTTP, as a client that reads its stream does."""

import asyncio
import json

from asgiref.sync import async_to_sync

from assistant.learn import actions as learning
from assistant.reply import running
from conversations.models import Message
from memories.models import Memory
from tests.language.messages_api import KEY, MODEL


def behind(settings, server):
    """Let the assistant's model be the one behind a server of the tests."""
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.KEEPSAKE_MODEL = settings.KEEPSAKE_REPLY_MODEL = MODEL
    settings.ANTHROPIC_API_KEY = KEY
    settings.ANTHROPIC_BASE_URL = server.url
    settings.KEEPSAKE_MODEL_TIMEOUT_SECONDS = 20
    settings.KEEPSAKE_MODEL_RETRIES = 0


def address(conversation, *more):
    return "/".join([f"/api/v1/conversations/{conversation.pk}/reply", *map(str, more), ""])


def say(client, conversation, content, **more):
    """Say something, and return what the whole stream told: (id, event, data)."""
    return heard(client.post(address(conversation), {"content": content, **more}))


def heard(answer):
    assert answer.status_code == 200, answer.content
    return read(b"".join(all_of(answer.streaming_content)))


def all_of(parts):
    """What is streamed, until those who make it are done as well."""

    async def collect():
        found = [part async for part in parts]
        await asyncio.gather(*running._running)
        return found

    return async_to_sync(collect)()


def read(body):
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append((lines["id"], lines["event"], json.loads(lines["data"])))
    return found


def named(events, name):
    """The data of the events of one name."""
    return [data for _, event, data in events if event == name]


def text_of(events):
    return "".join(data["text"] for data in named(events, "token"))


def telling(client, conversation):
    """``tell(content)``: say it, have a worker read what is to be read, and return the answer's text."""

    def tell(content, where=conversation):
        text = text_of(say(client, where, content))
        learning.extract_messages(where.pk)
        return text

    return tell


def remembered():
    """The contents of all active memories."""
    return sorted(Memory.objects.filter(state="active").values_list("content", flat=True))


def record():
    """What all messages say."""
    return " ".join(Message.objects.order_by("index").values_list("content", flat=True))

"""What the scenarios play with: an agent's program over HTTP, and what its model would read."""

from uuid import UUID

import pytest

from assistant.learn.summarizing import maybe_summarize
from tests.memories.state import check


class Program:
    """An agent's program: it opens conversations, prepares turns, and passes on its model's calls of tools."""

    def __init__(self, client):
        self.client = client
        self.talk = None

    def opens_a_conversation(self, **body):
        self.talk = self.ask("post", "conversations/", body, 201)["id"]
        return self.talk

    def hears(self, content, role="user"):
        """Save a message; returns its id."""
        answer = self.ask("post", f"conversations/{self.talk}/messages/", {"role": role, "content": content}, 201)
        return answer["messages"][0]["id"]

    def prepares(self, content, **body):
        """The system prompt for the next model call, above the cache boundary and below."""
        turn = self.ask("post", f"conversations/{self.talk}/turn/", {"content": content, "save": True, **body})
        above, *below = turn["system"]
        return above["text"], "".join(part["text"] for part in below)

    def tool(self, name, *, message=None, **arguments):
        """What a tool answers the model."""
        body = {"arguments": arguments, "conversation": self.talk, "message": message}
        return self.ask("post", f"tools/{name}/", body)

    def finishes(self):
        """End the conversation, and let the worker read it, as it would in the background."""
        self.ask("post", f"conversations/{self.talk}/finish/", {}, 202)
        assert maybe_summarize(UUID(self.talk)) == 1

    def types(self, text):
        """What a typed command is answered with, without any model."""
        return self.ask("post", "command/", {"text": text})

    def ask(self, method, path, body=None, status=200):
        answer = getattr(self.client, method)(f"/api/v1/{path}", body)
        assert answer.status_code == status, (answer.status_code, answer.content)
        return answer.json() if answer.content else None


@pytest.fixture
def program(api, agent):
    """The program of ``agent``, which acts for ``owner``."""
    return Program(api(agent))


@pytest.fixture
def person(api, owner):
    """``owner``, signed in."""
    return Program(api(owner))


@pytest.fixture
def committed(django_capture_on_commit_callbacks):
    """``with committed():`` what is left until a request's transaction ends happens with the block's end."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


@pytest.fixture(autouse=True)
def _sound_afterwards(owner):
    """Whatever a scenario did, counts equal a recount and neither revisions nor versions have holes."""
    yield
    check(owner)

"""Addresses of memories over REST, and what their answers hold."""

from memories.models import Memory

URL = "/api/v1/memories/"
BODY = {"content": "Keeps bees behind the house.", "category": "interests"}


def url(memory, what=""):
    """The address of a memory, given as a row, as an answer or by its id."""
    pk = memory if isinstance(memory, str) else memory["id"] if isinstance(memory, dict) else memory.pk
    return f"{URL}{pk}/{what}"


def contents(answer):
    """What a list answer holds, in its order."""
    assert answer.status_code == 200, answer.content
    return [memory["content"] for memory in answer.json()["results"]]


def add(client, content=BODY["content"], category=BODY["category"], **body):
    """What became of something to be remembered."""
    answer = client.post(URL, {"content": content, "category": category, **body})
    assert answer.status_code in {200, 201, 202}, answer.content
    return answer.json()


def now(memory):
    """A memory as it is stored now, without the columns that searches read."""
    pk = memory["id"] if isinstance(memory, dict) else memory.pk
    return Memory.objects.without_vectors().get(pk=pk)


def refusal(answer):
    """The status and the code of an answer."""
    return answer.status_code, answer.json().get("code")

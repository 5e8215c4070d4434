"""Adapters of Keepsake: over HTTP, and in process through the functions behind the API."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from tests.assistant.deployment import Answer, Client, Deployment

from .filling import user_id_of
from .plan import Person
from .system import LISTED, TOP

CATEGORY = "context"
BUDGET = 4_000
"""The token budget of an answer: enough for ten statements, as many as the other systems return."""

_IDLE = 1.0
"""Seconds after which gunicorn may have closed a connection; it is reopened before the timing starts."""


def people_by_name(people: Sequence[Person]) -> Mapping[str, Person]:
    """Return people by name."""
    return {person.name: person for person in people}


class _Keepsake:
    """The base of both adapters."""

    lacks: Mapping[str, str] = {}

    def __init__(self, people: Mapping[str, Person]) -> None:
        self._people = people

    def prepare(self, work: str, *arguments: Any) -> None:
        """Clear the cache: peers have none, and a cached answer is measured as ``…_again``."""
        from django.core.cache import cache

        if work in {"list", "block"}:
            cache.clear()

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the contents of the person's memories."""
        from memories.models import Memory

        found = dict(Memory.objects.filter(user_id=user_id_of(self._people[person])).values_list("id", "content"))
        return [found.get(memory_id, "") for memory_id in ids]


class OverHttp(_Keepsake):
    """Requests of a service to gunicorn (one process) on a persistent connection."""

    name = "Keepsake HTTP"

    def __init__(self, people: Mapping[str, Person], deployment: Deployment) -> None:
        super().__init__(people)
        self._deployment = deployment
        # A service that uses the deployment's user names and may not decide for people.
        options = ("--service", "--issuer=local", "--scopes=read,write", "--quiet")
        self._key = deployment.manage("create_agent_key", "benchmark", "--user=olga", *options)
        self._clients: dict[str, tuple[Client, float]] = {}

    def prepare(self, work: str, *arguments: Any) -> None:
        """Open a connection for the person of the call."""
        super().prepare(work, *arguments)
        person = arguments[0]
        client, used = self._clients.get(person, (None, 0.0))
        if client is None or time.monotonic() - used > _IDLE:
            client = self._deployment.client(self._key, person)
            _checked(client.get("/health/live"))
        self._clients[person] = client, time.monotonic()

    def _client(self, person: str) -> Client:
        return self._clients[person][0]

    def add(self, person: str, text: str) -> list[str]:
        """``POST memories/``."""
        body = {"content": text, "category": CATEGORY, "insist": True}
        return [_checked(self._client(person).post("/api/v1/memories/", body)).json()["id"]]

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """``POST memories/bulk/``: one request; the gates check each statement separately."""
        body = {"items": [{"content": text, "category": CATEGORY, "insist": True} for text in texts]}
        answer = _checked(self._client(person).post("/api/v1/memories/bulk/", body)).json()
        return [each["id"] for each in answer["results"]]

    def search(self, person: str, text: str) -> list[str]:
        """``POST memories/query/``."""
        body = {"query": text, "top_k": TOP, "budget_tokens": BUDGET, "sources": ["memories"]}
        answer = _checked(self._client(person).post("/api/v1/memories/query/", body))
        return [each["id"] for each in answer.json()["results"]]

    def list(self, person: str) -> list[str]:
        """``GET memories/``, the newest first."""
        answer = _checked(self._client(person).get(f"/api/v1/memories/?{urlencode({'per_page': LISTED})}"))
        return [each["id"] for each in answer.json()["results"]]

    list_again = list

    def block(self, person: str) -> str:
        """``GET memories/context/``."""
        text: str = _checked(self._client(person).get("/api/v1/memories/context/")).json()["text"]
        return text

    block_again = block


class InProcess(_Keepsake):
    """The functions behind the API, with the principal loaded for each call."""

    name = "Keepsake"
    lacks: Mapping[str, str] = {"list_again": "only the API keeps pages"}

    def principal(self, person: str) -> Any:
        """Load the person as the principal."""
        from accounts.queries import principal_for_person

        return principal_for_person(user_id_of(self._people[person]))

    def add(self, person: str, text: str) -> list[str]:
        """``memory_add`` as an agent without the scope admin."""
        from memories.actions import memory_add
        from memories.records import NewMemory

        return [memory_add(self._agent(person), NewMemory(text, CATEGORY), insist=True).memory.pk]

    def add_many(self, person: str, texts: Sequence[str]) -> list[str]:
        """``memories_add`` as an agent without the scope admin."""
        from memories.actions import memories_add
        from memories.records import Addition, NewMemory, Outcome

        additions = [Addition(NewMemory(text, CATEGORY), insist=True) for text in texts]
        outcomes = memories_add(self._agent(person), additions)
        return [outcome.memory.pk for outcome in outcomes if isinstance(outcome, Outcome)]

    def _agent(self, person: str) -> Any:
        return replace(self.principal(person), kind="agent", scopes=frozenset(("read", "write")))

    def search(self, person: str, text: str) -> list[str]:
        """``memory_query``."""
        from assistant.recall.query import Question, memory_query

        answer = memory_query(self.principal(person), Question(text, top_k=TOP, budget_tokens=BUDGET))
        return [result.id for result in answer.results]

    def list(self, person: str) -> list[str]:
        """The rows of the first page, newest first, as objects."""
        from memories.models import Memory

        rows = Memory.objects.visible_to(self.principal(person)).without_vectors().order_by("-updated_at", "id")
        return [memory.pk for memory in rows[:LISTED]]

    def block(self, person: str) -> str:
        """``memory_block``."""
        from memories.block import memory_block

        return memory_block(self.principal(person)).text

    block_again = block


def _checked(answer: Answer) -> Answer:
    """Return a successful answer; end the run otherwise."""
    if answer.status not in {200, 201}:
        sys.exit(f"Keepsake answered {answer.status}: {answer.text[:300]}")
    return answer

"""A language model whose answers the test writes, and conversations to try it on."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import NewMessage, conversation_create, messages_append
from language.base import Extraction, FactCandidate, ToolAnswer


class ScriptedModel:
    """Answers with what ``answer`` returns for a request; remembers the requests."""

    name = "scripted"
    offline = False

    def __init__(self):
        self.requests = []
        self.answer = lambda request: Extraction(
            summary=f"Talk of messages {request.messages[0].index} to {request.messages[-1].index}.", model=self.name
        )

    def extract(self, request):
        self.requests.append(request)
        return self.answer(request)

    def same_fact(self, pairs):
        return ["different"] * len(pairs)

    def choose_tools(self, request):
        return ToolAnswer((), self.name)

    def condense(self, memories):
        return ()

    def finds(self, *facts):
        """Let every batch hold these facts: (category, content, index, quote)."""

        def answer(request):
            found = tuple(
                FactCandidate(category, content, (index,), quote) for category, content, index, quote in facts
            )
            return Extraction(summary="A talk about her.", model=self.name, facts=found)

        self.answer = answer


@pytest.fixture
def model(monkeypatch):
    scripted = ScriptedModel()
    monkeypatch.setattr("assistant.actions.get_model", lambda: scripted)
    monkeypatch.setattr("facts.actions.extraction.get_model", lambda: scripted)
    return scripted


@pytest.fixture
def talk():
    """``talk(person, legacy, n)`` makes a conversation of n messages, user and assistant in turn."""

    def make(person, legacy=None, count=0, *, said="I remember her well, number {n}.", **kwargs):
        principal = principal_for_person(person.pk)
        conversation = conversation_create(principal, legacy_id=legacy.pk if legacy else None, **kwargs)
        if count:
            say(person, conversation, *[said.format(n=n) for n in range(count)])
        conversation.refresh_from_db()
        return conversation

    return make


def say(person, conversation, *contents):
    """Append messages, the user first, then in turn."""
    roles = ["user", "assistant"]
    new = [NewMessage(roles[n % 2], content) for n, content in enumerate(contents)]
    return messages_append(principal_for_person(person.pk), conversation.pk, new)

"""A language model whose answers the test writes, and conversations to try it on."""

from copy import deepcopy
from functools import partial

import pytest

from accounts.queries import principal_for_person
from assistant.recall.turn import preparing
from conversations.actions import NewMessage, conversation_create, messages_append
from language.base import ChosenCalls, Extraction, FactCandidate, Selected, ToolCall
from language.consolidating import Compared, Condensing

from .replying import telling


class ScriptedModel:
    """Answers with what ``answer`` returns for a request; remembers the requests.

    It calls the tools that ``calls`` says, one list a round, and compares by ``verdicts``.
    """

    name = "scripted"
    offline = False

    def __init__(self):
        self.requests = []
        self.tool_requests = []
        self.rounds = []
        self.verdicts = {}
        self.asked = []
        self.answer = lambda request: Extraction(
            summary=f"Talk of messages {request.messages[0].index} to {request.messages[-1].index}.", model=self.name
        )

    def extract(self, request):
        self.requests.append(request)
        return self.answer(request)

    def same_fact(self, pairs):
        self.asked.append(list(pairs))
        return Compared(tuple(self.verdicts.get(pair, "different") for pair in pairs))

    def choose_tools(self, request):
        self.tool_requests.append(request)
        number = len(request.rounds)
        wanted = self.rounds[number] if number < len(self.rounds) else []
        wanted = wanted(request) if callable(wanted) else wanted
        calls = [ToolCall(f"call-{number}-{place}", *call) for place, call in enumerate(wanted)]
        return ChosenCalls(tuple(calls), self.name)

    def calls(self, *rounds):
        """Let every part of a conversation lead to these rounds of calls: (name, arguments), or what makes them."""
        self.rounds = list(rounds)

    @property
    def told(self):
        """What the calls were answered, in order, as the last request shows it."""
        return [result for each in self.tool_requests[-1].rounds for result in each.results]

    def select(self, question, passages, most):
        return Selected(tuple(passage.id for passage in passages[:most]))

    def condense(self, memories):
        return Condensing()

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
    monkeypatch.setattr("assistant.learn.summarizing.get_model", lambda: scripted)
    monkeypatch.setattr("assistant.learn.actions.get_model", lambda: scripted)
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


@pytest.fixture
def turns_of_each_budget(monkeypatch):
    """What was gathered once for a turn, fitted into ever smaller budgets: (full turn, budget, turn of that budget)."""
    drafts, really_gather = [], preparing.gather

    def gather(*args, **kwargs):
        if not drafts:
            drafts.append(really_gather(*args, **kwargs))
        return deepcopy(drafts[0])

    def sweep(person, conversation, content, *, down_to):
        monkeypatch.setattr(preparing, "gather", gather)
        principal = principal_for_person(person.pk)
        prepare = partial(preparing.prepare_turn, principal, conversation.pk, content, format="json")
        full = prepare()
        for budget in range(full.tokens, down_to, -15):
            yield full, budget, prepare(budget_tokens=budget)

    return sweep


def say(person, conversation, *contents):
    """Append messages, the user first, then in turn."""
    roles = ["user", "assistant"]
    new = [NewMessage(roles[n % 2], content) for n, content in enumerate(contents)]
    return messages_append(principal_for_person(person.pk), conversation.pk, new)


@pytest.fixture
def conversation(owner, talk):
    """A talk of the owner's with the assistant."""
    return talk(owner)


@pytest.fixture
def tell(api, owner, conversation):
    """``tell(content)`` in that talk, as ``telling`` does."""
    return telling(api(owner), conversation)

"""A language model whose comparisons the test decides, people's facts, and what the summariser would do."""

import pytest

from accounts.queries import principal_for_job, principal_for_person
from accounts.scope import enter
from conversations.actions import NewMessage, conversation_create, messages_append
from facts import actions
from facts.models import LegacyFact
from journal.actions import ledger_write
from journal.models import Ledger
from language.base import ChosenCalls, FactCandidate, Selected
from language.consolidating import Compared, Condensing


class ComparingModel:
    """Says of each pair what ``says`` holds for it, either way round; everything else differs."""

    name = "scripted"
    offline = False

    def __init__(self):
        self.says = {}
        self.asked = []
        self.error = None

    def same_fact(self, pairs):
        self.asked.append(list(pairs))
        if self.error:
            raise self.error
        return Compared(tuple(self.says.get((a, b)) or self.says.get((b, a)) or "different" for a, b in pairs))

    def choose_tools(self, request):
        return ChosenCalls((), self.name)

    def select(self, question, passages, most):
        return Selected(tuple(passage.id for passage in passages[:most]))

    def condense(self, memories):
        return Condensing()


@pytest.fixture
def model(monkeypatch):
    scripted = ComparingModel()
    monkeypatch.setattr("facts.actions.extraction.get_model", lambda: scripted)
    return scripted


@pytest.fixture
def add():
    """``add(person, legacy, content)``: the person adds a fact by hand."""

    def add(person, legacy, content="Rosa baked bread every Sunday.", category="habit", **kwargs):
        return actions.fact_add(principal_for_person(person.pk), legacy.pk, content, category, **kwargs)

    return add


@pytest.fixture
def shared(add):
    """``shared(person, legacy, content)``: the person adds a fact and shares it."""
    return lambda person, legacy, content="Rosa baked bread every Sunday.": add(
        person, legacy, content, visibility="shared"
    )


@pytest.fixture
def extract(model):
    """``extract(person, legacy, "Rosa kept bees.")``: facts as the summariser finds and records them.

    Each is a content, whose message and quote say the same, or a FactCandidate over ``said``.
    """

    def extract(person, legacy, *found, said=None, conversation=None, written_by="offline rules 1"):
        candidates = [
            each if isinstance(each, FactCandidate) else FactCandidate("habit", each, (number,), each)
            for number, each in enumerate(found)
        ]
        said = said or [NewMessage("user", candidate.quote) for candidate in candidates]
        if conversation is None:
            conversation = conversation_create(principal_for_person(person.pk), legacy_id=legacy.pk)
        messages = messages_append(principal_for_person(person.pk), conversation.pk, said)
        prepared = actions.prepare_extracted(legacy.pk, person.pk, candidates, written_by)
        job = enter(principal_for_job(person.pk))
        with ledger_write(job.actor, person.pk, legacy.pk) as write:
            return actions.record_extracted(
                write, job, conversation, prepared, {message.index: message for message in messages}
            )

    return extract


def now(fact):
    """The fact as it is stored now."""
    return LegacyFact.objects.get(pk=fact.pk)


def rev(owner):
    return Ledger.objects.get(pk=owner.pk).rev


def url(fact, what=""):
    return f"/api/v1/facts/{fact.pk}/{what}"


def facts_url(legacy, query=""):
    return f"/api/v1/legacies/{legacy.pk}/facts/{query}"


def contents(answer):
    """What a list answer holds."""
    assert answer.status_code == 200, answer.content
    return [fact["content"] for fact in answer.json()["results"]]

"""People and agents as principals, an embedder that can be away, and what memories look like afterwards."""

from dataclasses import replace

import pytest

from accounts.queries import principal_for_job, principal_for_staff
from accounts.scope import enter
from language.backends import get_embedder
from language.base import EmbedderUnavailable
from memories import actions
from memories.records import NewMemory
from tests import factories

EMBEDDING = ("statements.wording", "statements.actions.upkeep")


@pytest.fixture
def job(owner):
    """The principal of a background job that works for ``owner``."""
    return enter(principal_for_job(owner.pk))


@pytest.fixture
def moderator(staff):
    return principal_for_staff(staff)


@pytest.fixture
def bot(agent):
    """The principal of ``agent``, with read and write, for its owner."""
    return factories.agent_principal(agent)


@pytest.fixture
def cautious(bot):
    """The same where the person reviews before."""
    return replace(bot, review="before")


@pytest.fixture
def backend(service, owner):
    """The principal of a service with every scope, acting for ``owner``."""
    return factories.agent_principal(service, owner, scopes=("read", "write", "admin"))


@pytest.fixture
def add():
    """``add(principal, content)``: remember something. Returns the Outcome."""

    def add(principal, content="The user keeps bees.", category="context", **values):
        kwargs = {name: values.pop(name) for name in ("insist", "conversation_id", "message_id") if name in values}
        return actions.memory_add(principal, NewMemory(content, category, **values), **kwargs)

    return add


@pytest.fixture
def away(monkeypatch):
    """``away()`` takes the embedder away until ``away.back()``."""

    class Away:
        name = "hashing:384"
        dimensions = 384

        def embed_passages(self, texts):
            raise EmbedderUnavailable("away")

        embed_query = embed_passages

    def put(made):
        for module in EMBEDDING:
            monkeypatch.setattr(f"{module}.get_embedder", made)

    def take():
        put(Away)

    take.back = lambda: put(get_embedder)
    return take

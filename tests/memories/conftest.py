"""People and agents as principals, an embedder that can be away, and what memories look like afterwards."""

import pytest

from accounts.queries import principal_for_job, principal_for_staff
from accounts.scope import enter
from memories import actions
from memories.records import NewMemory
from tests import factories


@pytest.fixture
def job(owner):
    """The principal of a background job that works for ``owner``."""
    return enter(principal_for_job(owner.pk))


@pytest.fixture
def moderator(staff):
    return principal_for_staff(staff)


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

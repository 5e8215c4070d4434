"""A receiver of webhooks, and a worker that delivers at once."""

import pytest

from accounts.queries import principal_for_person
from memories.actions import (
    webhook_create,
    webhook_deliver,
    webhooks_sweep,
)

from .receiver import receiving


@pytest.fixture
def private(settings):
    """Let webhooks lead to this machine."""
    settings.WEBHOOKS_PRIVATE = True


@pytest.fixture
def receiver():
    with receiving() as found:
        yield found


@pytest.fixture
def queued(monkeypatch):
    """The jobs that the sweep hands to workers."""
    ids = []
    monkeypatch.setattr("memories.actions.webhooks.enqueue", lambda task, pk: ids.append(pk))
    return ids


@pytest.fixture
def run(queued):
    """``run()`` does what the sweep finds, as a worker does."""

    def work():
        webhooks_sweep()
        while queued:
            webhook_deliver(queued.pop(0))

    return work


@pytest.fixture
def hook(owner, agent, receiver):
    return webhook_create(principal_for_person(owner.pk), agent.pk, receiver.url)

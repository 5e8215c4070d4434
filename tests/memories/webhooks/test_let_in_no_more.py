"""What is told to an agent that was kept out, narrowed, or whose key has ended."""

import pytest
from django.utils import timezone

from accounts.actions import agent_key_revoke, grant_set
from accounts.queries import principal_for_person
from journal.models import JobRun
from memories.actions import (
    webhook_deliver,
    webhook_remove,
    webhooks_sweep,
)
from memories.models import Webhook, WebhookDelivery
from tests import factories

from .common import archived, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private")]
URL = "/api/v1/webhooks/"


@pytest.fixture
def failed(owner, hook, receiver, run):
    """Something waits for its second attempt."""
    receiver.answers = [500]
    memory = archived(owner, category="person")
    run()
    WebhookDelivery.objects.update(not_before=timezone.now())
    return memory


def test_a_revoked_agent_is_told_nothing_more(owner, agent, failed, receiver, run):
    me = principal_for_person(owner.pk)
    grant_set(me, agent.pk, revoked=True)
    run()
    assert len(receiver.took) == 1
    grant_set(me, agent.pk, revoked=False)
    run()
    assert {each["object"] for each in told(receiver)[1]} == {failed.pk}


def test_a_narrowed_one_not_of_what_waited(owner, agent, failed, receiver, run):
    grant_set(principal_for_person(owner.pk), agent.pk, categories=["tone"])
    run()
    assert [each["event"] for part in told(receiver)[1:] for each in part] == ["GRANT"]
    assert WebhookDelivery.objects.order_by("after").first().state == "sent"


def test_with_its_key_a_webhook_ends(api, owner, agent, receiver, run):
    assert api(agent).post(URL, {"url": receiver.url}).status_code == 201
    key = Webhook.objects.get().key
    assert key.agent == agent
    archived(owner)
    agent_key_revoke(principal_for_person(owner.pk), key.pk)
    run()
    assert receiver.took == []


def test_nor_is_anything_sent_by_a_job_that_was_queued_before(owner, agent, hook, receiver, queued):
    archived(owner)
    webhooks_sweep()
    grant_set(principal_for_person(owner.pk), agent.pk, revoked=True)
    webhook_deliver(queued[0])
    assert receiver.took == []


def test_what_was_removed_is_told_nothing(owner, hook, receiver, queued):
    archived(owner)
    webhooks_sweep()
    webhook_remove(principal_for_person(owner.pk), hook.pk)
    webhook_deliver(queued[0])
    assert receiver.took == []
    assert JobRun.objects.get(pk=queued[0]).state == "done"


def test_a_service_whom_the_person_never_let_in(owner, receiver, run):
    service = factories.AgentFactory(kind="service")
    Webhook.objects.create(user=owner, agent=service, url=receiver.url, reached=0)
    archived(owner)
    run()
    assert receiver.took == []

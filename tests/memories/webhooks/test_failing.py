"""What becomes of what is not delivered."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from assistant.erasure.actions import erasure_request, run_erasure
from journal.models import Change
from memories.actions import (
    webhooks_trim,
)
from memories.models import Webhook, WebhookDelivery
from tests import factories

from .common import archived, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private")]
URL = "/api/v1/webhooks/"


@pytest.fixture
def later(run):
    """``later()`` lets the time of the next attempt come."""

    def wait():
        WebhookDelivery.objects.filter(state="waiting").update(not_before=timezone.now())
        run()

    return wait


def test_it_is_tried_again_later_with_growing_waits(owner, hook, receiver, run, later):
    receiver.answers = [500, 503, 429]
    archived(owner)
    run()
    waits = []
    for _ in range(3):
        delivery = WebhookDelivery.objects.get()
        waits.append((delivery.not_before - timezone.now()).total_seconds())
        assert (delivery.state, delivery.error) == ("waiting", "status")
        run()  # Nothing is due yet.
        later()
    assert [round(each / 30) for each in waits] == [1, 2, 4]
    assert len(receiver.took) == 4
    assert len({headers["webhook-id"] for _, headers, _ in receiver.took}) == 1
    assert WebhookDelivery.objects.get().state == "sent"
    assert Webhook.objects.get().failing_since is None


def test_waits_grow_to_hours_and_no_further(owner, hook, receiver, later, settings):
    settings.WEBHOOK_ATTEMPTS = 40
    receiver.answers = [500] * 2
    archived(owner)
    later()
    WebhookDelivery.objects.update(attempts=30)
    later()
    wait = WebhookDelivery.objects.get().not_before - timezone.now()
    assert timedelta(hours=5) < wait <= timedelta(hours=6)


def test_later_changes_wait_for_it(owner, hook, receiver, run, later):
    receiver.answers = [500]
    first = archived(owner)
    run()
    second = archived(owner)
    run()
    assert len(receiver.took) == 1
    later()
    assert [{each["object"] for each in part} for part in told(receiver)] == [
        {first.pk},
        {first.pk},
        {second.pk},
    ]


def test_what_is_erased_while_it_waits_comes_as_a_tombstone_without_text(owner, hook, receiver, run, later):
    receiver.answers = [500]
    memory = factories.MemoryFactory(user=owner, content="The user keeps a zanzibar parrot.")
    run()
    run_erasure(erasure_request(principal_for_person(owner.pk), "memory", memory.pk)[1].pk)
    later()
    run()
    first, *then = told(receiver)
    assert [each["event"] for each in first] == ["ADD"]
    assert [each["event"] for sent in then for each in sent if each["object"] == memory.pk] == ["ERASE"]
    assert not any(b"zanzibar" in body for _, _, body in receiver.took)


def test_it_is_given_up_and_sent_again_by_hand(api, owner, agent, hook, receiver, later, settings):
    settings.WEBHOOK_ATTEMPTS = 2
    receiver.answers = [500, 500]
    archived(owner)
    later()
    later()
    address = f"{URL}{hook.pk}/deliveries/"
    (dead,) = api(agent).get(f"{address}?state=dead").json()["results"]
    assert (dead["attempts"], dead["status_code"], dead["error"]) == (2, 500, "status")
    last = archived(owner)
    later()
    assert {each["object"] for each in told(receiver)[-1]} == {last.pk}
    again = api(owner).post(f"{address}{dead['id']}/resend/", headers={"Idempotency-Key": "1"})
    assert (again.status_code, again.json()["state"]) == (200, "waiting")
    assert api(owner).post(f"{address}{dead['id']}/resend/", headers={"Idempotency-Key": "1"}).status_code == 200
    later()
    assert told(receiver)[-1] == told(receiver)[0]
    assert api(owner).post(f"{address}{dead['id']}/resend/").json()["code"] == "not_given_up"
    assert api(agent).get(f"{address}?state=dead").json()["count"] == 0


def test_after_days_it_is_switched_off_and_on_again_by_hand(api, owner, agent, hook, receiver, later):
    receiver.answers = [500, 500]
    first = archived(owner)
    later()
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=4))
    later()
    off = Webhook.objects.get()
    assert off.disabled_at is not None
    log = Change.objects.of_owner(owner.pk).filter(object_type="webhook").last()
    assert (log.event, log.meta) == ("UPDATE", {"agent": str(agent.pk), "changed": ["disabled"]})
    second = archived(owner)
    later()
    assert len(receiver.took) == 2
    assert api(agent).post(f"{URL}{hook.pk}/resume/").json()["disabled_at"] is None
    later()
    assert [{each["object"] for each in part} for part in told(receiver)[2:]] == [{first.pk}, {second.pk}]


def test_a_server_that_says_gone_is_believed(owner, hook, receiver, later):
    receiver.answers = [410]
    archived(owner)
    later()
    assert Webhook.objects.get().disabled_at is not None


def test_a_redirect_is_not_followed(owner, hook, receiver, run):
    receiver.answers = [307]
    receiver.more_headers = {"Location": f"{receiver.url}/elsewhere"}
    archived(owner)
    run()
    assert [path for path, _, _ in receiver.took] == ["/hook"]
    assert (WebhookDelivery.objects.get().status_code, WebhookDelivery.objects.get().error) == (307, "status")


def test_ended_deliveries_are_forgotten_after_a_while(owner, hook, receiver, run):
    archived(owner)
    run()
    assert webhooks_trim() == 0
    WebhookDelivery.objects.update(ended_at=timezone.now() - timedelta(days=8))
    assert webhooks_trim() == 1

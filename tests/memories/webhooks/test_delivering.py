"""What is delivered to whom, in which order, and how it is signed."""

import json
from datetime import timedelta

import keepsake.webhooks
import pytest
from django.utils import timezone

from accounts.queries import principal_for_person
from journal.models import Change, JobRun
from memories.actions import (
    memory_archive,
    memory_reject,
    memory_update,
    webhook_create,
    webhook_deliver,
    webhook_remove,
    webhook_resume,
    webhooks_sweep,
)
from memories.models import Webhook, WebhookDelivery
from memories.webhooks import DeliveryResult, secret_of
from tests import factories
from tests.conftest import with_key

from .common import archived, told, verification

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("private")]
URL = "/api/v1/webhooks/"


def test_what_changes_comes_signed_in_order_and_without_text(owner, agent, hook, receiver, run):
    memory = factories.MemoryFactory(user=owner)
    memory_update(principal_for_person(owner.pk), memory.pk, "The user keeps wasps.")
    memory_archive(principal_for_person(owner.pk), memory.pk)
    run()
    ((path, headers, body),) = receiver.took
    sent = json.loads(body)
    assert path == "/hook"
    assert [each["event"] for each in sent["results"]] == ["ADD", "UPDATE", "DELETE"]
    assert (sent["webhook"], sent["after"], sent["next_after"]) == (
        str(hook.pk),
        hook.reached,
        sent["results"][-1]["rev"],
    )
    assert b"wasps" not in body
    assert memory.content.encode() not in body
    verification()(secret_of(hook), {name.lower(): value for name, value in headers.items()}, body)
    delivery = WebhookDelivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.status_code) == ("sent", 1, 204)
    run()
    assert len(receiver.took) == 1


def test_it_tells_the_rows_that_the_feed_tells(api, owner, agent, hook, receiver, run):
    archived(owner)
    memory_reject(principal_for_person(owner.pk), factories.MemoryFactory(user=owner).pk)
    run()
    (sent,) = told(receiver)
    assert sent == api(agent).get(f"/api/v1/changes/?after={hook.reached}").json()["results"]


def test_an_agent_is_told_of_what_it_may_see(owner, receiver, run):
    stylist = factories.AgentFactory(name="stylist", owner=owner, role="stylist")
    webhook_create(principal_for_person(owner.pk), stylist.pk, receiver.url)
    archived(owner, category="person")
    run()
    assert receiver.took == []
    assert not WebhookDelivery.objects.exists()
    hers = archived(owner, category="tone")
    run()
    assert {each["object"] for each in told(receiver)[0]} == {hers.pk}


def test_many_changes_come_in_several_messages(owner, hook, receiver, run, settings):
    settings.WEBHOOK_CHANGES = 2
    ids = [factories.MemoryFactory(user=owner).pk for _ in range(5)]
    run()
    sent = told(receiver)
    assert [len(each) for each in sent] == [2, 2, 1]
    assert [each["object"] for part in sent for each in part] == ids


def test_a_service_is_told_of_the_person_whom_it_named(api, receiver, run):
    service = with_key(factories.AgentFactory(kind="service"))
    client = api(service)
    header = {"X-Keepsake-User": "42"}
    assert client.post(URL, {"url": receiver.url}, headers=header).status_code == 201
    for name in ("42", "43"):
        body = {"content": f"The user keeps {name} hens.", "category": "interests"}
        assert client.post("/api/v1/memories/", body, headers={"X-Keepsake-User": name}).status_code == 201
    run()
    (sent,) = told(receiver)
    assert len(sent) == 1


def test_a_worker_s_turn_ends_and_another_goes_on(owner, hook, receiver, queued, monkeypatch, settings):
    settings.WEBHOOK_CHANGES, settings.WEBHOOK_SLICE_SECONDS = 1, -1
    handed_on = []
    monkeypatch.setattr("journal.leases.enqueue", lambda task, pk: handed_on.append((task, pk)))
    archived(owner)
    webhooks_sweep()
    webhook_deliver(queued[0])
    assert handed_on == [("memories.deliver_webhook", queued[0])]
    assert len(receiver.took) == 1
    webhook_deliver(queued[0])
    assert len(receiver.took) == 2


def test_the_sweep_queues_each_once_and_what_was_lost_again(owner, hook, queued):
    archived(owner)
    for _ in range(3):
        webhooks_sweep()
    assert len(queued) == 1
    JobRun.objects.update(not_before=timezone.now() - timedelta(minutes=2))
    webhooks_sweep()
    assert len(queued) == 2


def test_two_workers_do_not_send_the_same(owner, hook, receiver, queued):
    archived(owner)
    webhooks_sweep()
    webhook_deliver(queued[0])
    webhook_deliver(queued[0])
    assert len(receiver.took) == 1


@pytest.mark.parametrize("who", ["owner", "keeper"])
def test_nobody_is_begun_with_for_whom_nothing_may_be_sent(owner, stranger, receiver, queued, who):
    agent = factories.AgentFactory(owner=stranger, kind="service")
    factories.GrantFactory(user=owner, agent=agent)
    webhook_create(principal_for_person(owner.pk), agent.pk, receiver.url)
    archived(owner)
    inactive = {"owner": owner, "keeper": stranger}[who]
    inactive.is_active = False
    inactive.save()
    assert (webhooks_sweep(), queued, JobRun.objects.count()) == (0, [], 0)


def test_nobody_is_begun_with_for_what_waits_for_an_earlier_one(hook, queued):
    soon = timezone.now() + timedelta(minutes=5)
    for after, not_before in ((1, soon), (2, timezone.now())):
        WebhookDelivery.objects.create(webhook=hook, after=after, upto=after + 1, not_before=not_before)
    assert (webhooks_sweep(), queued) == (0, [])


def test_a_rotated_secret_signs_beside_the_one_before_for_a_day(api, owner, agent, hook, receiver, run):
    shown = secret_of(hook)
    address = f"{URL}{hook.pk}/rotate/"
    first, again = (api(agent).post(address, headers={"Idempotency-Key": "1"}).json() for _ in range(2))
    assert first == again
    rotated = first["secret"]
    assert rotated not in {shown, ""}
    log = Change.objects.of_owner(owner.pk).filter(object_type="webhook").last()
    assert (log.event, log.meta) == ("UPDATE", {"agent": str(agent.pk), "changed": ["secret"]})
    archived(owner)
    run()
    Webhook.objects.update(rotated_at=timezone.now() - timedelta(hours=25))
    archived(owner)
    run()
    verify = verification()
    within, after = (
        ({name.lower(): value for name, value in headers.items()}, body) for _, headers, body in receiver.took
    )
    for secret, message in ((shown, within), (rotated, within), (rotated, after)):
        verify(secret, *message)
        keepsake.webhooks.verify(secret, *message)
    for check in (verify, keepsake.webhooks.verify):
        with pytest.raises(ValueError, match="not signed"):
            check(shown, *after)


def test_one_that_is_resumed_while_it_is_being_sent_to_stays_on(owner, hook, queued, monkeypatch):
    def send(*_):
        webhook_resume(principal_for_person(owner.pk), hook.pk)
        return DeliveryResult(500, "status")

    monkeypatch.setattr("memories.actions.webhooks.send", send)
    archived(owner)
    webhooks_sweep()
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=40))
    webhook_deliver(queued[0])
    resumed, delivery = Webhook.objects.get(), WebhookDelivery.objects.get()
    assert resumed.disabled_at is None
    assert timezone.now() - resumed.failing_since < timedelta(minutes=1)
    assert (delivery.state, delivery.attempts) == ("waiting", 1)


def test_what_is_tried_the_last_time_while_it_is_resumed_is_not_given_up(
    owner, hook, receiver, run, monkeypatch, settings
):
    receiver.answers = [500]
    archived(owner)
    run()
    WebhookDelivery.objects.update(attempts=settings.WEBHOOK_ATTEMPTS - 1, not_before=timezone.now())

    def send(*_):
        webhook_resume(principal_for_person(owner.pk), hook.pk)
        return DeliveryResult(500, "status")

    monkeypatch.setattr("memories.actions.webhooks.send", send)
    run()
    assert (WebhookDelivery.objects.get().state, WebhookDelivery.objects.get().attempts) == ("waiting", 1)


def test_it_may_be_removed_while_it_is_being_sent_to(owner, hook, queued, monkeypatch):
    def send(*_):
        webhook_remove(principal_for_person(owner.pk), hook.pk)
        return DeliveryResult(204)

    monkeypatch.setattr("memories.actions.webhooks.send", send)
    archived(owner)
    webhooks_sweep()
    webhook_deliver(queued[0])
    assert JobRun.objects.get().state == "done"
    assert not WebhookDelivery.objects.exists()


def test_fifty_of_one_person_are_all_told_once(owner, receiver, run):
    me = principal_for_person(owner.pk)
    agents = factories.AgentFactory.create_batch(10, owner=owner)
    hooks = [webhook_create(me, each.pk, f"{receiver.url}/{n}") for each in agents for n in range(5)]
    run()
    receiver.took.clear()
    gone = archived(owner)
    run()
    sent = [json.loads(body) for _, _, body in receiver.took]
    assert {each["webhook"] for each in sent} == {str(each.pk) for each in hooks}
    assert len(sent) == 50
    assert {change["object"] for each in sent for change in each["results"]} == {gone.pk}
    run()
    assert len(receiver.took) == 50

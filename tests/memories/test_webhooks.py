"""Webhooks: who may register which, what is delivered to whom, and what becomes of what is not."""

import json
import re
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import keepsake.webhooks
import pytest
from django.db import connection
from django.utils import timezone

from accounts.actions import agent_key_revoke, grant_set
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
    webhooks_trim,
)
from memories.models import Webhook, WebhookDelivery
from memories.webhooks import Answer, secret_of
from tests import factories
from tests.conftest import with_key

from .receiver import receiving

pytestmark = pytest.mark.django_db
URL = "/api/v1/webhooks/"
ADDRESS = "https://agent.example/hook"


@pytest.fixture(autouse=True)
def _private(settings):
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


def told(receiver):
    """The changes that came in, message by message."""
    return [json.loads(body)["results"] for _, _, body in receiver.took]


def archived(owner, **more):
    memory = factories.MemoryFactory(user=owner, **more)
    memory_archive(principal_for_person(owner.pk), memory.pk)
    return memory


def verification():
    """The code that docs/webhooks.md gives to receivers."""
    text = Path("docs/webhooks.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"<!-- verify:begin -->\n```python\n(.*?)```\n<!-- verify:end -->", text, re.DOTALL)
    names = {}
    exec(compile(code, "docs/webhooks.md", "exec"), names)
    return names["verify"]


class TestRegistering:
    def test_an_agent_does_for_itself_and_sees_the_secret_once(self, api, agent, owner):
        made = api(agent).post(URL, {"url": ADDRESS})
        assert made.status_code == 201
        shown = made.json()
        assert (shown["agent"], shown["url"]) == (str(agent.pk), ADDRESS)
        assert shown["secret"].startswith("whsec_")
        assert shown["reached"] == Change.objects.of_owner(owner.pk).last().rev
        listed = api(agent).get(URL).json()["results"]
        assert [each.keys() & {"secret"} for each in listed] == [set()]
        assert "secret" not in api(agent).get(f"{URL}{shown['id']}/").json()

    def test_a_person_does_for_their_agents(self, api, agent, owner, stranger):
        made = api(owner).post(URL, {"url": ADDRESS, "agent": str(agent.pk)})
        assert made.status_code == 201
        assert api(stranger).post(URL, {"url": ADDRESS, "agent": str(agent.pk)}).status_code == 404
        assert api(owner).post(URL, {"url": ADDRESS}).json().keys() == {"agent"}

    def test_nobody_does_for_another_agent(self, api, agent, owner):
        other = with_key(factories.AgentFactory(name="other", owner=owner))
        made = api(other).post(URL, {"url": ADDRESS}).json()
        assert api(agent).post(URL, {"url": ADDRESS, "agent": str(other.pk)}).status_code == 404
        assert api(agent).get(URL).json()["count"] == 0
        for address in (f"{URL}{made['id']}/", f"{URL}{made['id']}/deliveries/"):
            assert api(agent).get(address).status_code == 404
        assert api(agent).delete(f"{URL}{made['id']}/").status_code == 404
        assert api(agent).post(f"{URL}{made['id']}/resume/").status_code == 404
        assert Webhook.objects.count() == 1

    @pytest.mark.parametrize("scopes", [["read"], ["write"]])
    def test_it_takes_reading_and_writing(self, api, owner, scopes):
        keyed = with_key(factories.AgentFactory(name="half", owner=owner), scopes)
        assert api(keyed).post(URL, {"url": ADDRESS}).json()["code"] == "missing_scope"
        assert not Webhook.objects.exists()

    def test_the_same_address_once_and_so_many_at_most(self, api, agent, settings):
        settings.WEBHOOKS_PER_AGENT = 2
        assert api(agent).post(URL, {"url": ADDRESS}).status_code == 201
        assert api(agent).post(URL, {"url": ADDRESS}).json()["code"] == "webhook_exists"
        assert api(agent).post(URL, {"url": f"{ADDRESS}/2"}).status_code == 201
        assert api(agent).post(URL, {"url": f"{ADDRESS}/3"}).json()["code"] == "too_many_webhooks"

    def test_a_repeated_request_answers_the_same(self, api, agent):
        first, again = (
            api(agent).post(URL, {"url": ADDRESS}, headers={"Idempotency-Key": "1"}).json() for _ in range(2)
        )
        assert first == again
        assert Webhook.objects.count() == 1

    @pytest.mark.parametrize(
        "url",
        [
            "http://agent.example/hook",
            "ftp://agent.example/",
            "https://",
            "agent.example/hook",
            "https://user:word@agent.example/",
            "https://agent.example/#part",
            "https://agent.example:0/",
            "https://agent.example:99999/",
            "https://agent.example\\@10.0.0.1/",
            "https://agent.example/a\nb",
            f"https://agent.example/{'x' * 500}",
        ],
    )
    def test_what_is_no_address_is_refused(self, api, agent, settings, url):
        settings.WEBHOOKS_PRIVATE = False
        assert api(agent).post(URL, {"url": url}).status_code == 400
        assert not Webhook.objects.exists()

    def test_no_table_holds_the_secret(self, hook):
        secret = secret_of(hook).removeprefix("whsec_")
        with connection.cursor() as cursor:
            cursor.execute("SELECT to_jsonb(w)::text FROM memories_webhook w")
            assert secret not in cursor.fetchone()[0]
        assert secret_of(Webhook()) != secret_of(hook)


class TestDelivering:
    def test_what_changes_comes_signed_in_order_and_without_text(self, owner, agent, hook, receiver, run):
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

    def test_it_tells_the_rows_that_the_feed_tells(self, api, owner, agent, hook, receiver, run):
        archived(owner)
        memory_reject(principal_for_person(owner.pk), factories.MemoryFactory(user=owner).pk)
        run()
        (sent,) = told(receiver)
        assert sent == api(agent).get(f"/api/v1/changes/?after={hook.reached}").json()["results"]

    def test_an_agent_is_told_of_what_it_may_see(self, owner, receiver, run):
        stylist = factories.AgentFactory(name="stylist", owner=owner, role="stylist")
        webhook_create(principal_for_person(owner.pk), stylist.pk, receiver.url)
        archived(owner, category="person")
        run()
        assert receiver.took == []
        assert not WebhookDelivery.objects.exists()
        hers = archived(owner, category="tone")
        run()
        assert {each["object"] for each in told(receiver)[0]} == {hers.pk}

    def test_many_changes_come_in_several_messages(self, owner, hook, receiver, run, settings):
        settings.WEBHOOK_CHANGES = 2
        ids = [factories.MemoryFactory(user=owner).pk for _ in range(5)]
        run()
        sent = told(receiver)
        assert [len(each) for each in sent] == [2, 2, 1]
        assert [each["object"] for part in sent for each in part] == ids

    def test_a_service_is_told_of_the_person_whom_it_named(self, api, receiver, run):
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

    def test_a_worker_s_turn_ends_and_another_goes_on(self, owner, hook, receiver, queued, monkeypatch, settings):
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

    def test_the_sweep_queues_each_once_and_what_was_lost_again(self, owner, hook, queued):
        archived(owner)
        for _ in range(3):
            webhooks_sweep()
        assert len(queued) == 1
        JobRun.objects.update(not_before=timezone.now() - timedelta(minutes=2))
        webhooks_sweep()
        assert len(queued) == 2

    def test_two_workers_do_not_send_the_same(self, owner, hook, receiver, queued):
        archived(owner)
        webhooks_sweep()
        webhook_deliver(queued[0])
        webhook_deliver(queued[0])
        assert len(receiver.took) == 1

    @pytest.mark.parametrize("who", ["owner", "keeper"])
    def test_nobody_is_begun_with_for_whom_nothing_may_be_sent(self, owner, stranger, receiver, queued, who):
        agent = factories.AgentFactory(owner=stranger, kind="service")
        factories.GrantFactory(user=owner, agent=agent)
        webhook_create(principal_for_person(owner.pk), agent.pk, receiver.url)
        archived(owner)
        inactive = {"owner": owner, "keeper": stranger}[who]
        inactive.is_active = False
        inactive.save()
        assert (webhooks_sweep(), queued, JobRun.objects.count()) == (0, [], 0)

    def test_nobody_is_begun_with_for_what_waits_for_an_earlier_one(self, hook, queued):
        soon = timezone.now() + timedelta(minutes=5)
        for after, not_before in ((1, soon), (2, timezone.now())):
            WebhookDelivery.objects.create(webhook=hook, after=after, upto=after + 1, not_before=not_before)
        assert (webhooks_sweep(), queued) == (0, [])

    def test_a_rotated_secret_signs_beside_the_one_before_for_a_day(self, api, owner, agent, hook, receiver, run):
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

    def test_one_that_is_resumed_while_it_is_being_sent_to_stays_on(self, owner, hook, queued, monkeypatch):
        def send(*_):
            webhook_resume(principal_for_person(owner.pk), hook.pk)
            return Answer(500, "status")

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
        self, owner, hook, receiver, run, monkeypatch, settings
    ):
        receiver.answers = [500]
        archived(owner)
        run()
        WebhookDelivery.objects.update(attempts=settings.WEBHOOK_ATTEMPTS - 1, not_before=timezone.now())

        def send(*_):
            webhook_resume(principal_for_person(owner.pk), hook.pk)
            return Answer(500, "status")

        monkeypatch.setattr("memories.actions.webhooks.send", send)
        run()
        assert (WebhookDelivery.objects.get().state, WebhookDelivery.objects.get().attempts) == ("waiting", 1)

    def test_it_may_be_removed_while_it_is_being_sent_to(self, owner, hook, queued, monkeypatch):
        def send(*_):
            webhook_remove(principal_for_person(owner.pk), hook.pk)
            return Answer(204)

        monkeypatch.setattr("memories.actions.webhooks.send", send)
        archived(owner)
        webhooks_sweep()
        webhook_deliver(queued[0])
        assert JobRun.objects.get().state == "done"
        assert not WebhookDelivery.objects.exists()

    def test_fifty_of_one_person_are_all_told_once(self, owner, receiver, run):
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


class TestFailing:
    @pytest.fixture
    def later(self, run):
        """``later()`` lets the time of the next attempt come."""

        def wait():
            WebhookDelivery.objects.filter(state="waiting").update(not_before=timezone.now())
            run()

        return wait

    def test_it_is_tried_again_later_with_growing_waits(self, owner, hook, receiver, run, later):
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

    def test_waits_grow_to_hours_and_no_further(self, owner, hook, receiver, later, settings):
        settings.WEBHOOK_ATTEMPTS = 40
        receiver.answers = [500] * 2
        archived(owner)
        later()
        WebhookDelivery.objects.update(attempts=30)
        later()
        wait = WebhookDelivery.objects.get().not_before - timezone.now()
        assert timedelta(hours=5) < wait <= timedelta(hours=6)

    def test_later_changes_wait_for_it(self, owner, hook, receiver, run, later):
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

    def test_it_is_given_up_and_sent_again_by_hand(self, api, owner, agent, hook, receiver, later, settings):
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

    def test_after_days_it_is_switched_off_and_on_again_by_hand(self, api, owner, agent, hook, receiver, later):
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

    def test_a_server_that_says_gone_is_believed(self, owner, hook, receiver, later):
        receiver.answers = [410]
        archived(owner)
        later()
        assert Webhook.objects.get().disabled_at is not None

    def test_a_redirect_is_not_followed(self, owner, hook, receiver, run):
        receiver.answers = [307]
        receiver.more_headers = {"Location": f"{receiver.url}/elsewhere"}
        archived(owner)
        run()
        assert [path for path, _, _ in receiver.took] == ["/hook"]
        assert (WebhookDelivery.objects.get().status_code, WebhookDelivery.objects.get().error) == (307, "status")

    def test_ended_deliveries_are_forgotten_after_a_while(self, owner, hook, receiver, run):
        archived(owner)
        run()
        assert webhooks_trim() == 0
        WebhookDelivery.objects.update(ended_at=timezone.now() - timedelta(days=8))
        assert webhooks_trim() == 1


class TestWhoeverIsLetInNoMore:
    @pytest.fixture
    def failed(self, owner, hook, receiver, run):
        """Something waits for its second attempt."""
        receiver.answers = [500]
        memory = archived(owner, category="person")
        run()
        WebhookDelivery.objects.update(not_before=timezone.now())
        return memory

    def test_a_revoked_agent_is_told_nothing_more(self, owner, agent, failed, receiver, run):
        me = principal_for_person(owner.pk)
        grant_set(me, agent.pk, revoked=True)
        run()
        assert len(receiver.took) == 1
        grant_set(me, agent.pk, revoked=False)
        run()
        assert {each["object"] for each in told(receiver)[1]} == {failed.pk}

    def test_a_narrowed_one_not_of_what_waited(self, owner, agent, failed, receiver, run):
        grant_set(principal_for_person(owner.pk), agent.pk, categories=["tone"])
        run()
        assert [each["event"] for part in told(receiver)[1:] for each in part] == ["GRANT"]
        assert WebhookDelivery.objects.order_by("after").first().state == "sent"

    def test_with_its_key_a_webhook_ends(self, api, owner, agent, receiver, run):
        assert api(agent).post(URL, {"url": receiver.url}).status_code == 201
        key = Webhook.objects.get().key
        assert key.agent == agent
        archived(owner)
        agent_key_revoke(principal_for_person(owner.pk), key.pk)
        run()
        assert receiver.took == []

    def test_nor_is_anything_sent_by_a_job_that_was_queued_before(self, owner, agent, hook, receiver, queued):
        archived(owner)
        webhooks_sweep()
        grant_set(principal_for_person(owner.pk), agent.pk, revoked=True)
        webhook_deliver(queued[0])
        assert receiver.took == []

    def test_what_was_removed_is_told_nothing(self, owner, hook, receiver, queued):
        archived(owner)
        webhooks_sweep()
        webhook_remove(principal_for_person(owner.pk), hook.pk)
        webhook_deliver(queued[0])
        assert receiver.took == []
        assert JobRun.objects.get(pk=queued[0]).state == "done"

    def test_a_service_whom_the_person_never_let_in(self, owner, receiver, run):
        service = factories.AgentFactory(kind="service")
        Webhook.objects.create(user=owner, agent=service, url=receiver.url, reached=0)
        archived(owner)
        run()
        assert receiver.took == []


def test_the_documented_code_refuses_what_is_not_ours(hook, owner, receiver, run):
    archived(owner)
    run()
    ((_, headers, body),) = receiver.took
    headers = {name.lower(): value for name, value in headers.items()}
    verify, secret = verification(), secret_of(hook)
    verify(secret, headers, body)
    for changed in (
        {"webhook-timestamp": str(int(time.time()) - 301)},
        {"webhook-timestamp": str(int(time.time()) + 301)},
        {"webhook-id": str(uuid4())},
        {"webhook-signature": "v1,AAAA"},
        {"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")},
    ):
        with pytest.raises(ValueError, match=r"too old|not signed"):
            verify(secret, {**headers, **changed}, body)
    with pytest.raises(ValueError, match="not signed"):
        verify(secret, headers, body.replace(b"DELETE", b"UPDATE"))
    with pytest.raises(ValueError, match="not signed"):
        verify(secret_of(Webhook()), headers, body)


def test_a_secret_that_was_shown_before_the_secret_key_changed_still_verifies(hook, owner, receiver, run, settings):
    shown = secret_of(hook)
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another-secret-key-of-more-than-32-characters-0123"
    assert secret_of(hook) != shown
    archived(owner)
    run()
    ((_, headers, body),) = receiver.took
    headers = {name.lower(): value for name, value in headers.items()}
    for secret in (shown, secret_of(hook)):
        verification()(secret, headers, body)

"""The admin of the journal."""

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils.html import strip_tags

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from journal import leases
from journal.models import IdempotencyRecord, JobRun
from tests import factories

MODELS = ["ledger", "change", "operationevent", "jobrun", "idempotencyrecord"]


@pytest.fixture
def everything(owner):
    preferences_set(principal_for_person(owner.pk), review="before")
    factories.OperationEventFactory()
    factories.JobRunFactory()
    IdempotencyRecord.objects.create(owner="o", key="k")


def listed(model):
    return reverse(f"admin:journal_{model}_changelist")


@pytest.mark.parametrize("who", ["staff", "moderator"])
@pytest.mark.parametrize("model", MODELS)
def test_staff_read_every_record_and_edit_none(request, api, everything, who, model):
    client = api(request.getfixturevalue(who))
    rows = apps.get_model("journal", model).objects
    row, before = rows.first(), rows.count()
    assert client.get(listed(model), {"q": str(row.pk)}).status_code == 200
    change = reverse(f"admin:journal_{model}_change", args=[row.pk])
    assert client.get(change).status_code == 200
    assert client.post(change, {}, format="multipart").status_code == 403
    assert client.get(reverse(f"admin:journal_{model}_add")).status_code == 403
    assert client.get(reverse(f"admin:journal_{model}_delete", args=[row.pk])).status_code == 403
    assert rows.count() == before


@pytest.mark.parametrize("who", ["owner", "stranger", None])
@pytest.mark.parametrize("model", MODELS)
def test_others_do_not_get_in(request, api, db, who, model):
    assert api(who and request.getfixturevalue(who)).get(listed(model)).status_code == 302


@pytest.mark.parametrize("text", ["no id at all", "00000000-0000-4000-8000-000000000000", "7"])
@pytest.mark.parametrize("model", MODELS)
def test_any_search_is_answered(api, staff, everything, model, text):
    answer = api(staff).get(listed(model), {"q": text})
    assert answer.status_code == 200


def test_changes_are_found_by_what_they_changed(api, staff, everything, owner):
    answer = api(staff).get(listed("change"), {"q": str(owner.pk)})
    assert answer.context["cl"].result_count == 1


def test_jobs_say_where_they_stand(api, staff, owner):
    conversation = factories.ConversationFactory(user=owner)
    running = factories.JobRunFactory(subject_id=conversation.pk, total=8, user_id=owner.pk)
    running = leases.claim_job(running.pk, lease_seconds=60)
    leases.renew_lease(running, lease_seconds=60, done=3)
    failing = factories.JobRunFactory(kind="other")
    leases.retry_job_later(leases.claim_job(failing.pk, lease_seconds=60), "model_away")
    client = api(staff)
    page = client.get(listed("jobrun")).content.decode()
    assert 'value="3" max="8"' in page
    assert f"/admin/conversations/conversation/{conversation.pk}/change/" in page
    assert "model_away" in page
    for query, shown in [
        ({"is": "failing"}, {failing.pk}),
        ({"is": "running"}, {running.pk}),
        ({"is": "done"}, set()),
        ({"is": "nonsense"}, {failing.pk, running.pk}),
        ({"kind": "summarize"}, {running.pk}),
        ({"q": str(conversation.pk)}, {running.pk}),
        ({"q": str(owner.pk)}, {running.pk}),
    ]:
        assert {job.pk for job in client.get(listed("jobrun"), query).context["cl"].result_list} == shown
    detail = client.get(reverse("admin:journal_jobrun_change", args=[running.pk])).content.decode()
    assert 'value="3" max="8"' in detail
    assert str(running.lease_token) in detail


@pytest.mark.parametrize("model", MODELS)
def test_lists_take_five_queries_however_long(api, staff, owner, model, django_assert_num_queries):
    for number in range(3):
        preferences_set(principal_for_person(owner.pk), language=["de", "en", "fr"][number])
        factories.OperationEventFactory()
        factories.JobRunFactory()
        IdempotencyRecord.objects.create(owner="o", key=str(number))
    client = api(staff)
    # Two filters of the first ask for the values that a day's records have; the second asks for names once a kind.
    more = {"idempotencyrecord": 2, "change": 1}
    with django_assert_num_queries(5 + more.get(model, 0)):
        client.get(listed(model))


def test_a_long_table_is_counted_up_to_a_limit(api, staff, monkeypatch):
    monkeypatch.setattr("web.admin.base.COUNTED_ROWS", 60)
    factories.OperationEventFactory.create_batch(70)
    client = api(staff)
    answer = client.get(listed("operationevent"))
    assert "the first 60 operation events; filter or search to see others" in answer.content.decode()
    assert len(client.get(listed("operationevent"), {"p": "3"}).context["cl"].result_list) == 10
    assert client.get(listed("operationevent"), {"p": "4"}).status_code == 302
    factories.OperationEventFactory(status="error")
    assert "1 operation event" in client.get(listed("operationevent"), {"status__exact": "error"}).content.decode()


class TestButtons:
    def press(self, client, action, *jobs):
        data = {"action": action, "_selected_action": [str(job.pk) for job in jobs]}
        return client.post(listed("jobrun"), data, format="multipart", follow=True).content.decode()

    def confirm(self, client, what, job):
        path = f"{listed('jobrun')}{job.pk}/{what}/"
        answer = client.post(path, {"_form_submitted": "True"}, format="multipart")
        assert answer["HX-Refresh"] == "true"
        return [str(message) for message in client.get(listed("jobrun")).context["messages"]]

    def test_failed_jobs_are_tried_again(self, api, moderator):
        failed, ended = factories.JobRunFactory.create_batch(2)
        leases.fail_job(leases.claim_job(failed.pk, lease_seconds=60), "model_away")
        leases.finish_job(leases.claim_job(ended.pk, lease_seconds=60))
        assert "1 of 2 will be tried again" in self.press(api(moderator), "retry_selected", failed, ended)
        assert dict(JobRun.objects.values_list("pk", "state")) == {failed.pk: "waiting", ended.pk: "done"}

    def test_jobs_are_cancelled(self, api, moderator):
        jobs = factories.JobRunFactory.create_batch(2)
        assert "2 of 2 cancelled" in self.press(api(moderator), "cancel_selected", *jobs)
        assert set(JobRun.objects.values_list("state", flat=True)) == {"cancelled"}

    def test_one_job_is_tried_again_and_cancelled_by_dialog(self, api, moderator):
        job, client = factories.JobRunFactory(), api(moderator)
        leases.fail_job(leases.claim_job(job.pk, lease_seconds=60), "model_away")
        client.get(f"{listed('jobrun')}{job.pk}/retry/")
        assert JobRun.objects.get().state == "failed"
        assert self.confirm(client, "retry", job) == ["1 of 1 will be tried again; others run or have ended."]
        assert JobRun.objects.get().state == "waiting"
        assert self.confirm(client, "cancel", job) == ["1 of 1 cancelled; others had ended."]
        assert self.confirm(client, "cancel", job) == ["0 of 1 cancelled; others had ended."]
        assert self.confirm(client, "retry", job) == ["0 of 1 will be tried again; others run or have ended."]
        assert JobRun.objects.get().state == "cancelled"
        assert {entry.user_id for entry in LogEntry.objects.all()} == {moderator.pk}
        assert LogEntry.objects.count() == 2

    def test_the_buttons_are_those_that_can_do_something(self, api, moderator):
        client = api(moderator)
        for state, offered in [("waiting", {"retry", "cancel"}), ("failed", {"retry"}), ("done", set())]:
            job = factories.JobRunFactory(state=state)
            page = client.get(reverse("admin:journal_jobrun_change", args=[job.pk])).content.decode()
            assert {what for what in ("retry", "cancel") if f"{listed('jobrun')}{job.pk}/{what}/" in page} == offered

    def test_others_press_nothing(self, api, owner):
        job = factories.JobRunFactory()
        self.press(api(owner), "cancel_selected", job)
        for what in ("retry", "cancel"):
            api(owner).post(f"{listed('jobrun')}{job.pk}/{what}/", {"_form_submitted": "True"}, format="multipart")
        job.refresh_from_db()
        assert job.state == "waiting"


def test_pages_are_titled_by_kind_and_owner_and_lists_show_no_long_ids(api, staff, owner, legacy):
    fact = factories.LegacyFactFactory(legacy=legacy, user=owner, content="Rosa kept bees.")
    kept = factories.MemoryFactory(user=owner, category="interests")
    client = api(staff)
    page = client.get(f"/admin/facts/legacyfact/{fact.pk}/change/").content.decode()
    assert f"Legacy fact of owner, {fact.category}" in page
    assert f"fact {fact.pk}" not in page
    assert "Memory of owner, interests" in client.get(f"/admin/memories/memory/{kept.pk}/change/").content.decode()
    listed = client.get("/admin/facts/legacyfact/").content.decode()
    assert f">{str(fact.pk)[:8]}</a>" in listed
    assert f">{fact.pk}<" not in listed
    talk = factories.ConversationFactory(user=owner)
    page = client.get(f"/admin/conversations/conversation/{talk.pk}/change/").content.decode()
    assert "Conversation of owner" in page


def test_an_empty_list_says_so_in_its_own_words(api, staff):
    client = api(staff)
    nothing = client.get("/admin/facts/legacyfact/").content.decode()
    assert "No legacy facts yet" in nothing
    assert "Create a new item" not in nothing
    assert "No legacy facts like that" in client.get("/admin/facts/legacyfact/?q=zzz").content.decode()
    assert "No legacy facts like that" in client.get("/admin/facts/legacyfact/?state__exact=hidden").content.decode()


def test_lists_show_no_whole_ids(api, staff, owner):
    """Of a ledger and of what a caller's key did, the beginning of an id tells the rows apart."""
    IdempotencyRecord.objects.create(owner=f"person:{owner.pk}:{owner.pk}", key="k")
    preferences_set(principal_for_person(owner.pk), review="before")
    for model in ("ledger", "idempotencyrecord"):
        shown = strip_tags(api(staff).get(listed(model)).content.decode())
        assert str(owner.pk)[:8] in shown
        assert str(owner.pk) not in shown

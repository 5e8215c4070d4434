"""The admin of the journal."""

import pytest
from django.apps import apps
from django.urls import reverse

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from journal import actions
from journal.models import IdempotencyRecord, JobRun
from tests import factories

MODELS = ["ledger", "change", "operationevent", "jobrun", "idempotencyrecord"]


@pytest.fixture
def moderator(db):
    return factories.UserFactory(username="moderator", is_staff=True)


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


@pytest.mark.parametrize("text", ["no id at all", "00000000-0000-4000-8000-000000000000", "7", "\x00"])
@pytest.mark.parametrize("model", MODELS)
def test_any_search_is_answered(api, staff, everything, model, text):
    answer = api(staff).get(listed(model), {"q": text})
    assert answer.status_code == 200


def test_changes_are_found_by_what_they_changed(api, staff, everything, owner):
    answer = api(staff).get(listed("change"), {"q": str(owner.pk)})
    assert answer.context["cl"].result_count == 1


class TestButtons:
    def press(self, client, action, *jobs):
        data = {"action": action, "_selected_action": [str(job.pk) for job in jobs]}
        return client.post(listed("jobrun"), data, format="multipart", follow=True).content.decode()

    def test_failed_jobs_are_tried_again(self, api, moderator):
        failed, ended = factories.JobRunFactory.create_batch(2)
        actions.fail_job(actions.claim_job(failed.pk, lease_seconds=60), "model_away")
        actions.finish_job(actions.claim_job(ended.pk, lease_seconds=60))
        assert "1 of 2 will be tried again" in self.press(api(moderator), "retry_now", failed, ended)
        assert dict(JobRun.objects.values_list("pk", "state")) == {failed.pk: "waiting", ended.pk: "done"}

    def test_jobs_are_cancelled(self, api, moderator):
        jobs = factories.JobRunFactory.create_batch(2)
        assert "2 of 2 cancelled" in self.press(api(moderator), "cancel", *jobs)
        assert set(JobRun.objects.values_list("state", flat=True)) == {"cancelled"}

    def test_others_press_nothing(self, api, owner):
        job = factories.JobRunFactory()
        self.press(api(owner), "cancel", job)
        job.refresh_from_db()
        assert job.state == "waiting"

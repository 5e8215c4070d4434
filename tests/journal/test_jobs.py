"""Jobs: opened once, held by a lease, tried again, ended."""

import time
from datetime import timedelta
from threading import Event

import pytest
import time_machine
from celery import Celery, current_app
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from journal import actions, leases, operation_actions, queue, tasks
from journal.models import IdempotencyRecord, JobRun, OperationEvent
from tests import factories
from tests.conftest import wait_until_somebody_waits


@pytest.fixture
def job(db):
    return factories.JobRunFactory()


def taken(job, seconds=60):
    held = leases.claim_job(job.pk, lease_seconds=seconds)
    assert held is not None
    return held


class TestOpen:
    def test_a_subject_has_one_open_job_of_a_kind(self, owner):
        first = leases.open_job("summarize", owner.pk, user_id=owner.pk, total=3)
        assert leases.open_job("summarize", owner.pk) == first
        assert leases.open_job("export", owner.pk) != first
        assert (first.state, first.user_id, first.total) == ("waiting", owner.pk, 3)
        assert str(first) == f"summarize {owner.pk} waiting"

    def test_after_the_end_another_one_is_opened(self, job):
        leases.finish_job(taken(job))
        assert leases.open_job(job.kind, job.subject_id) != job

    @pytest.mark.django_db(transaction=True)
    def test_eight_at_once_open_one(self, at_once):
        made = at_once(lambda _: leases.open_job("summarize", "1").pk, 8)
        assert len(set(made)) == 1
        assert JobRun.objects.count() == 1

    def test_the_table_refuses_a_second_one(self, job):
        with pytest.raises(IntegrityError), transaction.atomic():
            factories.JobRunFactory(kind=job.kind, subject_id=job.subject_id)


class TestLease:
    def test_whoever_claims_holds_it(self, job):
        held = taken(job)
        assert (held.state, held.attempts) == ("running", 1)
        assert held.lease_token is not None
        assert leases.claim_job(job.pk, lease_seconds=60) is None

    @pytest.mark.django_db(transaction=True)
    def test_of_eight_workers_one_gets_it(self, job, at_once):
        results = at_once(lambda _: leases.claim_job(job.pk, lease_seconds=60), 8)
        assert sum(isinstance(result, JobRun) for result in results) == 1
        assert sum(result is None for result in results) == 7
        job.refresh_from_db()
        assert job.attempts == 1

    def test_an_expired_lease_is_taken_over_and_the_old_token_is_worth_nothing(self, job):
        with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
            JobRun.objects.update(not_before=timezone.now())
            old = taken(job, 60)
            clock.shift(59)
            assert leases.claim_job(job.pk, lease_seconds=60) is None
            clock.shift(1)
            new = taken(job, 60)
            assert new.attempts == 2
            for lost in (
                leases.renew_lease(old, lease_seconds=60),
                leases.finish_job(old),
                leases.fail_job(old, "lost"),
                leases.retry_job_later(old, "lost"),
            ):
                assert lost is False
            with transaction.atomic():
                assert not leases.lock_job(old)
                assert leases.lock_job(new)
            assert leases.finish_job(new, chunks=1)
        job.refresh_from_db()
        assert (job.state, job.result, job.error_code) == ("done", {"chunks": 1}, "")

    def test_a_lease_is_renewed_with_the_progress(self, job):
        with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
            JobRun.objects.update(not_before=timezone.now())
            held = taken(job, 60)
            clock.shift(50)
            assert leases.renew_lease(held, lease_seconds=60, done=1, total=2)
            clock.shift(50)
            assert leases.claim_job(job.pk, lease_seconds=60) is None
            assert leases.renew_lease(held, lease_seconds=60)
        job.refresh_from_db()
        assert (job.done, job.total) == (1, 2)

    def test_nobody_claims_before_its_time(self, job):
        JobRun.objects.update(not_before=timezone.now() + timedelta(minutes=1))
        assert leases.claim_job(job.pk, lease_seconds=60) is None

    @pytest.mark.django_db(transaction=True)
    def test_while_results_are_written_nobody_takes_over(self, job, at_once):
        """The holder's lease runs out inside its transaction; the other worker waits, and then finds it done."""
        held = taken(job, 60)
        JobRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        locked = Event()

        def work(number):
            if number == 0:
                with transaction.atomic():
                    assert leases.lock_job(held)
                    locked.set()
                    wait_until_somebody_waits()
                    assert leases.finish_job(held)
                return "finished"
            assert locked.wait(30)
            return leases.claim_job(job.pk, lease_seconds=60)

        assert at_once(work, 2) == ["finished", None]
        job.refresh_from_db()
        assert job.state == "done"

    @pytest.mark.parametrize(
        "change",
        [
            {"state": "running"},
            {"lease_until": timezone.now()},
            {"total": 1, "done": 2},
        ],
    )
    def test_the_table_guards_itself(self, job, change):
        with pytest.raises(IntegrityError), transaction.atomic():
            JobRun.objects.update(**change)


class TestEnd:
    def test_a_failure_is_tried_again_later_each_time(self, job):
        waits = []
        with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
            JobRun.objects.update(not_before=timezone.now())
            for _ in range(9):
                held = taken(job)
                assert leases.retry_job_later(held, "model_away" + "x" * 60)
                job.refresh_from_db()
                waits.append((job.not_before - timezone.now()).total_seconds())
                clock.move_to(job.not_before)
        assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600]
        assert (job.state, len(job.error_code), job.lease_token) == ("waiting", 60, None)

    def test_what_can_not_be_done_ends(self, job):
        assert leases.fail_job(taken(job), "gone")
        job.refresh_from_db()
        assert (job.state, job.error_code) == ("failed", "gone")
        assert job.finished_at
        assert leases.claim_job(job.pk, lease_seconds=60) is None

    @pytest.mark.parametrize("running", [True, False])
    def test_a_cancelled_job_is_noticed_at_the_next_report(self, job, running):
        held = taken(job) if running else None
        assert leases.cancel_job(job)
        job.refresh_from_db()
        assert (job.state, job.lease_token) == ("cancelled", None)
        if held:
            assert not leases.renew_lease(held, lease_seconds=60)
        assert not leases.cancel_job(job)

    def test_a_failed_job_is_opened_again(self, job):
        leases.fail_job(taken(job), "model_away")
        assert leases.retry_job_now(job)
        assert taken(job).attempts == 2

    @pytest.mark.parametrize("code", JobRun.FINAL_ERRORS)
    def test_one_whose_work_is_gone_is_not_opened_again(self, job, code):
        leases.fail_job(taken(job), code)
        assert not leases.retry_job_now(job)
        job.refresh_from_db()
        assert (job.state, job.is_final) == ("failed", True)
        assert not JobRun.objects.failing().exists()

    def test_a_waiting_job_is_tried_at_once(self, job):
        JobRun.objects.update(not_before=timezone.now() + timedelta(hours=1))
        assert leases.retry_job_now(job)
        taken(job)

    @pytest.mark.parametrize("state", ["running", "done", "cancelled"])
    def test_there_is_nothing_to_retry_otherwise(self, job, state):
        if state == "running":
            taken(job)
        elif state == "done":
            leases.finish_job(taken(job))
        else:
            leases.cancel_job(job)
        assert not leases.retry_job_now(job)

    def test_a_failed_job_stays_so_while_another_does_the_same(self, job):
        leases.fail_job(taken(job), "model_away")
        leases.open_job(job.kind, job.subject_id)
        assert not leases.retry_job_now(job)
        job.refresh_from_db()
        assert job.state == "failed"

    def test_a_person_s_jobs_are_their_own(self, owner, stranger):
        mine = factories.JobRunFactory(user_id=owner.pk)
        factories.JobRunFactory(user_id=stranger.pk)
        factories.JobRunFactory()
        assert list(JobRun.objects.of_user(owner.pk)) == [mine]
        assert not JobRun.objects.of_user(None).exists()


class TestQueue:
    def test_what_a_person_waits_for_is_served_first(self):
        def priority(task):
            return current_app.amqp.router.route({}, task)["priority"]

        assert {priority(f"assistant.run_{job}") for job in ("erasure", "export", "import")} == {0}
        assert {priority("assistant.maybe_summarize"), priority("facts.index")} == {6}

    @pytest.fixture
    def sent(self, monkeypatch):
        found = []
        app = type("App", (), {"send_task": lambda _, name, **options: found.append((name, options))})()
        monkeypatch.setattr(queue, "current_app", app)
        return found

    def test_a_task_starts_when_the_transaction_has_committed(self, owner, sent, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            queue.enqueue("journal.trim", owner.pk)
            assert sent == []
        ((name, options),) = sent
        assert (name, options["args"], options["retry"]) == ("journal.trim", [str(owner.pk)], False)

    @pytest.mark.django_db(transaction=True)
    def test_a_transaction_that_fails_starts_nothing(self, sent):
        def work():
            with transaction.atomic():
                queue.enqueue("journal.trim")
                JobRun.objects.create(kind="trim", subject_id="1", done=2, total=1)

        with pytest.raises(IntegrityError):
            work()
        assert sent == []

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize("away", ["redis+socket:///nowhere/gone.sock?virtual_host=0", "redis://127.0.0.1:1/0"])
    def test_a_broker_that_is_away_neither_fails_nor_delays_the_request(self, owner, monkeypatch, caplog, away):
        app = Celery("away", set_as_current=False)
        app.config_from_object(settings, namespace="CELERY")
        app.conf.broker_url = away
        monkeypatch.setattr(queue, "current_app", app)
        caplog.set_level("WARNING")
        started = time.monotonic()
        with transaction.atomic():
            queue.enqueue("journal.trim")
            factories.UserFactory(username="kept")
        assert time.monotonic() - started < 10
        assert "task_not_queued" in caplog.text
        assert type(owner).objects.filter(username="kept").exists()


class TestTrim:
    def test_what_is_kept_for_a_while_goes_in_time(self, owner):
        now = timezone.now()
        old, young = now - timedelta(days=91), now - timedelta(days=89)
        for at in (old, young):
            factories.OperationEventFactory(at=at)
            factories.JobRunFactory(state="done", finished_at=at, created_at=at)
            factories.JobRunFactory(created_at=at)
        for hours in (25, 23):
            IdempotencyRecord.objects.create(owner="o", key=str(hours), created_at=now - timedelta(hours=hours))
        trimmed = {"operation_events": 1, "jobs": 1, "undo_steps": 0, "idempotency_records": 1, "erased": 0}
        assert actions.trim() == trimmed
        assert OperationEvent.objects.get().at == young
        assert JobRun.objects.get(state="done").finished_at == young
        assert JobRun.objects.filter(state="waiting").count() == 2
        assert IdempotencyRecord.objects.get().key == "23"

    def test_beat_starts_it(self, db):
        factories.OperationEventFactory(at=timezone.now() - timedelta(days=91))
        assert settings.CELERY_BEAT_SCHEDULE["trim"]["task"] == tasks.trim.name
        tasks.trim()
        assert not OperationEvent.objects.exists()


def test_an_operation_is_noted_with_ids_and_no_text(owner):
    operation_actions.note_operation(
        "extract", "summarize", "error", user_id=owner.pk, thread_id=7, object_id=8, sim=0.5
    )
    event = OperationEvent.objects.get()
    assert (event.node, event.op, event.status, event.user_id) == ("extract", "summarize", "error", owner.pk)
    assert (event.thread_id, event.object_id, event.category, event.sim) == ("7", "8", "", 0.5)

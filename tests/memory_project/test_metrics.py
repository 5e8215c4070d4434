"""/metrics for Prometheus, counts of operations over REST, and OpenTelemetry spans: numbers and names, never a text."""

from datetime import timedelta
from importlib.util import find_spec, module_from_spec

import pytest
from celery import shared_task
from django.apps import apps
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import timezone
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families

from journal.actions import note_model_use
from journal.models import JobRun, OperationEvent
from journal.operation_actions import note_operation
from language.base import Usage
from memory_project import tracing
from tests import factories

pytestmark = pytest.mark.django_db

URL = "/api/v1/events/summary/"


@pytest.fixture
def noted(owner, stranger):
    for status in ("ok", "ok", "error"):
        note_operation("worker", "consolidate", status, user_id=owner.pk)
    note_operation("context", "block", user_id=stranger.pk)
    OperationEvent.objects.filter(node="context").update(count=7)
    note_operation("hotpath", "create", user_id=owner.pk)
    OperationEvent.objects.filter(node="hotpath").update(at=timezone.now() - timedelta(days=3))


def read(client, **headers):
    answer = client.get("/metrics", **headers)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {(sample.name, *sample.labels.values()): sample.value for each in families for sample in each.samples}


def test_basic_counts_by_op_node_and_status_for_prometheus(client, noted):
    JobRun.objects.create(kind="insights", subject_id="1")
    JobRun.objects.create(kind="insights", subject_id="2", error_code="ModelUnavailable")
    JobRun.objects.create(kind="export", subject_id="3", state="failed", error_code="DataError")
    JobRun.objects.create(kind="export", subject_id="4", state="done")
    note_model_use("insights", Usage(90, 10))
    assert read(client) == {
        ("keepsake_operations_last_day", "worker", "consolidate", "ok"): 2,
        ("keepsake_operations_last_day", "worker", "consolidate", "error"): 1,
        ("keepsake_operations_last_day", "context", "block", "ok"): 7,
        ("keepsake_jobs", "insights", "waiting"): 1,
        ("keepsake_jobs", "insights", "retrying"): 1,
        ("keepsake_jobs", "export", "failed"): 1,
        ("keepsake_model_calls_total", "insights"): 1,
        ("keepsake_model_tokens_total", "input", "insights"): 90,
        ("keepsake_model_tokens_total", "output", "insights"): 10,
    }


def test_metrics_are_read_once_for_many_scrapes(client, noted, django_assert_num_queries):
    read(client)
    with django_assert_num_queries(0):
        read(client)


def test_metrics_without_a_token_are_for_this_machine_and_staff(client, settings):
    far = {"REMOTE_ADDR": "203.0.113.9"}
    assert client.get("/metrics", **far).status_code == 404
    assert client.get("/metrics", REMOTE_ADDR="").status_code == 404
    for name in ("X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via", "Forwarded"):
        assert client.get("/metrics", headers={name: "127.0.0.1"}).status_code == 404
    assert client.get("/metrics").status_code == 200
    settings.BEHIND_PROXY = True
    assert client.get("/metrics").status_code == 404
    client.force_login(factories.UserFactory(is_staff=True))
    assert client.get("/metrics", **far).status_code == 200
    client.force_login(factories.UserFactory())
    assert client.get("/metrics", **far).status_code == 404


def test_metrics_with_a_token_ask_everybody_for_it(client, settings):
    settings.METRICS_TOKEN = "a-long-token"
    assert client.get("/metrics").status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer another"}).status_code == 404
    assert client.get("/metrics", headers={"Authorization": "Bearer a-long-token"}).status_code == 200
    assert client.post("/metrics", headers={"Authorization": "Bearer a-long-token"}).status_code == 405


def test_the_person_reads_what_was_attempted_for_them(api, owner, stranger, noted):
    answer = api(owner).get(URL)
    assert answer.json()["counts"] == [
        {"node": "hotpath", "op": "create", "status": "ok", "count": 1},
        {"node": "worker", "op": "consolidate", "status": "error", "count": 1},
        {"node": "worker", "op": "consolidate", "status": "ok", "count": 2},
    ]
    assert [each["node"] for each in api(owner).get(URL, {"days": 1}).json()["counts"]] == ["worker", "worker"]
    assert api(stranger).get(URL).json()["counts"][0]["count"] == 7


@pytest.mark.parametrize("days", ["0", "91", "many"])
def test_a_span_that_there_is_not_is_refused(api, owner, days):
    assert api(owner).get(URL, {"days": days}).status_code == 400


def test_an_agent_does_not_learn_of_what_others_attempted(api, agent):
    refused = api(agent).get(URL)
    assert (refused.status_code, refused.json()["code"]) == (403, "not_yours_to_decide")


def test_a_job_tells_the_numbers_that_it_came_to(api, owner):
    result = {"merged": 2, "asked": False, "stopped": "tokens"}
    job = JobRun.objects.create(kind="consolidate", subject_id=owner.pk, user_id=owner.pk, state="done", result=result)
    assert api(owner).get(f"/api/v1/jobs/{job.pk}/").json()["result"] == {"merged": 2, "asked": 0}


# --- Spans ------------------------------------------------------------------------------------------------------


@pytest.fixture
def spans(monkeypatch):
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return kept.get_finished_spans


def told(span):
    return f"{span.name} {dict(span.attributes)} {span.events} {span.status.description}"


def traced(client, monkeypatch, settings):
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "memory_project.tracing.Traced"]
    client.handler.load_middleware()
    return client


def test_a_request_is_a_span_by_its_route_without_a_text(client, owner, spans, monkeypatch, settings):
    client.force_login(owner)
    traced(client, monkeypatch, settings)
    client.get("/memories/", {"search": "whistling"})
    (span,) = spans()
    assert span.name == "GET /memories/"
    assert span.attributes["http.response.status_code"] == 200
    assert span.attributes["keepsake.request_id"]
    assert "whistling" not in told(span)


def test_a_failing_request_is_an_error_without_what_the_error_says(spans):
    request = RequestFactory().get("/x/whistling/")
    request.resolver_match = None
    tracing.Traced(lambda request: HttpResponse("whistling", status=503))(request)
    with pytest.raises(ValueError, match="whistling"):
        tracing.Traced(fails)(request)
    (unavailable, failed) = spans()
    assert not unavailable.status.is_ok
    assert "whistling" not in told(unavailable) + told(failed)


def fails(request=None):
    raise ValueError("whistling")


@shared_task(name="tests.traced")
def traced_task(fail):
    if fail:
        fails()


def test_a_task_is_a_span_with_its_name_and_no_arguments(spans):
    tracing.trace_tasks()
    try:
        traced_task.apply([False])
        traced_task.apply([True])
    finally:
        tracing.task_prerun.disconnect(tracing._task_begins)
        tracing.task_postrun.disconnect(tracing._task_ends)
    done, failed = spans()
    assert (done.name, done.attributes["celery.state"], done.status.is_ok) == ("tests.traced", "SUCCESS", True)
    assert (failed.attributes["celery.state"], failed.status.is_ok) == ("FAILURE", False)
    assert "whistling" not in told(failed)


def test_without_the_packages_tracing_fails_loudly(settings):
    with pytest.raises(ImproperlyConfigured, match="opentelemetry-exporter-otlp-proto-http"):
        tracing.begin_tracing()


@pytest.mark.parametrize("switch", ["1", "0", None])
def test_spans_are_made_only_where_they_are_switched_on(monkeypatch, switch):
    monkeypatch.delenv("TRACES", raising=False)
    if switch is not None:
        monkeypatch.setenv("TRACES", switch)
    spec = find_spec("memory_project.settings")
    read_again = module_from_spec(spec)
    spec.loader.exec_module(read_again)
    assert read_again.MIDDLEWARE.count("memory_project.tracing.Traced") == (switch == "1")
    assert not trace.get_tracer("keepsake").start_span("x").is_recording()  # Until begin_tracing().


def test_starting_with_the_switch_on_begins_tracing(monkeypatch, settings):
    begun = []
    monkeypatch.setattr("memory_project.apps.begin_tracing", lambda: begun.append(1))
    for switched_on in (False, True):
        settings.TRACES = switched_on
        apps.get_app_config("memory_project").ready()
    assert begun == [1]

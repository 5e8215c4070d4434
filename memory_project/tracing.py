"""OpenTelemetry: a span for each request and task if ``TRACES`` is set. Spans hold no private text.

Otherwise the API's default tracer does nothing. The exporter is configured by OpenTelemetry's own variables
(``OTEL_EXPORTER_OTLP_ENDPOINT``, ``OTEL_SERVICE_NAME``, ``OTEL_TRACES_SAMPLER``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery.signals import task_postrun, task_prerun
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from opentelemetry import trace
from opentelemetry.context import attach, detach
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, set_span_in_context
from structlog.contextvars import get_contextvars

_MODULE = "keepsake"
_RUNNING: dict[str, tuple[Span, Any]] = {}


def begin_tracing() -> None:
    """Start exporting spans. Raises ImproperlyConfigured if the packages for it are not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError as error:
        message = "TRACES needs the packages opentelemetry-sdk and opentelemetry-exporter-otlp-proto-http."
        raise ImproperlyConfigured(message) from error
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    trace_tasks()


def trace_tasks() -> None:
    """Create a span for each task that this process runs."""
    task_prerun.connect(_task_begins, weak=False)
    task_postrun.connect(_task_ends, weak=False)


class Traced:
    """Middleware: a span per request, named by its route. Path and query are left out, since they may be private."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request within its span."""
        # An exception's message may quote a row, so it is not recorded; its class is in the log.
        with trace.get_tracer(_MODULE).start_as_current_span(
            str(request.method), kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            response = self.get_response(request)
            match = request.resolver_match
            route = match.route if match is not None else ""
            span.update_name(f"{request.method} /{route}")
            span.set_attributes(
                {
                    "http.request.method": str(request.method),
                    "http.route": f"/{route}",
                    "http.response.status_code": response.status_code,
                    "keepsake.request_id": get_contextvars().get("request_id", ""),
                }
            )
            if response.status_code >= 500:
                span.set_status(Status(StatusCode.ERROR))
            return response


def _task_begins(task_id: str, task: Any, **_: Any) -> None:
    span = trace.get_tracer(_MODULE).start_span(task.name, kind=SpanKind.CONSUMER, attributes={"celery.id": task_id})
    _RUNNING[task_id] = span, attach(set_span_in_context(span))


def _task_ends(task_id: str, state: str | None = None, **_: Any) -> None:
    if (begun := _RUNNING.pop(task_id, None)) is None:
        return
    span, token = begun
    span.set_attribute("celery.state", state or "")
    if state != "SUCCESS":
        span.set_status(Status(StatusCode.ERROR))
    span.end()
    detach(token)

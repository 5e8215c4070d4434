"""``/metrics`` for Prometheus, computed from the database, so that all processes report the same.

It names no person and holds no text. Answers are cached for some seconds, so that scraping costs little.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address

from django.conf import settings
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from journal.counting import count_jobs, count_model_use, count_operations

KEPT_SECONDS = 15
_KEY = "metrics:text"
_PROXIES_SEND = frozenset(
    {"forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-server", "x-real-ip"}
)


class _Stored(Collector):
    """Collector of the figures in the database, read once per scrape."""

    def collect(self) -> Iterator[Metric]:
        """Yield all metric families with their samples."""
        yield self._operations()
        yield self._jobs()
        yield from self._models()

    def _operations(self) -> Metric:
        told = "Operations that were attempted in the last 24 hours, by how they ended."
        family = GaugeMetricFamily("keepsake_operations_last_day", told, labels=["node", "op", "status"])
        for each in count_operations(timezone.now() - timedelta(days=1)):
            family.add_metric([each.node, each.op, each.status], each.count)
        return family

    def _jobs(self) -> Metric:
        told = "Background jobs that wait, wait to be tried again, run, or have failed."
        family = GaugeMetricFamily("keepsake_jobs", told, labels=["kind", "state"])
        for (kind, state), number in sorted(count_jobs().items()):
            family.add_metric([kind, state], number)
        return family

    def _models(self) -> Iterator[Metric]:
        calls = CounterMetricFamily(
            "keepsake_model_calls", "Calls of language models for all but replies.", labels=["purpose"]
        )
        tokens = CounterMetricFamily(
            "keepsake_model_tokens", "Tokens that these calls used.", labels=["purpose", "direction"]
        )
        for purpose, number, read, written in count_model_use():
            calls.add_metric([purpose], number)
            tokens.add_metric([purpose, "input"], read)
            tokens.add_metric([purpose, "output"], written)
        yield from (calls, tokens)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics to staff and to holders of ``METRICS_TOKEN``; if that is unset, to this machine. Else 404."""
    if not _may_read(request):
        raise Http404
    text = cache.get(_KEY)
    if text is None:
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Stored())
        text = generate_latest(registry)
        cache.set(_KEY, text, KEPT_SECONDS)
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def _may_read(request: HttpRequest) -> bool:
    if request.user.is_staff and request.user.is_active:
        return True
    if settings.METRICS_TOKEN:
        given = request.headers.get("Authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {settings.METRICS_TOKEN}".encode())
    # Behind a local proxy every client has a loopback address.
    if settings.BEHIND_PROXY or not _PROXIES_SEND.isdisjoint(each.lower() for each in request.headers):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False

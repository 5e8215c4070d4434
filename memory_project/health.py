"""Health checks: liveness and readiness."""

from __future__ import annotations

from functools import cache

import structlog
from celery import current_app
from django.db import DatabaseError, InterfaceError, ProgrammingError
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError as BrokerError
from psycopg_pool import PoolTimeout

from web.errors import RETRY_SECONDS

log = structlog.get_logger(__name__)


@never_cache
@require_safe
def live(request: HttpRequest) -> JsonResponse:
    """Return 200 as long as the process answers; no other server is asked."""
    return JsonResponse({"status": "live"})


@never_cache
@require_safe
def ready(request: HttpRequest) -> JsonResponse:
    """Return 200 when requests can be served, 503 with Retry-After when the database is unavailable or not migrated.

    Without the broker it returns 200 with ``degraded``: requests are served, and the sweep runs the background work
    when the broker is back.
    """
    checks = {"database": _check_database(), "broker": _check_broker()}
    if checks["database"] != "ok":
        return JsonResponse(
            {"status": "unavailable", "checks": checks}, status=503, headers={"Retry-After": RETRY_SECONDS}
        )
    return JsonResponse({"status": "ready" if checks["broker"] == "ok" else "degraded", "checks": checks})


def _check_database() -> str:
    try:
        applied = set(MigrationRecorder.Migration.objects.values_list("app", "name"))
    except ProgrammingError:
        return "not migrated"  # The table of migrations does not exist yet.
    except (DatabaseError, InterfaceError, PoolTimeout) as error:
        log.warning("database_away", error=type(error).__name__)
        return "away"
    return "ok" if _wanted_migrations() <= applied else "not migrated"


@cache
def _wanted_migrations() -> frozenset[tuple[str, str]]:
    """The migrations of this release; they can't change while the process runs."""
    return frozenset(MigrationLoader(None).disk_migrations)


def _check_broker() -> str:
    try:
        with current_app.connection_for_write() as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=1)
    except (BrokerError, OSError) as error:
        log.warning("broker_away", error=type(error).__name__)
        return "away"
    return "ok"

"""Live and ready."""

import pytest
from celery import current_app
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

OK = {"database": "ok", "broker": "ok"}


def test_live_asks_nobody(api, db, django_assert_num_queries):
    with django_assert_num_queries(0):
        answer = api().get("/health/live")
    assert (answer.status_code, answer.json()) == (200, {"status": "live"})
    assert "no-store" in answer["Cache-Control"]


def test_ready_asks_the_database_once(api, db, django_assert_num_queries):
    with django_assert_num_queries(1):
        answer = api().get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "checks": OK})
    assert "no-store" in answer["Cache-Control"]


def test_without_a_broker_requests_are_served_all_the_same(api, db, monkeypatch, tmp_path):
    monkeypatch.setattr(current_app.conf, "broker_url", f"redis+socket://{tmp_path}/gone.sock?virtual_host=0")
    answer = api().get("/health/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "degraded", "checks": {**OK, "broker": "away"}})


def test_a_database_that_lacks_a_migration_is_not_ready(api, db):
    MigrationRecorder.Migration.objects.filter(app="journal").delete()
    answer = api().get("/health/ready")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert answer.json()["checks"]["database"] == "not migrated"
    assert answer["Retry-After"] == "5"


def test_an_empty_database_is_not_ready(api, db):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL search_path TO pg_temp")
    answer = api().get("/health/ready")
    assert (answer.status_code, answer.json()["checks"]["database"]) == (503, "not migrated")


@pytest.mark.parametrize("path", ["/health/live", "/health/ready"])
def test_probes_only_read(api, db, path):
    assert api().post(path).status_code == 405
    assert api().head(path).status_code == 200


def test_probes_speak_plain_http_behind_https(api, db, settings):
    settings.SECURE_SSL_REDIRECT = True
    assert api().get("/health/live").status_code == 200
    assert api().get("/api/v1/legacies/").status_code == 301

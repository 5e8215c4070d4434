"""What a request gets when no view could answer it."""

import json
import os
import subprocess
import sys

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from psycopg_pool import PoolTimeout
from rest_framework.exceptions import NotFound as DrfNotFound

from accounts.api import legacies as accounts_api
from journal.exceptions import Unavailable
from language.base import EmbedderUnavailable
from memory_project import health
from tests import factories
from web.errors import answer_error, is_outage
from web.throttling import PrincipalRateThrottle

LEGACIES = "/api/v1/legacies/"


def plain(answer):
    assert answer["Content-Type"].startswith("text/html")
    text = answer.content.decode()
    assert "Traceback" not in text
    return text


@pytest.mark.parametrize("path", ["/api/v1/nothing/", "/api/nothing", "/api/v1/legacies/42/", "/mem0/v1/x/"])
def test_the_api_answers_in_json_where_there_is_nothing(api, owner, path):
    answer = api(owner).get(path)
    assert (answer.status_code, set(answer.json())) == (404, {"detail", "code"})
    assert answer.json()["code"] == "not_found"


def test_a_page_that_is_not_there_is_a_page(api, db):
    answer = api().get("/nothing")
    assert answer.status_code == 404
    assert "There is nothing at this address." in plain(answer)


def test_the_error_page_does_not_repeat_what_was_asked_for(api, db):
    assert "<script>" not in plain(api().get("/<script>alert(1)</script>"))


def test_a_host_that_is_not_ours_is_refused(api, db, settings):
    settings.ALLOWED_HOSTS = ["keepsake.test"]
    answer = api().get(LEGACIES, HTTP_HOST="elsewhere.test")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert api().get("/admin/", HTTP_HOST="elsewhere.test").status_code == 400


def test_a_form_without_its_token_is_told_what_to_do(owner):
    client = Client(enforce_csrf_checks=True)
    answer = client.post("/admin/login/", {"username": "owner"})
    assert answer.status_code == 403
    assert "Go back to it" in plain(answer)


def test_a_session_needs_the_token_to_write_over_the_api(owner):
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.get(LEGACIES).status_code == 200
    answer = client.post(LEGACIES, {"name": "Rosa"}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert "CSRF" in answer.json()["detail"]


def test_a_permission_that_a_page_denies_is_a_page(api, owner, staff):
    answer = api(staff).post(reverse("admin:accounts_legacy_add"))
    assert answer.status_code == 403
    assert "You may not do this." in plain(answer)


def test_what_nobody_foresaw_shows_no_trace(api, owner, monkeypatch):
    def fail(*_):
        raise RuntimeError("the secret of the cellar")

    monkeypatch.setattr(accounts_api, "_legacies", fail)
    answer = api(owner).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (500, "error")
    assert b"cellar" not in answer.content
    assert "before you try again" in api(owner).post(LEGACIES, {"name": "Opa"}).json()["detail"]
    monkeypatch.setattr("memory_project.staff.site.read_dashboard", fail)
    answer = api(factories.UserFactory(is_staff=True)).get("/admin/")
    assert answer.status_code == 500
    assert "cellar" not in plain(answer)


@pytest.mark.parametrize(
    "away", [OperationalError("gone"), PoolTimeout("full"), EmbedderUnavailable("gone"), Unavailable("Gone.")]
)
def test_what_is_away_for_now_is_503(api, owner, monkeypatch, away):
    def fail(*_):
        raise away

    monkeypatch.setattr(accounts_api, "_legacies", fail)
    answer = api(owner).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "5")


def test_an_error_of_no_one_s_making_is_not_answered_here():
    assert answer_error(RuntimeError(), {}) is None
    assert not is_outage(None)
    assert answer_error(DrfNotFound("Gone."), {}).data == {"detail": "Gone.", "code": "not_found"}


@pytest.mark.parametrize(("method", "status", "code"), [("PUT", 405, "method_not_allowed")])
def test_a_verb_that_is_not_served(api, owner, method, status, code):
    answer = api(owner).generic(method, LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_format_that_is_not_served(api, owner):
    answer = api(owner).get(LEGACIES, HTTP_ACCEPT="application/xml")
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


@pytest.mark.parametrize("length", ["1048577", "1e9", "-1"])
def test_a_body_over_the_limit_is_not_read(api, owner, length):
    answer = api(owner).generic("POST", LEGACIES, "{}", content_type="application/json", CONTENT_LENGTH=length)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


class TestRateLimit:
    @pytest.fixture(autouse=True)
    def two_a_minute(self, monkeypatch):
        monkeypatch.setattr(PrincipalRateThrottle, "rate", "2/min", raising=False)
        monkeypatch.setattr("web.throttling.time.time", lambda: 1_800_000_030.0)

    def test_too_many_are_told_when_to_come_back(self, api, owner, stranger):
        statuses = [api(owner).get(LEGACIES).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        answer = api(owner).get(LEGACIES)
        assert answer.json()["code"] == "throttled"
        assert answer["Retry-After"] == "30"
        assert api(stranger).get(LEGACIES).status_code == 200

    def test_one_busy_person_of_a_service_does_not_stop_the_others(self, api, service):
        assert [api(service, "42").get(LEGACIES).status_code for _ in range(3)] == [200, 200, 429]
        assert api(service, "43").get(LEGACIES).status_code == 200

    def test_it_lets_through_when_the_cache_is_away(self, api, owner, settings, tmp_path):
        settings.CACHES = {
            "default": {**django_settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/gone.sock?db=0"}
        }
        assert [api(owner).get(LEGACIES).status_code for _ in range(4)] == [200] * 4


WITHOUT_A_DATABASE = """
import json, os
from django.conf import settings
settings.DATABASES["default"]["OPTIONS"]["pool"]["timeout"] = 0.2
settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
import django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
client.cookies[settings.SESSION_COOKIE_NAME] = "a" * 32
def get(path, **headers):
    answer = client.get(path, **headers)
    return [answer.status_code, answer.get("Retry-After"), answer["Content-Type"], answer.content.decode()]
key = "Bearer ks_aaaaaaaaaaaa." + "b" * 40
legacies = "/api/v1/legacies/"
asked = [("/health/ready", {}), (legacies, {"HTTP_AUTHORIZATION": key}), (legacies, {}), ("/admin/", {})]
answers = [get(path, **headers) for path, headers in asked]
print(json.dumps([get("/health/live"), *answers]))
"""


@pytest.mark.slow
def test_with_the_database_away_every_answer_is_503_and_short(tmp_path):
    """A process of its own, so that this one's connections stay as they are."""
    environment = {
        **os.environ,
        "DATABASE_URL": f"postgresql://nobody@{str(tmp_path).replace('/', '%2F')}/gone",
        "DJANGO_SETTINGS_MODULE": "memory_project.settings",
        "DEBUG": "0",
        "ALLOWED_HOSTS": "testserver",
        "LOG_LEVEL": "CRITICAL",
    }
    environment.pop("DATABASE_OWNER_URL", None)
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_A_DATABASE], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    live, *away = json.loads(run.stdout)
    assert live[0] == 200
    assert [answer[:2] for answer in away] == [[503, "5"]] * 4
    assert [answer[2].partition(";")[0] for answer in away] == ["application/json"] * 3 + ["text/html"]
    assert json.loads(away[0][3])["checks"]["database"] == "away"
    assert "Traceback" not in run.stdout


def test_the_log_says_who_asked_for_what_but_not_for_which_words(api, agent, caplog):
    caplog.set_level("INFO")
    api(agent).get(LEGACIES + "?search=the+secret+of+the+cellar")
    text = caplog.text
    assert f"agent:{agent.pk}" in text
    assert str(agent.owner_id) in text
    assert f"GET {LEGACIES}'" in text
    assert "cellar" not in text
    assert agent.credential.partition(".")[2] not in text


def test_the_wanted_migrations_are_those_on_disk():
    assert ("accounts", "0001_initial") in health._wanted_migrations()

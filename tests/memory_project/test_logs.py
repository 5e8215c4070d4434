"""What logs say: a line for each request that matters, and of a database error nothing of the row that broke a rule."""

import io
import json
import logging
import logging.config
from uuid import UUID

import pytest
import structlog
from celery import Celery
from django.db import IntegrityError, connection, transaction

from memory_project.logs import logging_config
from tests import factories

pytestmark = pytest.mark.django_db

SECRET = "savings\n\nTraceback (most recent call last):\napple"
WORDS = ("savings", "apple", "Failing row")


@pytest.fixture
def broken():
    """A function that breaks a constraint with a row that holds the secret."""
    message = factories.MessageFactory(content=SECRET)

    def broken():
        with transaction.atomic():
            type(message).objects.filter(pk=message.pk).update(role="nobody")

    with pytest.raises(IntegrityError) as caught:
        broken()
    assert all(word in str(caught.value) for word in WORDS)
    return broken


@pytest.fixture(params=[True, False], ids=["json", "lines"])
def logged(request):
    """What is written by the handler that logging_config sets up, as a text."""
    structlog_before = structlog.get_config()
    config = logging_config("INFO", json_lines=request.param)
    written = io.StringIO()
    formatter = logging.config.DictConfigurator(config).configure_formatter(config["formatters"]["structured"])
    handler = logging.StreamHandler(written)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.addHandler(handler)
    yield written.getvalue
    root.removeHandler(handler)
    structlog.configure(**structlog_before)


def holds_nothing_private(text):
    assert "message_role_known" in text
    assert "IntegrityError" in text
    assert not [word for word in WORDS if word in text]
    return True


def test_a_traceback_names_the_rule_and_goes_on_after_it(broken, logged):
    try:
        try:
            broken()
        except IntegrityError as error:
            raise RuntimeError("could not be stored") from error
    except RuntimeError:
        logging.getLogger("django.tasks").exception("Task %s failed", "1")
    assert holds_nothing_private(logged())
    assert "RuntimeError: could not be stored" in logged()


def test_so_do_events_of_our_own(broken, logged):
    try:
        broken()
    except IntegrityError as error:
        structlog.get_logger("tests").exception("failed", text=str(error), error=error, count=1)
    assert holds_nothing_private(logged())


def test_an_error_wrapped_into_another_s_words_is_cut_too(broken, logged):
    try:
        broken()
    except IntegrityError as error:
        told = f"{error!r} {error}"
    try:
        raise ExceptionGroup("several", [ValueError(told)])
    except ExceptionGroup:
        logging.getLogger("tests").exception("failed: %s", told)
    assert holds_nothing_private(logged())


def test_what_celery_says_of_a_failed_task(broken, logged):
    app = Celery("tests", set_as_current=False)
    app.conf.task_store_eager_result = False

    @app.task(name="tests.broken")
    def task():
        broken()

    assert task.apply(throw=False).failed()
    assert holds_nothing_private(logged())
    assert "tests.broken" in logged()


def test_other_texts_stay_as_they_are(logged):
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    logging.getLogger("tests").warning("DETAIL: all of\nit, with HINT: and CONTEXT:")
    assert "HINT: and CONTEXT:" in logged()
    if logged().startswith("{"):
        assert json.loads(logged())["event"] == "DETAIL: all of\nit, with HINT: and CONTEXT:"


class TestRequests:
    """One line each, at its end, and none for what programs ask every few seconds."""

    @pytest.fixture
    def lines(self, caplog):
        caplog.set_level("INFO")
        return lambda: [record.msg for record in caplog.records]

    def test_one_line_says_who_asked_for_what_and_how_it_ended(self, api, agent, lines):
        api(agent).get("/api/v1/legacies/")
        (line,) = lines()
        assert (line["event"], line["code"], line["request"]) == ("request_finished", 200, "GET /api/v1/legacies/")
        assert line["actor"] == f"agent:{agent.pk}"
        assert line["ms"] >= 0

    @pytest.mark.parametrize("path", ["/nowhere", "/static/nowhere.css", "/api/v1/legacies/"])
    def test_so_does_one_that_is_refused(self, api, lines, path):
        code = api().get(path).status_code
        assert [(line["code"], line["level"]) for line in lines()] == [(code, "warning")]

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            ("/api/v1/I owe Karl 9,000 euros/", "GET unresolved"),
            ("/I-owe-Karl", "GET unresolved"),
            ("/admin/I-owe-Karl/", "GET /admin/[url]"),
            ("/api/v1/tools/I-owe-Karl/", "GET /api/v1/tools/[name]/"),
            ("/api/v1/memories/abcd1234/", "GET /api/v1/memories/abcd1234/"),
        ],
    )
    def test_nothing_that_an_address_may_say_is_noted(self, api, staff, lines, path, told):
        client = api(staff)
        client.force_login(staff)
        client.get(path)
        assert [line["request"] for line in lines()] == [told]

    def test_and_one_that_fails_with_its_traceback(self, client, lines, monkeypatch):
        client.raise_request_exception = False
        monkeypatch.setattr("memory_project.health._check_broker", lambda: 1 / 0)
        assert client.get("/health/ready").status_code == 500
        (line,) = lines()
        assert (line["event"], line["code"]) == ("request_failed", 500)
        assert "ZeroDivisionError" in line["exception"]

    def test_probes_and_polls_are_not_noted(self, api, client, owner, lines):
        job = factories.JobRunFactory(user_id=owner.pk, subject_id=str(factories.ConversationFactory(user=owner).pk))
        for answer in (
            client.get("/health/live"),
            client.head("/health/ready"),
            api(owner).get("/api/v1/changes/"),
            api(owner).get(f"/api/v1/jobs/{job.pk}/"),
        ):
            assert answer.status_code == 200
        assert lines() == []

    def test_unless_they_fail(self, api, client, lines, monkeypatch):
        monkeypatch.setattr("memory_project.health._check_database", lambda: "away")
        assert client.get("/health/ready").status_code == 503
        assert api().get("/api/v1/changes/").status_code == 401
        assert [line["code"] for line in lines()] == [503, 401]

    def test_nor_does_what_one_asked_for_reach_the_line_of_the_next(self, api, client, agent, lines):
        api(agent).get("/api/v1/changes/")
        client.get("/nowhere")
        (line,) = lines()
        assert "actor" not in line

    def test_each_line_has_the_id_of_its_request_and_nothing_that_was_sent(self, api, agent, lines):
        client, said = api(agent), {"content": "The user owes Karl 9,000 euros.", "category": "context"}
        for _ in range(2):
            client.post("/api/v1/memories/", said, HTTP_X_REQUEST_ID="Karl")
        ended = [line for line in lines() if isinstance(line, dict) and line["event"] == "request_finished"]
        assert len({UUID(line["request_id"]) for line in ended}) == 2
        assert "Karl" not in str(lines())

"""What logs say of a database error: which rule was broken, and nothing of the row that broke it."""

import io
import json
import logging
import logging.config

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
        logging.getLogger("django.request").exception("Internal Server Error: %s", "/")
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

import gc
import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import hypothesis
import pytest
from coverage import Coverage
from django.conf import settings
from django.db import connections
from django.test import Client, override_settings
from playwright.sync_api import expect, sync_playwright
from rest_framework.test import APIClient

from accounts.models import User
from journal.cache import valkey
from tests import factories

# The same examples in each run, however slow the machine is; --hypothesis-profile=default draws new ones.
hypothesis.settings.load_profile("ci")
# What a page is expected to show may take a while on a machine that does other things as well.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker, django_db_modify_db_settings):
    """Make the test database as in production: the owner creates and migrates it, the application role uses it."""
    owner, application = connections["owner"], connections["default"]
    real_name = owner.settings_dict["NAME"]
    with django_db_blocker.unblock():
        owner.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        application.creation.set_as_test_mirror(owner.settings_dict)
        if owner.settings_dict["USER"] != application.settings_dict["USER"]:
            # Only tests empty tables by TRUNCATE.
            role = owner.ops.quote_name(application.settings_dict["USER"])
            with owner.cursor() as cursor:
                cursor.execute(f"GRANT TRUNCATE ON ALL TABLES IN SCHEMA public TO {role}")
    yield
    with django_db_blocker.unblock():
        # A thread of the live server can hold a connection longer than the last test, and the database with it.
        with application.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()"
            )
        application.close()
        application.close_pool()
        owner.creation.destroy_test_db(real_name, verbosity=0)


COUNTED_CASES = 2
"""Of a test that runs with many values, so many count for the coverage: the others take mostly the same branches.

Counting them makes a test take twice as long on Python 3.11. Browser tests and slow ones don't count either: what they
ask for, other tests ask for as well. What a process does that a test starts isn't counted at all.
"""
UNCOUNTED = pytest.StashKey[bool]()


def pytest_collection_modifyitems(items):
    chromium = chromium_program()
    cases = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        browser, slow = (item.get_closest_marker(name) is not None for name in ("browser", "slow"))
        item.stash[UNCOUNTED] = browser or slow or cases[test] > COUNTED_CASES
        if browser and not chromium:
            item.add_marker(pytest.mark.skip(reason="needs Chromium: install the package chromium"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Leave out what a test's fixtures do as well, which the marker ``no_cover`` of pytest-cov does not."""
    counting = Coverage.current() if item.stash[UNCOUNTED] else None
    if counting is None:
        return (yield)
    counting.stop()
    try:
        return (yield)
    finally:
        counting.start()


def pytest_collection_finish(session):
    """Let the garbage collector pass over what stays to the end: the modules and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _fast_passwords_and_plain_static_files(django_test_environment):
    """Hash passwords fast, and serve static files without the manifest that only collectstatic makes."""
    storages = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    with override_settings(STORAGES=storages, PASSWORD_HASHERS=hashers, WHITENOISE_AUTOREFRESH=True):
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_minute_ends():
    """What searches know for a minute they know for all tests: else a count of queries would hang on the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assistant.recall.CENTRE_SECONDS", 10**9)
        yield


@pytest.fixture
def owner(db):
    """A person, who owns ``legacy``."""
    return factories.UserFactory(username="owner", display_name="Olga Owner")


@pytest.fixture
def member(db):
    """A person who is a member of ``legacy``."""
    return factories.UserFactory(username="member", display_name="Mira Member")


@pytest.fixture
def stranger(db):
    """A person who has nothing to do with the others."""
    return factories.UserFactory(username="stranger", display_name="Sam Stranger")


@pytest.fixture
def staff(db):
    """A moderator and superuser; over REST a person like any other."""
    return factories.UserFactory(username="staff", is_staff=True, is_superuser=True)


@pytest.fixture
def legacy(owner, member):
    """A legacy of ``owner`` with ``member``."""
    return factories.LegacyFactory(name="Grandmother Rosa", owner=owner, members=[member])


@pytest.fixture
def agent(owner):
    """A personal agent of ``owner``; ``agent.credential`` is its key, for read and write."""
    return with_key(factories.AgentFactory(name="agent", owner=owner))


@pytest.fixture
def other_agent(stranger):
    """A personal agent of ``stranger``, for read and write."""
    return with_key(factories.AgentFactory(name="other agent", owner=stranger))


@pytest.fixture
def service(db):
    """A service agent with every scope: ``api(service, "42")`` acts for the person its issuer calls 42."""
    made = factories.AgentFactory(name="service", service=True, issuer="backend")
    return with_key(made, ["read", "write", "admin"])


def with_key(agent, scopes=("read", "write")):
    """Give an agent a key; the credential is kept on the object."""
    agent.credential = factories.AgentKeyFactory(agent=agent, scopes=list(scopes)).credential
    return agent


@pytest.fixture
def at_once():
    """``at_once(function, 8)`` calls it in eight threads that start together; returns results or exceptions.

    For tests marked ``django_db(transaction=True)``: each thread has a connection of its own.
    """

    def run(function, threads):
        start = Barrier(threads)

        def one(number):
            start.wait(timeout=30)
            try:
                return function(number)
            except Exception as error:  # noqa: BLE001 - the test looks at it.
                return error
            finally:
                connections.close_all()

        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(one, range(threads)))

    return run


@pytest.fixture
def api():
    """``api(person)`` is signed in; ``api(agent)``, ``api(key)``, ``api("ks_…")`` send a key; ``api()`` is nobody.

    The second argument becomes X-Keepsake-User. The client turns exceptions into answers, as a server does.
    """

    def client(caller=None, acts_for=None):
        made = APIClient(raise_request_exception=False)
        headers = {}
        if isinstance(caller, User):
            made.force_login(caller)
        elif caller is not None:
            credential = caller if isinstance(caller, str) else caller.credential
            headers["HTTP_AUTHORIZATION"] = f"Bearer {credential}"
        if acts_for is not None:
            headers["HTTP_X_KEEPSAKE_USER"] = acts_for.encode().decode("latin-1")  # As WSGI servers hand it on.
        made.credentials(**headers)
        return made

    return client


def chromium_program():
    """Where Chromium is on this machine, or None."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    return next(filter(None, found), None)


@pytest.fixture(scope="module")
def chromium():
    """A running headless Chromium, for tests marked ``browser``. It ends with its module: one may run at a time."""
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright runs an event loop in this thread, which makes Django refuse the database to it.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=chromium_program(), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def tab(chromium, live_server):
    """A fresh tab on the live server; ``tab.faults`` collects what its console and its network complain about.

    ``tab.sign_in(person)`` gives it that person's session. Addresses are relative to the server.
    """

    def sign_in(person):
        client = Client()
        client.force_login(person)
        session = client.cookies[settings.SESSION_COOKIE_NAME]
        context.add_cookies([{"name": session.key, "value": session.value, "url": live_server.url}])

    context = chromium.new_context(base_url=live_server.url)
    page = context.new_page()
    page.sign_in = sign_in
    page.faults = []
    page.on("console", lambda message: message.type == "error" and page.faults.append(message.text))
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on(
        "request", lambda each: each.url.startswith((live_server.url, "data:", "blob:")) or page.faults.append(each.url)
    )
    yield page
    context.close()


@pytest.fixture
def nothing_shown_yet():
    """What earlier tests have shown and nobody noted is forgotten; the database they ran in is as well."""
    valkey().delete("memories:shown")

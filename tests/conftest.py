import gc
import itertools
import logging
import os
import secrets
import shutil
import string
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache, partial, wraps
from threading import Barrier

import hypothesis
import psycopg
import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, user_logged_in
from django.contrib.sessions.backends.db import SessionStore
from django.db import connection, connections, transaction
from django.http import HttpRequest
from django.test import Client, TransactionTestCase, override_settings
from django.utils.crypto import get_random_string
from hypothesis.internal.conjecture import providers
from playwright.sync_api import expect, sync_playwright
from structlog.contextvars import clear_contextvars

from accounts.models import User
from accounts.queries import principal_for_person
from accounts.scope import _acting
from journal.actions import LedgerWrite
from journal.cache import valkey
from language.backends import get_embedder
from language.base import EmbedderUnavailable
from language.embedders.e5 import embedder as e5
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.hashing import HashingEmbedder
from language.embedders.remote import RemoteEmbedder
from language.entailment import model as entailment
from language.reading import parse as parsing
from tests import factories
from tests.emptying import empty_tables
from tests.every_call import rows  # noqa: F401 - a fixture
from tests.openapi import CheckedClient, contract

# The same examples in each run, however slow the machine is, so that fewer tell as much; --hypothesis-profile=default
# draws new ones.
hypothesis.settings.register_profile("same", hypothesis.settings.get_profile("ci"), max_examples=50)
hypothesis.settings.load_profile("same")
# Else some are drawn from the constants of all modules that are loaded by then: other ones in each process, and reading
# the modules takes seconds.
providers._get_local_constants = lambda: providers._local_constants
# What a page is expected to show may take a while on a machine that does other things as well.
expect.set_options(timeout=20_000)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment, django_db_blocker):
    """Make the test database as in production: the owner creates and migrates it, the application role uses it.

    Parallel workers migrate one database together and copy it, which takes a fraction of a second.
    """
    # From the environment, since the fixtures of xdist are not there under -p no:xdist.
    worker_id = os.environ.get("PYTEST_XDIST_WORKER", "master")
    owner, application = connections["owner"], connections["default"]
    real_name = owner.settings_dict["NAME"]
    with django_db_blocker.unblock():
        if worker_id == "master":
            make_test_database(owner)
        else:
            owner.settings_dict["TEST"]["NAME"] = template = (
                f"test_{real_name}_{os.environ['PYTEST_XDIST_TESTRUNUID'][:8]}"
            )
            with one_at_a_time(owner, template) as cursor:
                cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [template])
                if not cursor.fetchone():
                    make_test_database(owner)
                owner.settings_dict["NAME"] = template
                owner.creation.clone_test_db(worker_id, verbosity=0)
            owner.creation.setup_worker_connection(worker_id)
        application.creation.set_as_test_mirror(owner.settings_dict)
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
        if worker_id != "master":
            with one_at_a_time(owner, template) as cursor:
                cursor.execute(f'DROP DATABASE IF EXISTS "{template}"')


def make_test_database(owner):
    """Create and migrate the database that the owner's settings name for tests; none is left when that fails."""
    real_name = owner.settings_dict["NAME"]
    try:
        owner.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    except BaseException:
        owner.creation.destroy_test_db(real_name, verbosity=0)
        raise


@contextmanager
def one_at_a_time(owner, name):
    """A cursor outside the test databases, for one worker at a time."""
    with owner.creation._nodb_cursor() as cursor:
        cursor.execute("SET lock_timeout = 0")  # Migrating takes longer than a migration may wait.
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])
        yield cursor


SLOW_KINDS = ("browser", "corpus")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow what is slow by its kind, before ``-m "not slow"`` chooses."""
    chromium = chromium_program()
    for item in items:
        if any(item.get_closest_marker(kind) for kind in SLOW_KINDS):
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("browser") and not chromium:
            item.add_marker(pytest.mark.skip(reason="needs Chromium: install the package chromium"))


def pytest_collection_finish(session):
    """Let the garbage collector pass over what stays to the end: the modules and thousands of tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _fast_settings(django_test_environment):
    """Hash passwords fast, and serve static files without the manifest that only collectstatic makes.

    No reply stays open for what a worker may learn from it: in most tests there is none.
    """
    storages = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    hashers = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    fast = {"PASSWORD_HASHERS": hashers, "WHITENOISE_AUTOREFRESH": True, "REPLY_UPDATE_SECONDS": 0}
    with override_settings(STORAGES=storages, **fast):
        yield


def in_one_session(force_login):
    """Let ``force_login`` make the session once: Django's writes an empty one, a second one and then what is in it.

    Nor does it ask whether another session has the same random key, or write in a savepoint of its own.
    """

    @wraps(force_login)
    def signed_in(client, user, backend=None):
        if backend is not None or settings.SESSION_COOKIE_NAME in client.cookies:
            force_login(client, user, backend)
            return
        user.backend = client._get_backend()
        request = HttpRequest()
        request.session = SessionStore()
        request.session.update(
            {
                SESSION_KEY: user._meta.pk.value_to_string(user),
                BACKEND_SESSION_KEY: user.backend,
                HASH_SESSION_KEY: user.get_session_auth_hash(),
            }
        )
        request.session._session_key = get_random_string(32)
        request.session.create_model_instance(dict(request.session)).save(force_insert=True)
        user_logged_in.send(sender=type(user), request=request, user=user)
        client._set_login_cookies(request)

    return signed_in


@pytest.fixture(scope="session", autouse=True)
def _signing_in_makes_one_session():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Client, "force_login", in_one_session(Client.force_login))
        yield


EMBEDDERS = (HashingEmbedder, BundledEmbedder, RemoteEmbedder)


def must_hold_no_lock(embed):
    """Let a network refuse to work inside a transaction, where others may wait for the rows that it has locked."""

    @wraps(embed)
    def outside_transactions(*args):
        # A test has transactions of its own around it; Django marks those.
        if any(not block._from_testcase for block in connection.atomic_blocks):
            raise AssertionError("A network is called inside a transaction: ask it before the ledger is locked.")
        return embed(*args)

    return outside_transactions


@pytest.fixture(scope="session", autouse=True)
def _tables_are_emptied_by_deleting():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_tables)
        yield


@pytest.fixture(scope="session", autouse=True)
def _lines_are_logged_for_pytest_alone(django_test_environment):
    """It keeps them for its reports and for ``caplog``; laying each out for a terminal too takes as long as a query."""
    root = logging.getLogger()
    for handler in [each for each in root.handlers if type(each) is logging.StreamHandler]:
        root.removeHandler(handler)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    """A test that passed sends no captured lines to the process that reports."""
    report = yield
    if report.passed:
        report.sections.clear()
    return report


@pytest.fixture(scope="session", autouse=True)
def _statements_are_split_once():
    """psycopg keeps where the parameters of 128 statements stand; the tests send some thousand different ones."""
    kept = lru_cache(5_000)(psycopg._queries._query2pg_client_nocache)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg._queries, "_query2pg_client", kept)
        yield


@pytest.fixture(scope="session", autouse=True)
def _texts_are_embedded_once():
    """By however many embedders, as pairs are compared: weights take seconds to be read, a text ten queries."""

    def once(read):
        @cache
        @wraps(read)
        def read_once():
            tokenizer, network = read()
            network.read = told_once(network.read)
            return tokenizer, network

        return read_once

    with pytest.MonkeyPatch.context() as patch:
        for module in (e5, entailment):
            patch.setattr(module, "_read", once(module._read))
        yield


def told_once(read):
    """Let a network answer anew only what it has not been asked lately."""
    known = {}

    @wraps(read)
    def remembered(tokens):
        asked = tuple(tokens)
        if asked not in known:
            if len(known) > 10_000:
                known.clear()
            known[asked] = read(tokens)
            for told in known[asked]:
                told.flags.writeable = False
        return known[asked]

    return remembered


@pytest.fixture(scope="session", autouse=True)
def _texts_are_parsed_once():
    """Tests say the same sentences many times over, whose parse depends on nothing else."""
    known, read, read_together = {}, parsing._parse_one, parsing._parse_batch

    def kept(text, parsed, *, names):
        if len(known) > 5_000:
            known.clear()
        known[text, names] = parsed
        return parsed

    @wraps(read)
    def read_once(pipeline, text, *, names):
        return known.get((text, names)) or kept(text, read(pipeline, text, names=names), names=names)

    @wraps(read_together)
    def read_together_once(texts, *, names):
        found = {text: known.get((text, names)) for text in texts}
        new = [text for text, parsed in found.items() if parsed is None]
        keep = partial(kept, names=names)
        found.update(zip(new, map(keep, new, read_together(new, names=names)), strict=True))
        return [found[text] for text in texts]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parsing, "_parse_one", read_once)
        patch.setattr(parsing, "_parse_batch", read_together_once)
        yield


@pytest.fixture
def texts_are_parsed_each_time(monkeypatch):
    """For tests of the parse itself, and of how long reading takes."""
    for name in ("_parse_one", "_parse_batch"):
        monkeypatch.setattr(parsing, name, getattr(parsing, name).__wrapped__)
    monkeypatch.setattr(parsing, "LONGEST_KEPT", -1)
    monkeypatch.setattr(parsing, "_recent", OrderedDict())


@pytest.fixture(scope="session", autouse=True)
def _no_network_inside_a_transaction():
    """No test may have a network called while a ledger is locked, or inside any other open transaction."""
    with pytest.MonkeyPatch.context() as patch:
        for embedder in EMBEDDERS:
            for name in ("embed_passages", "embed_query"):
                patch.setattr(embedder, name, must_hold_no_lock(getattr(embedder, name)))
        model = entailment.EntailmentModel
        for name in ("read_pairs", "judge_pairs"):
            patch.setattr(model, name, must_hold_no_lock(getattr(model, name)))
        yield


def must_act_for_an_owner(open_write):
    """Let the log of changes refuse a job that writes for somebody whose scope nobody has entered."""

    @wraps(open_write)
    def entered(self, actor, ledgers, **more):
        acting = _acting.get()
        if actor.kind == "job" and ledgers and (acting is None or acting.user_id not in ledgers):
            raise AssertionError(f"{actor.id} writes outside of acting_as: nobody's scope is entered.")
        open_write(self, actor, ledgers, **more)

    return entered


@pytest.fixture(scope="session", autouse=True)
def _no_job_outside_a_scope():
    """No task and no command may change what is somebody's before it acts for them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LedgerWrite, "__init__", must_act_for_an_owner(LedgerWrite.__init__))
        yield


@pytest.fixture(autouse=True)
def _nobody_is_acted_for():
    """A test leaves the scope that it entered, as requests and commands do with their end."""
    token = _acting.set(None)
    yield
    _acting.reset(token)
    clear_contextvars()


@pytest.fixture(scope="session", autouse=True)
def _no_minute_ends():
    """What searches know for a minute they know for all tests: else a count of queries would hang on the clock."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("assistant.recall.search.CENTRE_SECONDS", 10**9)
        yield


@pytest.fixture(scope="session", autouse=True)
def _ids_of_one_length():
    """Eight digits are always three tokens, letters are two to eight: else a line's cost would hang on its id.

    Of digits there are few ids, so that two drawn by chance would now and then be the same. The step has no factor
    in common with their number: each comes once.
    """
    numbers, step = itertools.count(secrets.randbelow(10**8)), 61_803_399
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("memories.models.memory._ALPHABET", string.digits)
        patch.setattr("memories.models.memory._draw", lambda most: next(numbers) * step % most)
        yield


@pytest.fixture
def owner(db):
    """A person, who owns ``legacy``."""
    return factories.UserFactory(username="owner", display_name="Olga Owner")


@pytest.fixture
def me(owner):
    """The principal of ``owner``, signed in."""
    return principal_for_person(owner.pk)


@pytest.fixture
def moderator(db):
    """A person of staff who is no superuser."""
    return factories.UserFactory(username="moderator", is_staff=True)


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
def bot(agent):
    """The principal of ``agent``, with read and write, for its owner."""
    return factories.agent_principal(agent)


@pytest.fixture
def cautious(bot):
    """The same while the owner reviews before use."""
    return replace(bot, review="before")


@pytest.fixture
def other_agent(stranger):
    """A personal agent of ``stranger``, for read and write."""
    return with_key(factories.AgentFactory(name="other agent", owner=stranger))


@pytest.fixture
def service(db):
    """A service agent with every scope: ``api(service, "42")`` acts for the person its issuer calls 42."""
    made = factories.AgentFactory(name="service", service=True, issuer="backend")
    return with_key(made, ["read", "write", "admin"])


@pytest.fixture(scope="module")
def server():
    """A server with the Messages API, whose answers a test scripts (``tests.language.messages_api``)."""
    from tests.language.messages_api import serving

    with serving() as api:
        yield api


class AwayEmbedder:
    """An embedder that is unavailable, to put in the place of ``get_embedder``."""

    name, dimensions = "hashing:384", 384

    def embed_passages(self, texts):
        raise EmbedderUnavailable("away")

    embed_query = embed_passages


@pytest.fixture
def away(monkeypatch):
    """``away()`` makes the embedder of statements unavailable until ``away.back()``."""

    def put(made):
        for module in ("statements.wording", "statements.actions.upkeep"):
            monkeypatch.setattr(f"{module}.get_embedder", made)

    def take():
        put(AwayEmbedder)

    take.back = lambda: put(get_embedder)
    return take


def with_key(agent, scopes=("read", "write")):
    """Give an agent a key; the credential is kept on the object."""
    agent.credential = factories.AgentKeyFactory(agent=agent, scopes=list(scopes)).credential
    return agent


def collected(parts):
    """What an asynchronous stream sends until it ends."""

    async def collect():
        return [part async for part in parts]

    return async_to_sync(collect)()


@contextmanager
def taken_back():
    """What is written in this context is taken back at its end, so that many callers can try one thing on one row."""
    of_the_test = transaction.atomic()
    of_the_test._from_testcase = True  # As Django marks those around each test.
    with of_the_test:
        yield
        transaction.set_rollback(True)


def wait_until_somebody_waits():
    """Return once a connection waits for a lock that another holds."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)"
                " WHERE NOT granted AND datname = current_database()"
            )
            if cursor.fetchone()[0]:
                return
    raise AssertionError("nobody waited for the lock")


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

    The second argument becomes X-Keepsake-User. The client turns exceptions into answers, as a server does, and holds
    each answer against the schema.
    """
    contract()  # Made before anything is timed.

    def client(caller=None, acts_for=None):
        made = CheckedClient(raise_request_exception=False)
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
def session_cookie():
    """``session_cookie(person, url)`` is what a browser context holds once that person has signed in there."""

    def session_cookie(person, url):
        client = Client()
        client.force_login(person)
        session = client.cookies[settings.SESSION_COOKIE_NAME]
        return {"name": session.key, "value": session.value, "url": url}

    return session_cookie


@pytest.fixture
def tab(chromium, live_server, session_cookie):
    """A fresh tab on the live server; ``tab.faults`` collects what its console and its network complain about.

    ``tab.sign_in(person)`` gives it that person's session. Addresses are relative to the server.
    """

    context = chromium.new_context(base_url=live_server.url)
    page = context.new_page()
    page.sign_in = lambda person: context.add_cookies([session_cookie(person, live_server.url)])
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

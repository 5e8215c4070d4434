"""What is kept in Valkey: under which revision, for how long, and what happens without it."""

import os
import re
import shutil
import signal
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import mkdtemp
from threading import Event, Thread

import pytest
from django.core.cache import cache
from django.db import connection, connections, transaction
from django.utils import timezone

from accounts import categories
from accounts.actions import preferences_set, principal_for_key
from accounts.queries import principal_for_person, principal_for_staff
from journal.exceptions import NotFound
from memories import block as block_module
from memories.block import Block, memory_block
from memories.cache import CachedValue, Family, read_through
from memories.models import Memory
from memory_project.embedded import EmbeddedServers
from tests import factories
from tests.assistant.processes import wait_for

from .rows import archive, change, remember, reword

pytestmark = pytest.mark.django_db(transaction=True)


def of(person):
    return memory_block(principal_for_person(person.pk))


def client():
    """The cache's own connection to its server."""
    return cache._cache.get_client(None, write=True)


def kept(person):
    """The keys of a person, and the seconds that each is still kept."""
    found = client().scan_iter(match=f"*memory:{person.pk}:*", count=10_000)
    return {key.decode().partition(f"{person.pk}:")[2]: client().ttl(key) for key in found}


# --- Warm -----------------------------------------------------------------------------------------------------------


def test_a_warm_block_needs_no_query_and_no_row(owner, monkeypatch, django_assert_num_queries):
    remember(owner, "Likes trains.", "Drinks green tea.")
    cold = of(owner)
    principal = principal_for_person(owner.pk)
    monkeypatch.setattr(Memory, "from_db", None)
    monkeypatch.setattr(block_module, "_read", None)
    with django_assert_num_queries(0):
        assert memory_block(principal) == cold
    assert cold.ids


def test_a_cold_block_takes_two_queries_however_long_it_is(owner, django_assert_num_queries):
    for _ in range(3):
        remember(owner, *(f"Statement number {number}." for number in range(20)))
        principal = principal_for_person(owner.pk)
        with django_assert_num_queries(2):
            memory_block(principal)


@pytest.mark.parametrize("write", ["add", "reword", "archive", "amend", "preference"])
def test_every_write_is_seen_at_once(owner, write):
    (memory,) = remember(owner, "Likes trains.")
    before = of(owner)
    {
        "add": lambda: remember(owner, "Drinks green tea."),
        "reword": lambda: reword(memory, "Likes boats."),
        "archive": lambda: archive(memory),
        "amend": lambda: change(memory, subject="Alec"),
        "preference": lambda: preferences_set(principal_for_person(owner.pk), has_memory=False),
    }[write]()
    assert of(owner).text != before.text


def test_what_depends_on_the_viewer_is_kept_apart(owner, agent):
    grant = factories.GrantFactory(user=owner, agent=agent)
    principal = principal_for_person(owner.pk)
    seen_by = principal_for_key(*agent.credential.removeprefix("ks_").split("."))
    assert seen_by.rev == principal.rev
    for family in (Family.LIST, Family.TOPICS, Family.PAGE, Family.CONTEXT):
        assert read_through(principal, family, lambda: CachedValue("mine"), of=[1]) == "mine"
        assert read_through(seen_by, family, lambda: CachedValue("the agent's"), of=[1]) == "the agent's"
        assert read_through(principal, family, lambda: CachedValue("other"), of=[2]) == "other"
        assert read_through(principal, family, lambda: CachedValue("again"), of=[1]) == "mine"
    assert grant.agent_id == seen_by.agent_id


def test_other_categories_are_another_key(owner, settings, tmp_path):
    remember(owner, "Likes trains.")
    of(owner)
    text = Path(categories.__file__).with_suffix(".yaml").read_text(encoding="utf-8")
    own = tmp_path / "categories.yaml"
    own.write_text(text.replace("{name: profile, context: all}", "{name: profile, context: rag}"), encoding="utf-8")
    before = categories.load().digest
    settings.KEEPSAKE_CATEGORIES = str(own)
    categories.load.cache_clear()
    try:
        assert categories.load().digest != before
        of(owner)
    finally:
        categories.load.cache_clear()
    assert len(kept(owner)) == 2


def test_nothing_is_kept_of_what_a_transaction_took_back(owner):
    (memory,) = remember(owner, "Likes trains.")
    with transaction.atomic():
        reword(memory, "Likes boats.")
        assert "boats" in of(owner).text
        transaction.set_rollback(True)
    reword(Memory.objects.get(pk=memory.pk), "Likes planes.")
    assert "planes" in of(owner).text


def test_who_acts_for_nobody_has_nothing_kept(staff):
    with pytest.raises(NotFound):
        read_through(principal_for_staff(staff), Family.LIST, lambda: CachedValue([]))


# --- How long -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("family", "seconds"), [("list", 600), ("topics", 600), ("page", 300), ("context", 600)])
def test_each_is_kept_for_its_time(owner, family, seconds):
    read_through(principal_for_person(owner.pk), Family(family), lambda: CachedValue([]))
    ((key, left),) = kept(owner).items()
    assert re.fullmatch(f"0:{family}:[0-9a-f]{{32}}", key)
    assert seconds - 5 <= left <= seconds


@pytest.mark.parametrize("column", ["expires_at", "valid_to", "valid_from"])
def test_never_longer_than_the_next_change_that_comes_by_itself(owner, column):
    now = timezone.now()
    contents = [{"content": f"Says number {hours}.", column: now + timedelta(hours=hours)} for hours in (1, 2)]
    remember(owner, "Likes trains.", *contents, {"content": "Is over.", "valid_to": now - timedelta(1)})
    of(owner)
    assert set(kept(owner).values()) <= set(range(595, 601))
    remember(owner, {"content": "Says it soon.", column: timezone.now() + timedelta(seconds=40)})
    of(owner)
    assert min(kept(owner).values()) <= 40


def test_a_block_is_right_to_the_moment_at_which_something_expires(owner):
    end = timezone.now() + timedelta(seconds=2.5)
    remember(owner, "Likes trains.", {"content": "Waits for a parcel.", "expires_at": end})
    assert "parcel" in of(owner).text
    assert 1 <= next(iter(kept(owner).values())) <= 2

    def read():
        begun = timezone.now()
        there = "parcel" in of(owner).text
        assert there is False or begun < end
        return begun > end and not there

    wait_for(read, lambda: "it never expired")


def test_what_is_right_for_less_than_a_second_is_not_kept(owner):
    remember(owner, {"content": "Waits for a parcel.", "expires_at": timezone.now() + timedelta(seconds=0.9)})
    of(owner)
    assert kept(owner) == {}


# --- The race -------------------------------------------------------------------------------------------------------


class DeletedOnWrite:
    """A cache as it is often built: one entry a person, deleted after every write."""

    @staticmethod
    def read(person, read):
        found = cache.get(f"race:{person.pk}")
        if found is None:
            found = read()
            cache.set(f"race:{person.pk}", found, 60)
        return found

    @staticmethod
    def wrote(person):
        cache.delete(f"race:{person.pk}")


class KeyedByRevision:
    """Ours."""

    @staticmethod
    def read(person, read):
        return read_through(principal_for_person(person.pk), Family.LIST, lambda: CachedValue(read()))

    @staticmethod
    def wrote(person):
        """Nothing is to be done."""


@pytest.mark.parametrize(("kind", "stale"), [(DeletedOnWrite, True), (KeyedByRevision, False)])
def test_a_slow_reader_leaves_an_old_list_only_where_writes_delete(owner, kind, stale):
    """The reader has read its rows when the writer commits, and stores them after the writer is done."""
    remember(owner, "Likes trains.")
    has_read, may_store = Event(), Event()

    def contents():
        return sorted(Memory.objects.filter(user=owner, state="active").values_list("content", flat=True))

    def slowly():
        found = contents()
        has_read.set()
        assert may_store.wait(30)
        return found

    def reader():
        try:
            slow.append(kind.read(owner, slowly))
        finally:
            connections.close_all()

    slow = []
    thread = Thread(target=reader)
    thread.start()
    assert has_read.wait(30)
    remember(owner, "Drinks green tea.")
    kind.wrote(owner)
    may_store.set()
    thread.join(30)

    assert slow == [["Likes trains."]]
    assert kind.read(owner, contents) == (["Likes trains."] if stale else ["Drinks green tea.", "Likes trains."])


def test_the_block_of_a_slow_reader_is_never_given_to_who_comes_later(owner, monkeypatch):
    remember(owner, "Likes trains.")
    has_read, may_store = Event(), Event()
    read_now = block_module._read

    def slowly(principal, rev):
        reading = read_now(principal, rev)
        has_read.set()
        assert may_store.wait(30)
        return reading

    def reader():
        try:
            slow.append(of(owner))
        finally:
            connections.close_all()

    slow = []
    monkeypatch.setattr(block_module, "_read", slowly)
    thread = Thread(target=reader)
    thread.start()
    assert has_read.wait(30)
    remember(owner, "Drinks green tea.")
    monkeypatch.setattr(block_module, "_read", read_now)
    fresh = of(owner)
    may_store.set()
    thread.join(30)
    assert "green tea" not in slow[0].text
    assert "green tea" in fresh.text
    assert of(owner) == fresh
    assert len(kept(owner)) == 2


# --- Without Valkey -------------------------------------------------------------------------------------------------


@pytest.fixture
def own_valkey(settings):
    """A Valkey server of this test's own, which the cache uses."""
    directory = Path(mkdtemp(prefix="keepsake-tests-"))
    directory.chmod(0o711)
    servers = EmbeddedServers(directory, {"DATABASE_URL": os.environ["DATABASE_URL"]}, throw_away=True)
    servers.start()
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": servers.environment["REDIS_URL"]}}
    yield servers.servers[0]
    servers.stop()
    shutil.rmtree(directory)


@contextmanager
def no_queries():
    with connection.execute_wrapper(lambda *_: pytest.fail("a query")):
        yield


@pytest.mark.slow
def test_with_valkey_killed_every_call_answers_from_the_database(api, owner, agent, own_valkey):
    (memory,) = remember(owner, "Likes trains.")
    talk = f"/api/v1/conversations/{factories.ConversationFactory(user=owner).pk}/"
    warm = of(owner)
    principal = principal_for_person(owner.pk)
    with no_queries():
        assert memory_block(principal) == warm

    os.kill(own_valkey.pid, signal.SIGKILL)
    wait_for(lambda: not own_valkey.running(), lambda: "Valkey is still there")
    for _ in range(2):
        assert of(owner) == warm
        assert read_through(principal, Family.LIST, lambda: CachedValue(["read"])) == ["read"]
        for caller in (owner, agent):
            turn = api(caller).post(f"{talk}turn/", {"content": "Hello.", "save": True}, format="json")
            assert (turn.status_code, "Likes trains." in turn.json()["system"][0]["text"]) == (200, True)
            for path in ("", "topics/", "context/", "document/", f"{memory.pk}/", f"{memory.pk}/history/"):
                answer = api(caller).get(f"/api/v1/memories/{path}")
                assert answer.status_code == 200, path
                assert "trains" in answer.content.decode() or path in {"topics/", f"{memory.pk}/history/"}
    reword(memory, "Likes boats.")
    assert "boats" in of(owner).text
    added = api(agent).post("/api/v1/memories/", {"content": "Olga keeps bees.", "category": "context"}, format="json")
    assert added.status_code == 201
    gone = api(owner).delete(f"/api/v1/memories/{added.json()['id']}/")
    assert gone.status_code in {200, 204}
    assert "bees" not in of(owner).text
    archive(memory)
    assert of(owner) == Block("", 0, (), (), principal_for_person(owner.pk).rev)

    own_valkey.start()
    own_valkey.wait_ready()
    remember(owner, "Drinks green tea.")
    again = of(owner)
    principal = principal_for_person(owner.pk)
    with no_queries():
        assert memory_block(principal) == again

"""The cache, and what becomes of it when its server is away."""

import uuid

import pytest
from django.core.cache import cache

from journal.cache import valkey


@pytest.fixture
def away(settings, tmp_path):
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": f"unix://{tmp_path}/gone.sock?db=0"}}


@pytest.fixture
def key():
    return f"test:{uuid.uuid4()}"


def test_what_is_stored_is_there(key):
    assert cache.add(key, 1, 60)
    assert not cache.add(key, 2, 60)
    assert cache.get(key) == 1
    assert cache.set_many({key: 3, key + "b": 4}, 60) == []
    assert cache.get_many([key, key + "b", key + "c"]) == {key: 3, key + "b": 4}
    assert cache.delete(key)
    assert cache.get(key, "nothing") == "nothing"
    cache.delete(key + "b")


def test_one_is_stored_and_another_read_after_it(key):
    assert valkey().set_and_get(key, (1, "two"), 60, key) == (1, "two")
    assert valkey().set_and_get(key, 2, 60, key + "b") is None
    assert cache.get(key) == 2
    assert 0 < valkey()._server.ttl(valkey().make_key(key)) <= 60
    cache.delete(key)


def test_what_calls_the_server_is_made_once(key):
    client = valkey()._cache
    assert client.get_client(key) is client.get_client(key, write=True)
    assert client.get_client().connection_pool is client._get_connection_pool(write=True)


@pytest.mark.usefixtures("away")
def test_a_server_that_is_away_is_an_empty_one(key, caplog):
    caplog.set_level("WARNING")
    cache.set(key, 1, 60)
    assert not cache.add(key, 1, 60)
    assert cache.get(key, "nothing") == "nothing"
    assert cache.get_many([key]) == {}
    assert valkey().set_and_get(key, 1, 60, key) is None
    assert cache.set_many({key: 1}) == []
    assert not cache.delete(key)
    assert "cache_away" in caplog.text


def test_counting_begins_anew_when_its_time_is_over(key):
    cache = valkey()
    assert [cache.increment(key, 60) for _ in range(3)] == [1, 2, 3]
    assert 0 < cache._server.ttl(cache.make_key(key)) <= 60
    cache.delete(key)
    assert cache.increment(key, 60) == 1


def test_what_was_put_by_is_taken_up_once_and_stays_when_work_fails(key):
    cache = valkey()
    assert all(cache.push(key, value) for value in ("one", "two", "three"))

    def fail():
        with cache.consume(key, 2, seconds=60) as values:
            raise ValueError(*values)

    with pytest.raises(ValueError, match="'one', 'two'"):
        fail()
    with cache.consume(key, 2, seconds=60) as values:
        assert values == ["one", "two"]
        with cache.consume(key, 2, seconds=60) as meanwhile:
            assert meanwhile == []
        assert cache.push(key, "four")
    with cache.consume(key, 9, seconds=60) as values:
        assert values == ["three", "four"]
    with cache.consume(key, 9, seconds=60) as values:
        assert values == []


def test_who_takes_too_long_leaves_the_list_to_whoever_has_taken_it_up_since(key):
    cache = valkey()
    assert all(cache.push(key, value) for value in ("one", "two", "three", "four"))
    with cache.consume(key, 2, seconds=60) as slow:
        cache._server.delete(f"{cache.make_key(key)}:taken")  # As when its seconds are over.
        with cache.consume(key, 2, seconds=60) as quick:
            assert slow == quick == ["one", "two"]
    with cache.consume(key, 2, seconds=60) as values:
        assert values == ["three", "four"]


def test_who_takes_too_long_does_not_let_a_third_in(key):
    cache = valkey()
    assert cache.push(key, "one")
    with cache.consume(key, 2, seconds=60):
        cache._server.set(f"{cache.make_key(key)}:taken", "another")
    with cache.consume(key, 2, seconds=60) as values:
        assert values == []
    assert cache._server.lrange(cache.make_key(key), 0, -1) == [b"one"]
    cache._server.delete(cache.make_key(key), f"{cache.make_key(key)}:taken")


@pytest.mark.usefixtures("away")
def test_with_the_server_away_nothing_is_counted_put_by_or_taken_up(key):
    cache = valkey()
    assert cache.increment(key, 60) == 0
    assert not cache.push(key, "one")
    with cache.consume(key, 9, seconds=60) as values:
        assert values == []

"""The cache, and what becomes of it when its server is away."""

import uuid

import pytest
from django.core.cache import cache


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


@pytest.mark.usefixtures("away")
def test_a_server_that_is_away_is_an_empty_one(key, caplog):
    caplog.set_level("WARNING")
    cache.set(key, 1, 60)
    assert not cache.add(key, 1, 60)
    assert cache.get(key, "nothing") == "nothing"
    assert cache.get_many([key]) == {}
    assert cache.set_many({key: 1}) == []
    assert not cache.delete(key)
    assert "cache_away" in caplog.text

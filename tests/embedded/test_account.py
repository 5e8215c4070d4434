import os
import pwd
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from memory_project.embedded import ServerError, account
from memory_project.embedded.account import Account

ME = Account.current()
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts the servers as another user")


def test_an_account_answers_by_trying(tmp_path):
    assert ME.can(["test", "-d", tmp_path])
    assert not ME.can(["test", "-f", tmp_path])
    assert not ME.can([tmp_path / "missing"])


@as_root
def test_roots_servers_run_as_a_system_user_that_private_directories_keep_out(tmp_path):
    servers = Account.for_servers()
    assert servers.uid != 0
    assert pwd.getpwnam(servers.name).pw_shell.endswith("nologin")
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    assert ME.can(["test", "-x", private])
    assert not servers.can(["test", "-x", private])
    data = tmp_path / "data"
    servers.make_directory(data)
    servers.write(data / "note", "text")
    for path in (data, data / "note"):
        assert path.stat().st_uid == servers.uid
    assert data.stat().st_mode & 0o777 == 0o700


def test_private_files_are_written_whole_and_for_one_reader(tmp_path):
    target = tmp_path / "secret"
    (tmp_path / "secret.new").symlink_to(tmp_path / "elsewhere")
    ME.write(target, "first")
    ME.write(target, "second")
    assert target.read_text() == "second"
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [target]


def test_only_an_own_real_directory_is_taken(tmp_path):
    mine = tmp_path / "mine"
    ME.make_directory(mine)
    ME.make_directory(mine)
    (tmp_path / "link").symlink_to(mine)
    with pytest.raises(ServerError, match="belongs to another user"):
        ME.make_directory(tmp_path / "link")
    if os.geteuid() == 0:
        os.chown(mine, 1, 1)
    with pytest.raises(ServerError, match="belongs to another user"):
        ME.make_directory(mine if os.geteuid() == 0 else Path("/"))


def test_a_user_id_without_a_name_is_told_what_to_do(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4242424)
    with pytest.raises(ServerError, match=r"4242424 has no name.*DATABASE_URL"):
        Account.for_servers()


def test_an_ordinary_user_runs_the_servers_itself(monkeypatch):
    someone = pwd.getpwnam("nobody")
    monkeypatch.setattr(os, "geteuid", lambda: someone.pw_uid)
    assert Account.for_servers().name == "nobody"
    assert Account.for_servers().process_options == {}


@pytest.fixture
def unknown_user(monkeypatch):
    """Root on a machine without the system user; what useradd is called with is collected."""
    calls = []
    users = {}

    def getpwnam(name):
        return users[name]

    def run(command, **_):
        calls.append(command)
        users.update(calls_make)
        return SimpleNamespace(returncode=0, stderr="no room\n")

    calls_make = {}
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(pwd, "getpwnam", getpwnam)
    monkeypatch.setattr(subprocess, "run", run)
    return SimpleNamespace(calls=calls, will_make=calls_make)


def test_the_system_user_is_made_without_a_home_or_a_shell(unknown_user, monkeypatch):
    monkeypatch.setattr(account.shutil, "which", lambda *_, **__: "/usr/sbin/useradd")
    unknown_user.will_make["keepsake"] = SimpleNamespace(pw_name="keepsake", pw_uid=990, pw_gid=991)
    assert Account.for_servers() == Account("keepsake", 990, 991)
    [command] = unknown_user.calls
    assert {"--system", "--no-create-home", "/usr/sbin/nologin", "keepsake"} <= set(command)


@pytest.mark.parametrize(("program", "reason"), [("/usr/sbin/useradd", "no room"), (None, "useradd was not found")])
def test_a_system_user_that_can_not_be_made_is_told_with_the_reason(unknown_user, monkeypatch, program, reason):
    monkeypatch.setattr(account.shutil, "which", lambda *_, **__: program)
    with pytest.raises(ServerError, match=rf"could not be created \({reason}\)"):
        Account.for_servers()


def test_a_system_user_with_roots_id_is_refused(unknown_user, monkeypatch):
    monkeypatch.setattr(account.shutil, "which", lambda *_, **__: "/usr/sbin/useradd")
    unknown_user.will_make["keepsake"] = SimpleNamespace(pw_name="keepsake", pw_uid=0, pw_gid=0)
    with pytest.raises(ServerError, match="root's id"):
        Account.for_servers()

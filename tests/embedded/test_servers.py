import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from memory_project.embedded import EmbeddedServers, ServerError, throw_away_servers
from memory_project.embedded.processes import wait_until


def query(servers, statement, url="DATABASE_URL"):
    with psycopg.connect(servers.environment[url], autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else None


def valkey(servers):
    return redis.Redis.from_url(servers.environment["REDIS_URL"], decode_responses=True)


@pytest.mark.slow
def test_the_servers_are_private_and_set_up(servers, var):
    running = servers()
    postgres, cache = running.servers

    for server in running.servers:
        connections = psutil.Process(server.pid).net_connections() if os.geteuid() == 0 else []
        assert not [each for each in connections if each.family != socket.AF_UNIX]
    sockets = Path(postgres.sockets)
    for path in (sockets, postgres.data, cache.data):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
    for path in sockets.iterdir():
        assert not path.stat().st_mode & 0o077
    for path in (var / "secrets.json", var / "log" / "postgres.log"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    rules = (postgres.data / "pg_hba.conf").read_text()
    assert "trust" not in rules
    assert "host" not in rules

    assert query(running, "SELECT current_user, current_database()") == [("keepsake", "keepsake")]
    assert query(running, "SELECT current_user", "DATABASE_OWNER_URL") == [("keepsake_owner",)]
    assert query(running, "SELECT rolname FROM pg_roles WHERE rolsuper AND rolcanlogin") == [("postgres",)]
    installed = {name for (name,) in query(running, "SELECT extname FROM pg_extension")}
    assert {"vector", "pg_trgm", "unaccent", "btree_gist"} <= installed
    assert (
        query(running, "SELECT datlocprovider, datlocale, datcollate, datctype FROM pg_database")
        == [("b", "C.UTF-8", "C", "C.UTF-8")] * 4
    )
    assert valkey(running).config_get("maxmemory-policy") == {"maxmemory-policy": "volatile-lru"}


@pytest.mark.slow
def test_a_wrong_password_or_another_role_gets_nobody_in(servers):
    url = servers().environment["DATABASE_URL"]
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(url, password="wrong")
    with pytest.raises(psycopg.OperationalError, match="password"):
        psycopg.connect(url, user="somebody", password="x")


@pytest.mark.slow
def test_a_second_start_finds_the_data_and_heals_lost_secrets(servers, var):
    first = servers()
    query(first, "CREATE TABLE kept (word text)", "DATABASE_OWNER_URL")
    first.stop()
    assert not Path(first.servers[0].sockets).exists()
    (var / "secrets.json").unlink()
    second = servers()
    assert second.environment["DATABASE_URL"] != first.environment["DATABASE_URL"]
    assert query(second, "SELECT count(*) FROM kept", "DATABASE_OWNER_URL") == [(0,)]


@pytest.mark.slow
def test_a_killed_server_starts_again_on_the_same_socket_with_its_data(var):
    # Not thrown away: what was acknowledged has to survive the kill.
    running = EmbeddedServers(var, {})
    postgres, cache = running.servers
    try:
        running.start()
        query(running, "CREATE TABLE kept (word text)", "DATABASE_OWNER_URL")
        valkey(running).set("queue", "job")
        assert wait_until(lambda: valkey(running).info("persistence")["aof_pending_bio_fsync"] == 0, 5)
        for server in (postgres, cache):
            os.kill(server.pid, signal.SIGKILL)
            assert wait_until(lambda server=server: not server.running(), 5)
            assert not server.answers()
            server.start()
            server.wait_ready()
        assert query(running, "SELECT count(*) FROM kept", "DATABASE_OWNER_URL") == [(0,)]
        assert valkey(running).get("queue") == "job"
    finally:
        running.stop()


@pytest.mark.slow
def test_servers_of_a_killed_start_are_stopped_before_new_ones(servers, var):
    first = servers()
    orphans = [server.pid for server in first.servers]
    second = servers()
    assert not any(server.running() for server in first.servers)
    assert not set(orphans) & {server.pid for server in second.servers}
    assert query(second, "SELECT 1") == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("content", ["{pid}\n{data}\n", "{pid}\n/elsewhere\n1\n5432\n/tmp\n\n  1  1\nready\n", ""])
def test_a_stale_pid_file_stops_no_start_and_the_process_it_names_is_left_alone(servers, content):
    first = servers()
    postgres = first.servers[0]
    first.stop()
    with subprocess.Popen(["sleep", "60"], **postgres.account.process_options) as foreign:
        postgres.account.write(postgres.data / "postmaster.pid", content.format(pid=foreign.pid, data=postgres.data))
        try:
            assert query(servers(), "SELECT 1") == [(1,)]
            assert foreign.poll() is None
        finally:
            foreign.kill()


@pytest.mark.slow
def test_a_half_made_cluster_is_made_anew(servers, var):
    (var / "postgres.new" / "base").mkdir(parents=True)
    assert query(servers(), "SELECT 1") == [(1,)]
    assert not (var / "postgres.new").exists()


@pytest.mark.slow
def test_a_cluster_that_can_not_be_made_says_why(var, monkeypatch):
    embedded = EmbeddedServers(var, {"REDIS_URL": "redis://elsewhere"}, throw_away=True)
    [postgres] = embedded.servers
    (var / "initdb").write_text("#!/bin/sh\necho the disk is full >&2\nexit 1\n")
    (var / "initdb").chmod(0o755)
    postgres.programs = var
    with pytest.raises(ServerError, match=r"could not be created.*\n.*the disk is full"):
        embedded.start()
    embedded.stop()


@pytest.mark.slow
def test_a_server_that_never_answers_is_told_with_the_end_of_its_log(var, monkeypatch):
    embedded = EmbeddedServers(var, {"DATABASE_URL": "postgresql://elsewhere/x"}, throw_away=True)
    [cache] = embedded.servers
    monkeypatch.setattr(cache, "answers", lambda: False)
    cache.start_seconds = 0.5
    try:
        with pytest.raises(ServerError, match=r"Valkey did not start \(no answer after 0 s\)(.|\n)*eady to accept"):
            embedded.start()
    finally:
        embedded.stop()


def test_addresses_in_the_environment_replace_the_servers_each_on_its_own(var):
    database = EmbeddedServers(var, {"DATABASE_URL": "postgresql://me@elsewhere/x"}, throw_away=True)
    assert [server.name for server in database.servers] == ["Valkey"]
    assert database.environment["DATABASE_URL"] == "postgresql://me@elsewhere/x"
    assert "DATABASE_OWNER_URL" not in database.environment
    database.stop()
    cache = EmbeddedServers(var, {"REDIS_URL": "redis://elsewhere"}, throw_away=True)
    assert [server.name for server in cache.servers] == ["PostgreSQL"]
    assert cache.environment["REDIS_URL"] == "redis://elsewhere"
    cache.stop()


def test_with_both_addresses_given_nothing_is_started_or_needed(var):
    given = {
        "DATABASE_URL": "postgresql://me@elsewhere/x",
        "DATABASE_OWNER_URL": "postgresql://owner@elsewhere/x",
        "REDIS_URL": "redis://elsewhere",
        "SECRET_KEY": "given",
        "HOME": "/",
    }
    embedded = EmbeddedServers(var, given)
    embedded.start()
    embedded.stop()
    assert embedded.environment == {name: value for name, value in given.items() if name != "HOME"}


def test_an_owner_without_a_database_is_a_mistake(var):
    with pytest.raises(ServerError, match="DATABASE_OWNER_URL is set but DATABASE_URL is not"):
        EmbeddedServers(var, {"DATABASE_OWNER_URL": "postgresql://owner@elsewhere/x"})


def test_the_generated_secret_key_stays(var):
    given = {"DATABASE_URL": "postgresql://me@elsewhere/x", "REDIS_URL": "redis://elsewhere"}
    first, second = (EmbeddedServers(var, given).environment["SECRET_KEY"] for _ in range(2))
    assert first == second
    assert len(first) >= 50


@pytest.mark.slow
def test_throw_away_servers_leave_nothing_behind():
    with throw_away_servers({"DATABASE_URL": "postgresql://me@elsewhere/x"}) as environment:
        client = redis.Redis.from_url(environment["REDIS_URL"])
        assert client.ping()
        directory = Path(environment["KEEPSAKE_VAR"])
        assert Path(client.config_get("dir")["dir"]) == directory / "valkey"
    assert not directory.exists()
    with pytest.raises(redis.ConnectionError):
        client.ping()


@pytest.mark.slow
@pytest.mark.parametrize("end", ["close", "terminate"])
def test_the_keeper_of_the_test_servers_ends_with_its_reader(end):
    given = {**os.environ, "DATABASE_URL": "postgresql://me@elsewhere/x", "REDIS_URL": ""}
    keeper = subprocess.Popen(
        [sys.executable, "-m", "memory_project.embedded"],
        env=given,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    client = redis.Redis.from_url(json.loads(keeper.stdout.readline())["REDIS_URL"])
    assert client.ping()
    if end == "close":
        keeper.stdin.close()
    else:
        keeper.terminate()
    assert keeper.wait(20) == 0
    with pytest.raises(redis.ConnectionError):
        client.ping()
    keeper.stdout.close()


@pytest.mark.slow
def test_the_keeper_tells_why_it_can_not_start():
    given = {**os.environ, "DATABASE_URL": "", "DATABASE_OWNER_URL": "postgresql://x@y/z"}
    keeper = subprocess.run(
        [sys.executable, "-m", "memory_project.embedded"], env=given, capture_output=True, text=True, check=False
    )
    assert keeper.returncode == 1
    assert "DATABASE_OWNER_URL is set" in keeper.stderr


@pytest.mark.slow
def test_a_command_runs_with_servers_of_its_own_and_its_status_counts():
    given = {**os.environ, "DATABASE_URL": "postgresql://me@elsewhere/x", "REDIS_URL": ""}
    program = "import os, redis; print(redis.Redis.from_url(os.environ['REDIS_URL']).ping()); raise SystemExit(3)"
    done = subprocess.run(
        [sys.executable, "-m", "memory_project.embedded", sys.executable, "-c", program],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "True\n")

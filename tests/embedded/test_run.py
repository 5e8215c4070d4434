import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from memory_project import run as module
from memory_project.embedded import ServerError
from memory_project.embedded.processes import Child, wait_until
from memory_project.run import MARK, main, run
from memory_project.supervisor import Stop

# What is true of the tests' own servers must not reach a copy that starts its own.
OUTSIDE = {
    name: value
    for name, value in os.environ.items()
    if name not in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL", "SECRET_KEY", "DJANGO_SETTINGS_MODULE")
}


@contextmanager
def copy(var, port):
    """Start a copy and yield its process and the lines it says; stop it at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "memory_project.run"],
        cwd=module.BASE,
        env={**OUTSIDE, "KEEPSAKE_VAR": str(var), "PORT": str(port), "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def lines_until(process, wanted):
    said = []
    for line in process.stdout:
        said.append(line.rstrip("\n"))
        if wanted in line:
            return said
    raise AssertionError("\n".join(said))


def get(port, path="/health/ready"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path)
    return connection.getresponse().status


def children_of(var):
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == str(var) or str(var) in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]


def manage(var, *arguments):
    """Run a command as a person would in a second terminal, with nothing in the environment."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=module.BASE,
        env={**OUTSIDE, "KEEPSAKE_VAR": str(var)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_copy_starts_serves_survives_and_stops(var, port):
    with copy(var, port) as process:
        said = lines_until(process, "Keepsake: ")
        assert said[-1] == f"Keepsake: http://127.0.0.1:{port}/"
        assert any("sign-ins" in line for line in said)
        assert get(port) == 200
        assert get(port, "/static/nothing") == 404

        second = manage(var, "create_agent_key", "second terminal", "--user", "somebody", "--quiet")
        assert second.stdout.startswith("ks_"), second.stderr
        # Without BEHIND_PROXY, nobody is believed who says that the request came by https.
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        key = manage(var, "create_agent_key", "links", "--user", "maria", "--quiet").stdout.strip()
        headers = {"Authorization": f"Bearer {key}", "X-Forwarded-Proto": "https"}
        connection.request("GET", "/api/v1/memories/?per_page=1", headers=headers)
        assert json.load(connection.getresponse())["next"].startswith(f"http://127.0.0.1:{port}/")
        again = subprocess.run(
            [sys.executable, "-m", "memory_project.run"],
            cwd=module.BASE,
            env={**OUTSIDE, "KEEPSAKE_VAR": str(var)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert again.returncode == 1
        assert f"running already, as process {process.pid}" in again.stdout

        web = next(each for each in psutil.Process(process.pid).children() if "gunicorn" in " ".join(each.cmdline()))
        web.kill()
        lines_until(process, "The web server ended (killed by SIGKILL); starting it again")
        assert wait_until(lambda: module._is_ready(port), 60)

        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
        assert rest.endswith("Stopping ...\nStopped.\n")
        assert process.returncode == 0
    assert children_of(var) == []
    assert not (var / "environment.json").exists()
    assert "SECRET_KEY" in manage(var, "check").stderr

    with copy(var, port) as process:
        said = lines_until(process, "Keepsake: ")
        assert not any("Collecting static files" in line for line in said)
        servers = children_of(var)
        process.kill()
        process.wait()
        with copy(var, port) as successor:
            lines_until(successor, "Keepsake: ")
            assert get(port) == 200
            assert not [each for each in servers if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
    assert children_of(var) == []


@pytest.mark.parametrize("text", ["http", "0", "65536", "-1", "80.5"])
def test_a_port_that_is_none_is_refused(var, text):
    with pytest.raises(ServerError, match="PORT must be a number"):
        run(var, {"PORT": text})
    assert not var.joinpath("lock").exists()


def test_a_taken_port_is_told_before_anything_starts(var, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ServerError, match=rf"Port {port} can't be used: Address already in use.*PORT="):
            run(var, {"PORT": str(port)})
    assert capsys.readouterr().out == ""
    assert not (var / "postgres").exists()


def test_a_copy_of_another_user_is_told(var, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ServerError, match="belongs to another user"):
        run(var, {})


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [(Stop(), 0, "Stopped.\n"), (ServerError("no luck"), 1, "no luck\n")],
)
def test_main_turns_the_end_into_a_status(monkeypatch, capsys, error, status, said):
    def fail(var, given):
        raise error

    monkeypatch.setattr(module, "raise_stop_on_signals", lambda: None)
    monkeypatch.setattr(module, "run", fail)
    assert main() == status
    assert capsys.readouterr().out == said


@pytest.mark.slow
def test_a_failing_setup_command_is_told_with_the_end_of_its_log(var):
    (var / "log").mkdir()
    with pytest.raises(ServerError, match=r"manage.py no_such_command failed(.|\n)*Unknown command"):
        module._manage(["no_such_command"], os.environ, var)


GIVEN = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "PATH")}


def test_a_web_server_that_never_gets_ready_ends_the_start_and_stops_all(var, port, monkeypatch, capsys):
    """With addresses given no server is started, and what is theirs is left alone."""
    asked = []
    sleepers = tuple(
        Child(name, ["sleep", "60"], log=var / name, environment=os.environ) for name in ("web", "worker", "clock")
    )

    def manage(arguments, environment, var):
        asked.append(" ".join(arguments[:2]))
        return ""

    monkeypatch.setattr(module, "_manage", manage)
    monkeypatch.setattr(module, "_children", lambda environment, var: sleepers)
    monkeypatch.setattr(module, "_READY_SECONDS", 0.2)
    with pytest.raises(ServerError, match="not ready after 0 s"):
        run(var, {**GIVEN, "PORT": str(port)})
    assert asked == ["migrate --database", "collectstatic --noinput", "seed_demo --if-loaded"]
    assert not any(child.running() for child in sleepers)
    assert not (var / "postgres").exists()
    assert not (var / "environment.json").exists()


def test_static_files_are_collected_only_when_they_changed(var, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(module, "_manage", lambda arguments, environment, var: asked.append(arguments))
    monkeypatch.setattr(module, "BASE", tmp_path)
    (tmp_path / "requirements.txt").write_text("lock")
    style = tmp_path / "static" / "style.css"
    style.parent.mkdir()
    style.write_text("a")
    (var / "static").mkdir()
    for expected in (1, 1):
        module._collect_static({}, var)
        assert len(asked) == expected
    os.utime(style, (0, 0))
    module._collect_static({}, var)
    assert len(asked) == 2
    (var / "static").rmdir()
    module._collect_static({}, var)
    assert len(asked) == 3

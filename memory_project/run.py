"""``make run``: everything that Keepsake needs on one machine, as child processes of this one.

It starts the embedded servers, migrates, collects static files, then starts the web server, the worker and beat, and
loads the demo. A child that dies is restarted; Ctrl-C stops them all.
"""

from __future__ import annotations

import fcntl
import hashlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .embedded import EmbeddedServers, ServerError
from .embedded.processes import Child, stop_leftovers, tail
from .running_copy import publish, withdraw
from .supervisor import Stop, Supervisor, raise_stop_on_signals, say

BASE = Path(__file__).resolve().parent.parent
# The environment variable that names the copy of a child process, so that a later start finds its leftovers.
MARK = "KEEPSAKE_CHILD_OF"
_READY_SECONDS = 60.0


def main() -> int:
    """Run until asked to stop; return the exit status."""
    raise_stop_on_signals()
    status = 0
    try:
        run(Path(os.environ.get("KEEPSAKE_VAR") or BASE / "var").resolve(), os.environ)
    except Stop:
        say("Stopped.")
    except ServerError as error:
        say(str(error))
        status = 1
    return status


def run(var: Path, given: Mapping[str, str]) -> None:
    """Run one copy with its data in ``var`` until Stop is raised. ``given`` is the environment.

    Raises ServerError when the copy is running already, the port is taken, or something can't be started.
    """
    began = time.monotonic()
    port = _port(given)
    with ExitStack() as stack:
        stack.enter_context(_locked(var))
        stop_leftovers(lambda process: process.pid != os.getpid() and process.environ().get(MARK) == str(var))
        _check_free(port)
        (var / "log").mkdir(mode=0o700, exist_ok=True)
        servers = EmbeddedServers(var, given)
        stack.callback(servers.stop)
        if servers.servers:
            with _step(f"Starting {' and '.join(server.name for server in servers.servers)}"):
                servers.start()
        publish(var, servers.environment)
        stack.callback(withdraw, var)
        environment = {
            **given,
            **servers.environment,
            "PORT": str(port),
            "KEEPSAKE_VAR": str(var),
            MARK: str(var),
            # Cookies ignore the port: with one name, two copies would sign each other's users out.
            "SESSION_COOKIE_NAME": given.get("SESSION_COOKIE_NAME") or f"keepsake_{port}",
        }
        with _step("Preparing the database"):
            _manage(["migrate", "--database", "owner", "--noinput"], environment, var)
        _collect_static(environment, var)
        web, worker, clock = _children(environment, var)
        supervisor = Supervisor(servers.servers)
        stack.callback(supervisor.stop)
        stack.callback(say, "\nStopping ...")
        supervisor.start(web)
        supervisor.start(worker)
        with _step("Loading the demo, if there is nothing yet"):
            # The demo's passwords are public, so it is never loaded into an operator's own database.
            demo = "--if-loaded" if given.get("DATABASE_URL") else "--if-empty"
            sign_ins = _manage(["seed_demo", demo], environment, var)
        with _step("Waiting for the web server"):
            if not supervisor.watch(lambda: _is_ready(port), _READY_SECONDS):
                log = var / "log" / "web.log"
                msg = f"The web server is not ready after {_READY_SECONDS:.0f} s. The end of {log}:\n{tail(log)}"
                raise ServerError(msg)
        supervisor.start(clock)
        say(f"Ready after {time.monotonic() - began:.1f} s. Logs are in {var / 'log'}; Ctrl-C stops everything.\n")
        say(f"{sign_ins.strip()}\n\nKeepsake: http://127.0.0.1:{port}/")
        supervisor.watch()


def _port(given: Mapping[str, str]) -> int:
    text = given.get("PORT") or "8000"
    if not text.isdecimal() or not 0 < int(text) < 65536:
        msg = f"PORT must be a number from 1 to 65535, not {text!r}."
        raise ServerError(msg)
    return int(text)


@contextmanager
def _locked(var: Path) -> Iterator[None]:
    """Hold the lock of this copy. The kernel releases it when this process ends, however it ends."""
    try:
        var.mkdir(mode=0o711, parents=True, exist_ok=True)
        file = (var / "lock").open("a+", encoding="utf-8")
    except PermissionError as error:
        msg = f"{error.filename} belongs to another user. Start this copy as that user, or remove {var}."
        raise ServerError(msg) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            msg = f"This copy is running already, as process {file.read().strip()}. Stop that one first."
            raise ServerError(msg) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            msg = f"Port {port} can't be used: {error.strerror}. Choose another one: make run PORT={port % 1000 + 8001}"
            raise ServerError(msg) from error


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Print a step and its duration."""
    began = time.monotonic()
    say(f"{what} ... ", end="")
    try:
        yield
    except BaseException:
        say("")
        raise
    say(f"{time.monotonic() - began:.1f} s")


def _manage(arguments: list[str], environment: Mapping[str, str], var: Path) -> str:
    """Run a management command and return what it printed. Raises ServerError when it fails."""
    log = var / "log" / "setup.log"
    with log.open("ab") as file:
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=BASE, env=environment, stdout=subprocess.PIPE, stderr=file, check=False)
        file.write(done.stdout)
    if done.returncode != 0:
        msg = f"manage.py {' '.join(arguments)} failed. The end of {log}:\n{tail(log)}"
        raise ServerError(msg)
    return done.stdout.decode("utf-8", errors="replace")


def _collect_static(environment: Mapping[str, str], var: Path) -> None:
    """Collect the static files if they or the installed packages changed since the last time."""
    found = hashlib.sha256((BASE / "requirements.txt").read_bytes())
    rooms = [path.parent for path in BASE.glob("*/apps.py")]
    for path in sorted(file for folder in (BASE, *rooms) for file in (folder / "static").rglob("*")):
        found.update(f"{path.relative_to(BASE)} {path.stat().st_mtime_ns}\n".encode())
    stamp = var / "static.sha256"
    if (var / "static").exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == found.hexdigest():
        return
    with _step("Collecting static files"):
        _manage(["collectstatic", "--noinput", "--verbosity", "0"], environment, var)
    stamp.write_text(found.hexdigest(), encoding="utf-8")


def _children(environment: Mapping[str, str], var: Path) -> tuple[Child, Child, Child]:
    """Return the web server, the worker and beat."""
    logs = var / "log"
    python = [sys.executable, "-m"]
    celery = [*python, "celery", "--app", "memory_project"]
    worker = [*celery, "worker", "--loglevel", "INFO", "--concurrency", "2", "--without-gossip", "--without-mingle"]
    return (
        Child(
            "The web server",
            [*python, "gunicorn", "--config", "memory_project/gunicorn_conf.py", "memory_project.asgi:application"],
            log=logs / "web.log",
            environment=environment,
            directory=BASE,
        ),
        Child(
            "The worker",
            worker,
            log=logs / "worker.log",
            environment=environment,
            directory=BASE,
            stop_signals=((signal.SIGTERM, 10.0), (signal.SIGQUIT, 3.0)),
            orphan_signal=signal.SIGQUIT,
        ),
        Child(
            "The worker's clock",
            [*celery, "beat", "--loglevel", "INFO", "--schedule", str(var / "beat-schedule"), "--pidfile", ""],
            log=logs / "beat.log",
            environment=environment,
            directory=BASE,
        ),
    )


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(main())

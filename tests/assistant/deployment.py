"""A whole Keepsake of its own, so that its servers can be killed: PostgreSQL, Valkey, gunicorn and a Celery worker."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

import psycopg

from memory_project.embedded.account import Account
from memory_project.embedded.places import temporary_directory
from memory_project.embedded.processes import Child, wait_until
from memory_project.embedded.servers import EmbeddedServers

ROOT = Path(__file__).resolve().parents[2]


class Deployment:
    """The running parts, and ways to use them. ``postgres`` and ``valkey`` can be stopped, killed and started.

    A ``durable`` one waits for the disk as in production. The servers' data lies in ``data``, if
    that is given, rather than in ``directory``. What is given by name is added to the environment.
    """

    def __init__(self, directory: Path, *, durable: bool = False, data: Path | None = None, **environment: str) -> None:
        self._servers = EmbeddedServers(data or directory, {}, throw_away=not durable)
        self.postgres, self.valkey = self._servers.servers
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_", "REDIS_"))},
            **self._servers.environment,
            "KEEPSAKE_EMBEDDER": "hashing",
            "KEEPSAKE_MODEL": "offline",
            "API_RATE": "100000/min",
            "WEB_CONCURRENCY": "1",
            **environment,
        }
        self.key = ""
        self._socket = directory / "web.sock"
        self._web_log = directory / "web.log"
        self.web = self._program(
            "the web server",
            *("gunicorn", "memory_project.asgi", "-c", "memory_project/gunicorn_conf.py"),
            *("--bind", f"unix:{self._socket}"),
            log=self._web_log,
        )
        self.worker = self._program(
            "the worker", "celery", "-A", "memory_project", "worker", "--pool=solo", log=directory / "worker.log"
        )

    def _program(self, name: str, *arguments: str, log: Path) -> Child:
        command = [sys.executable, "-m", *arguments]
        return Child(name, command, log=log, environment=self.environment, directory=ROOT)

    def start(self) -> None:
        """Start everything, and make a person with an agent's key."""
        self.start_servers()
        self.migrate()
        self.start_web()
        self.worker.start()

    def start_servers(self) -> None:
        """Start PostgreSQL and Valkey alone."""
        self._servers.start()

    def migrate(self) -> None:
        """Bring the database to this checkout's state, however much is in it."""
        self._run("manage.py", "migrate", "--database=owner", "--verbosity=0", seconds=None)

    def start_web(self) -> None:
        """Start the web server, and make a person with an agent's key."""
        self.key = self.manage("create_agent_key", "writer", "--user=olga", "--scopes=read,write,admin", "--quiet")
        self.web.start()
        assert wait_until(self.is_ready, 60), self._web_log.read_text()

    def is_ready(self) -> bool:
        """Whether the web server says so."""
        try:
            return self.client().get("/health/ready").status == 200
        except OSError:  # It does not listen yet.
            return False

    def stop(self) -> None:
        """Stop everything."""
        self.web.stop()
        self.worker.stop()
        self._servers.stop()

    def manage(self, *arguments: str) -> str:
        """Run a management command and return what it printed."""
        return self._run("manage.py", *arguments)

    def send_task(self, name: str) -> None:
        """Send a task to the worker, as the clock does."""
        self._run("-m", "celery", "-A", "memory_project", "call", name)

    def _run(self, *arguments: str, seconds: float | None = 60) -> str:
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def rows(self, sql: Any) -> list[Any]:
        """What a query returns, over a connection of its own: the server may have been away since the last."""
        with psycopg.connect(self.environment["DATABASE_OWNER_URL"]) as connection:
            return connection.execute(sql).fetchall()

    def let_leases_expire(self) -> None:
        """Make it as late as it has to be for the sweep: past workers' leases and waits after errors."""
        with psycopg.connect(self.environment["DATABASE_OWNER_URL"]) as connection:
            connection.execute("UPDATE conversations_message SET index_not_before = now() WHERE embedding IS NULL")
            connection.execute("UPDATE journal_jobrun SET lease_until = now() WHERE state = 'running'")
            connection.execute("UPDATE journal_jobrun SET not_before = now() WHERE state = 'waiting'")

    def client(self, key: str = "", acts_for: str = "") -> Client:
        """A client with a connection of its own, with the agent's key or another, which may name a person."""
        return Client(self._socket, key or self.key, acts_for)


@dataclass(frozen=True)
class Answer:
    """A status, a body, and the seconds that it took."""

    status: int
    text: str
    headers: Message
    seconds: float

    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.text)


class Client:
    """A keep-alive connection to the web server's socket."""

    def __init__(self, path: Path, key: str, acts_for: str) -> None:
        self._connection = _UnixConnection(path)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        if acts_for:
            self._headers["X-Keepsake-User"] = acts_for

    def get(self, path: str) -> Answer:
        """Send a GET and return the answer."""
        return self._send("GET", path, None, {})

    def post(self, path: str, body: object, **headers: str) -> Answer:
        """Send a POST and return the answer."""
        return self._send("POST", path, json.dumps(body), headers)

    def put(self, path: str, body: object, **headers: str) -> Answer:
        """Send a PUT and return the answer."""
        return self._send("PUT", path, json.dumps(body), headers)

    def stream(self, path: str, body: object) -> Iterator[tuple[str, str]]:
        """Send a POST and yield the server-sent events of its answer, (name, data), as they come."""
        self._connection.request("POST", path, json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        assert answer.status == 200, answer.read()
        event = ""
        for line in answer:
            name, _colon, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                event = value
            elif name == "data":
                yield event, value

    def _send(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> Answer:
        began = time.monotonic()
        self._connection.request(method, path, body, {**self._headers, **headers})
        answer = self._connection.getresponse()
        return Answer(answer.status, answer.read().decode(), answer.headers, time.monotonic() - began)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@contextmanager
def own_deployment(*, durable: bool = False, **environment: str) -> Iterator[Deployment]:
    """A deployment that runs, with a directory of its own; both are gone afterwards."""
    with unstarted_deployment(durable=durable, **environment) as made:
        made.start()
        yield made


@contextmanager
def unstarted_deployment(
    *, durable: bool = False, data: Path | None = None, **environment: str
) -> Iterator[Deployment]:
    """A deployment of which nothing runs yet, with a directory of its own; both are gone afterwards, ``data`` stays."""
    directory = temporary_directory("keepsake-tests-", Account.for_servers())
    directory.chmod(0o711)
    try:
        made = Deployment(directory, durable=durable, data=data, **environment)
        try:
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(directory)

"""A whole Keepsake of its own, so that its servers can be killed: PostgreSQL, Valkey, gunicorn and a Celery worker."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import psycopg

from memory_project.embedded.account import Account
from memory_project.embedded.places import temporary_directory
from memory_project.embedded.processes import Child
from memory_project.embedded.servers import EmbeddedServers

from .processes import ROOT, wait_for


class Deployment:
    """The running parts, and ways to use them. ``postgres`` and ``valkey`` can be stopped, killed and started."""

    def __init__(self, directory):
        self._servers = EmbeddedServers(directory, {}, throw_away=True)
        self.postgres, self.valkey = self._servers.servers
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_", "REDIS_"))},
            **self._servers.environment,
            "KEEPSAKE_EMBEDDER": "hashing",
            "KEEPSAKE_MODEL": "offline",
            "API_RATE": "100000/min",
            "WEB_CONCURRENCY": "1",
            "OMP_NUM_THREADS": "1",
        }
        self.socket = directory / "web.sock"
        self.web_log = directory / "web.log"
        self._programs = [
            self._program(
                "the web server",
                ["gunicorn", "memory_project.wsgi", "-c", "memory_project/gunicorn_conf.py"],
                ["--bind", f"unix:{self.socket}"],
                log=self.web_log,
            ),
            self._program(
                "the worker",
                ["celery", "-A", "memory_project", "worker"],
                ["--pool=solo"],
                log=directory / "worker.log",
            ),
        ]

    def _program(self, name, module, options, log):
        command = [sys.executable, "-m", *module, *options]
        return Child(name, command, log=log, environment=self.environment, directory=ROOT)

    def start(self):
        """Start everything, and make a person with an agent's key."""
        self._servers.start()
        self.manage("migrate", "--database=owner", "--verbosity=0")
        self.key = self.manage("create_agent_key", "writer", "--user=olga", "--scopes=read,write,admin", "--quiet")
        for program in self._programs:
            program.start()
        wait_for(self.is_ready, 60, self.web_log.read_text)

    def is_ready(self):
        """Whether the web server says so."""
        try:
            return self.client().get("/health/ready").status == 200
        except OSError:  # It does not listen yet.
            return False

    def stop(self):
        """Stop everything."""
        for program in self._programs:
            program.stop()
        self._servers.stop()

    def manage(self, *arguments):
        """Run a management command and return what it printed."""
        return self._run("manage.py", *arguments)

    def send_task(self, name):
        """Send a task to the worker, as the clock does."""
        self._run("-m", "celery", "-A", "memory_project", "call", name)

    def _run(self, *arguments):
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def rows(self, sql):
        """What a query returns, over a connection of its own: the server may have been away since the last."""
        with psycopg.connect(self.environment["DATABASE_OWNER_URL"]) as connection:
            return connection.execute(sql).fetchall()

    def let_leases_expire(self):
        """Make it as late as it has to be for the sweep: past workers' leases and waits after errors."""
        with psycopg.connect(self.environment["DATABASE_OWNER_URL"]) as connection:
            connection.execute("UPDATE conversations_message SET index_not_before = now() WHERE embedding IS NULL")
            connection.execute("UPDATE journal_jobrun SET lease_until = now() WHERE state = 'running'")
            connection.execute("UPDATE journal_jobrun SET not_before = now() WHERE state = 'waiting'")

    def client(self):
        """A client with the agent's key and a connection of its own."""
        return Client(self.socket, self.key)


class Client:
    """A keep-alive connection to the web server's socket."""

    def __init__(self, path, key):
        self._connection = _UnixConnection(path)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def get(self, path):
        """Send a GET and return the answer."""
        return self._send("GET", path, None, {})

    def post(self, path, body, **headers):
        """Send a POST and return the answer."""
        return self._send("POST", path, json.dumps(body), headers)

    def _send(self, method, path, body, headers):
        began = time.monotonic()
        self._connection.request(method, path, body, {**self._headers, **headers})
        answer = self._connection.getresponse()
        return Answer(answer.status, answer.read().decode(), answer.headers, time.monotonic() - began)


class Answer:
    """A status, a body, and the seconds that it took."""

    def __init__(self, status, text, headers, seconds):
        self.status = status
        self.text = text
        self.headers = headers
        self.seconds = seconds

    def json(self):
        """The body, read as JSON."""
        return json.loads(self.text)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self._path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@contextmanager
def own_deployment():
    """A deployment with a directory of its own; both are gone afterwards."""
    directory = temporary_directory("keepsake-tests-", Account.for_servers())
    directory.chmod(0o711)
    try:
        made = Deployment(directory)
        try:
            made.start()
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(directory)

"""Reproduction: half-sent requests without a key hung the server, and one person's streams kept everybody else out."""

import http.client
import json
import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psutil
import pytest

from memory_project import limits
from memory_project.run import MARK
from tests.timing import allowed

from .test_run import copy, lines_until, manage

HALF_SENT = 300
PEOPLE, STREAMS_EACH = 20, 5
BURSTS, TRIED, CALLS = 3, 100, 60
HEAD_ONLY = b"GET /api/v1/memories/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: "
BODY_BEGUN = (
    b"POST /api/v1/memories/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b'Content-Length: 5000\r\n\r\n{"content": "The user'
)

SCHEMA, SCHEMAS = b"GET /api/schema/?format=json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 60
FILE_BEGUN = (
    b"POST /api/v1/import/ HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer KEY\r\nX-Keepsake-User: files\r\n"
    b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 100000000\r\n\r\n--b\r\n"
)
DEAF, FILES_BEGUN = 10, 40


class Web:
    """Calls of one service key to a copy's web server, for the people whom it names."""

    def __init__(self, port, key, stack):
        self.port, self.key, self._stack = port, key, stack

    def connect(self, timeout=20):
        return self._stack.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=timeout))

    def call(self, person, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"Authorization": f"Bearer {self.key}", "X-Keepsake-User": person}
        if body is not None:
            headers["Content-Type"] = "application/json"
        began = time.perf_counter()
        connection.request(method, f"/api/v1/{path}", body and json.dumps(body), headers)
        answer = connection.getresponse()
        read = answer.read()
        seconds = time.perf_counter() - began
        connection.close()
        return answer.status, json.loads(read), seconds

    def stop_reading(self):
        """Ask for more than the system buffers, and read none of it. Returns the port of the client."""
        client = self.connect()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(SCHEMA * SCHEMAS)
        return client.getsockname()[1]

    def begin_a_file(self):
        """Announce a file, with the key, and send its first line only."""
        client = self.connect()
        client.sendall(FILE_BEGUN.replace(b"KEY", self.key.encode()))
        return client

    def conversation(self, person):
        status, made, _ = self.call(person, "POST", "conversations/", {})
        assert status == 201, made
        return made["id"]

    def stream(self, person, conversation):
        """Open a stream, leave it open, and return the status; 200 only once its first line has come."""
        client = self.connect()
        client.sendall(
            f"GET /api/v1/conversations/{conversation}/updates/ HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {self.key}\r\nX-Keepsake-User: {person}\r\n\r\n".encode()
        )
        read = b""
        while b"\r\n\r\n" not in read or (read.startswith(b"HTTP/1.1 200") and b": listening" not in read):
            part = client.recv(4096)
            assert part, read
            read += part
        return int(read.split(maxsplit=2)[1])

    def burst(self, person, conversation):
        """Try to open far more streams than `person` may have, while somebody else calls.

        Returns the status of each try, and status, answer and seconds of each call.
        """
        with ThreadPoolExecutor(20) as threads:
            tried = [threads.submit(self.stream, person, conversation) for _ in range(TRIED)]
            calls = [self.call("other", "GET", "memories/") for _ in range(CALLS)]
            return [each.result() for each in tried], calls


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_slow_clients_and_many_streams_keep_nobody_waiting(var, port, record_property):
    with copy(var, port) as process, ExitStack() as stack:
        lines_until(process, "Keepsake: ")
        made = manage(var, "create_agent_key", "probe", "--user", "operator", "--service", "--quiet")
        web = Web(port, made.stdout.strip(), stack)
        talks = {f"person {number}": web.conversation(f"person {number}") for number in range(PEOPLE)}
        busy = {f"busy {number}": web.conversation(f"busy {number}") for number in range(BURSTS)}
        other = web.conversation("other")
        workers = workers_of(var)
        idle = [web.call("other", "GET", "memories/")[2] for _ in range(20)]

        deaf = [web.stop_reading() for _ in range(DEAF)]
        begun = [web.begin_a_file() for _ in range(FILES_BEGUN)]
        half_sent = [web.connect(timeout=2 * limits.REQUEST_SECONDS) for _ in range(HALF_SENT)]
        for number, client in enumerate(half_sent):
            client.sendall(HEAD_ONLY if number % 2 else BODY_BEGUN)
        with ThreadPoolExecutor(10) as threads:
            wanted = [(person, talk) for person, talk in talks.items() for _ in range(STREAMS_EACH)]
            assert list(threads.map(lambda each: web.stream(*each), wanted)) == [200] * PEOPLE * STREAMS_EACH

        bursts = []
        for person, talk in busy.items():
            tried, meanwhile = web.burst(person, talk)
            assert sorted(tried) == [200] * limits.UPDATES_STREAMS_PER_PERSON + [429] * (
                TRIED - limits.UPDATES_STREAMS_PER_PERSON
            )
            assert {status for status, _, _ in meanwhile} == {200}
            bursts.append([seconds for _, _, seconds in meanwhile])
        began = time.perf_counter()
        assert web.stream("other", other) == 200
        figures = {
            "idle_ms": ms(statistics.median(idle)),
            "median_ms": ms(statistics.median(min(bursts, key=statistics.median))),
            "most_ms": ms(min(max(burst) for burst in bursts)),
            "stream_ms": ms(time.perf_counter() - began),
            "threads": max(worker.num_threads() for worker in workers_of(var)),
        }
        record_property("figures", figures)
        # Measured alone, all are under 200 ms. What else the machine does shows in what a call takes when all is quiet,
        # or holds up one burst: what the server does shows in each of them.
        limit = allowed(200 * max(1.0, figures["idle_ms"] / 5))
        for figure in ("median_ms", "most_ms", "stream_ms"):
            assert figures[figure] < limit, figures
        # Nothing waits on a thread of its own, and nobody was killed meanwhile.
        assert figures["threads"] < 60, figures
        assert set(workers) <= set(workers_of(var))
        # Who has not said what they want by then is not waited for.
        assert half_sent[0].recv(4096).startswith(b"HTTP/1.1 408")
        assert half_sent[1].recv(4096) == b""
        # Nor is who reads nothing: the connection is gone, with what was buffered.
        until = time.monotonic() + 2 * limits.ANSWER_SECONDS
        while held := connected(var) & set(deaf):
            assert time.monotonic() < until, len(held)
            threading.Event().wait(0.5)
        # An upload may take an hour, but is refused once it stalls for gunicorn's timeout; a busy machine reaches that.
        held = connected(var)
        refused = [client.recv(4096) for client in begun if client.getsockname()[1] not in held]
        assert all(each.startswith(b"HTTP/1.1 408") for each in refused), refused


def connected(var):
    """The ports of the clients that the web server still holds."""
    found = (each for worker in workers_of(var) for each in worker.net_connections("tcp"))
    return {each.raddr.port for each in found if each.raddr}


def workers_of(var):
    """The processes of the web server that answer requests."""
    found = []
    for process in psutil.process_iter():
        try:
            is_ours = process.environ().get(MARK) == str(var) and "gunicorn" in " ".join(process.cmdline())
            if is_ours and "gunicorn" in " ".join(process.parent().cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    assert found
    return found


def ms(seconds):
    return round(seconds * 1_000, 1)

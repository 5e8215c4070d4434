"""A small HTTP server whose answers a test scripts, for real clients to talk to. What it takes, a subclass says."""

import json
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread


@dataclass(frozen=True)
class Received:
    """One request as it came in. Header names are in lower case."""

    path: str
    headers: dict
    body: dict
    raw: bytes


class ScriptedServer:
    """``url``, the ``requests`` that came in, and the ``script``: one answer a request, the last one for all others."""

    received = Received

    def __init__(self):
        self.requests = []
        self.script = []
        self.over = Event()
        self.gone = Event()
        self.server = _Server(("127.0.0.1", 0), _Handler)
        self.server.api = self
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def answers(self, *script):
        """Answer the coming requests with these, in their order."""
        self.requests.clear()
        self.gone.clear()
        self.script = list(script)

    def refusal(self, received):
        """The API's error for a request that it would not take, or None."""
        raise NotImplementedError

    @classmethod
    @contextmanager
    def serving(cls):
        """Run one in a thread of its own."""
        api = cls()
        thread = Thread(target=api.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield api
        finally:
            api.over.set()
            api.server.shutdown()
            api.server.server_close()
            thread.join()


SOON = 30
"""Seconds: far more than a busy machine takes, and far less than somebody takes who waits for these servers."""

PATIENCE = (0.4, 4, 20)
"""Deadlines in seconds to call with, until the request arrives: a busy machine may take longer than one to send it."""

# --- Answers ----------------------------------------------------------------------------------------------------


def whole(body, *, status=200, content_type="application/json", **headers):
    """Any body at all, with its length."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler):
        handler.head(status, {"Content-Type": content_type, "Content-Length": len(data), **headers})
        handler.wfile.write(data)

    return answer


def cut(handler):
    """Close the connection in the middle of the body."""
    handler.head(200, {"Content-Type": "application/json", "Content-Length": 5_000})
    handler.wfile.write(b'{"id": "msg_01", "type": "mess')


def hang_up(handler):
    """Close the connection without a word."""


def silent(handler):
    """Take the request and never answer it."""
    handler.wait_for_the_client()


def drip(handler):
    """Send a body that never stands still for long and never ends."""
    handler.head(200, {"Content-Type": "application/json", "Content-Length": 1_000_000})
    handler.keep_sending(b" ", every=0.02)


def drip_headers(handler):
    """The same with the headers."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    handler.keep_sending(b"s", every=0.02)


def endless(handler):
    """Send as fast as it goes, without an end."""
    handler.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    handler.keep_sending(b"10000\r\n" + b" " * 65_536 + b"\r\n", every=0)


# --- The server -------------------------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hung up is what several tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.close_connection = True
        api = self.server.api
        raw = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        # Its own: several may be answered at once, and the last that came is another's then.
        received = self.received = api.received(self.path, headers, json.loads(raw), raw)
        api.requests.append(received)
        answer = api.refusal(received) or (api.script.pop(0) if len(api.script) > 1 else api.script[0])
        answer(self)

    def head(self, status, headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def keep_sending(self, data, every):
        try:
            while not self.server.api.over.wait(every):
                self.wfile.write(data)
        except OSError:
            self.server.api.gone.set()

    def wait_for_the_client(self):
        """Until it hangs up: reading ends then."""
        self.connection.recv(1)
        self.server.api.gone.set()

    def log_message(self, *_):
        """Say nothing."""

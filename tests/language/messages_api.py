"""A small server that speaks the Messages API, for the real SDK to talk to. What it answers is scripted.

It is as strict about what it is sent as the API is: another path, a key or model it does not know, a parameter or a
schema keyword that the API takes no longer get the API's error, whatever the script says.
"""

import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

KEY = "sk-ant-test-0123456789"
MODEL = "claude-haiku-5-5"
PARAMETERS = {
    "model",
    "max_tokens",
    "system",
    "messages",
    "output_config",
    "thinking",
    "tools",
    "tool_choice",
    "stream",
}
SCHEMA_WORDS = {
    "$defs", "$ref", "additionalProperties", "anyOf", "const", "description", "enum", "format", "items", "properties",
    "required", "title", "type",
}  # fmt: skip


@dataclass(frozen=True)
class Received:
    """One request as it came in. Header names are in lower case."""

    headers: dict
    body: dict
    raw: bytes

    @property
    def instructions(self):
        return self.body["system"][0]["text"]

    @property
    def content(self):
        return self.body["messages"][0]["content"]


class MessagesServer:
    """``url``, the ``requests`` that came in, and the ``script``: one answer a request, the last one for all others."""

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


@contextmanager
def serving():
    """Run a MessagesServer in a thread of its own."""
    api = MessagesServer()
    thread = Thread(target=api.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield api
    finally:
        api.over.set()
        api.server.shutdown()
        api.server.server_close()
        thread.join()


# --- Answers ----------------------------------------------------------------------------------------------------


def message(document, *, stop_reason="end_turn", usage=None, blocks=None):
    """A message whose text is the document (as JSON, unless it is a string)."""
    text = document if isinstance(document, str) else json.dumps(document, ensure_ascii=False)
    return whole(
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": blocks if blocks is not None else [{"type": "text", "text": text}],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage or {"input_tokens": 120, "output_tokens": 80},
        }
    )


def error(status, kind, text="no", **headers):
    """The API's form of an error."""
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_01"}
    return whole(body, status=status, **{name.replace("_", "-"): value for name, value in headers.items()})


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
        received = Received({name.lower(): value for name, value in self.headers.items()}, json.loads(raw), raw)
        api.requests.append(received)
        refused = self.refusal(received)
        if refused:
            refused(self)
        else:
            (api.script.pop(0) if len(api.script) > 1 else api.script[0])(self)

    def refusal(self, received):
        """The API's error for a request that it would not take."""
        body = received.body
        if self.path != "/v1/messages":
            return error(404, "not_found_error")
        if received.headers.get("authorization") != f"Bearer {KEY}" and received.headers.get("x-api-key") != KEY:
            return error(401, "authentication_error", "invalid key")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", received.headers.get("anthropic-version", "")):
            return error(400, "invalid_request_error", "anthropic-version")
        if body.get("model") != MODEL:
            return error(404, "not_found_error", f"model: {body.get('model')}")
        unknown = set(body) - PARAMETERS | _unknown_words(body["output_config"]["format"]["schema"])
        if unknown or not {"model", "max_tokens", "messages"} <= set(body):
            return error(400, "invalid_request_error", f"{sorted(unknown)}: {received.raw.decode()}")
        return None

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


def _unknown_words(schema):
    """Keywords of a schema that structured output doesn't take, and objects that it would not know the end of."""
    found = set(schema) - SCHEMA_WORDS
    if schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False and set(schema["required"]) == set(schema["properties"])
        found |= set() if closed else {"object left open"}
    inner = [*schema.get("$defs", {}).values(), *schema.get("properties", {}).values()]
    inner += [schema["items"]] if "items" in schema else []
    return found.union(*map(_unknown_words, inner))

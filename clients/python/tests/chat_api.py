"""A model server that speaks OpenAI's chat completions, and gives the answers that a test scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def called(tool: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {**said(""), "tool_calls": [{"id": f"call_{tool}", "type": "function", "function": function}]}


def _tools(answer: dict[str, Any]) -> set[str]:
    return {call["function"]["name"] for call in answer.get("tool_calls", ())}


@contextmanager
def chat_model(*script: dict[str, Any]) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address for ``base_url``, and what was asked.

    Each request takes the first answer that is left and calls no tool but those that it offers, so that requests sent
    side by side may come in any order; the last answer stays for all further requests.
    """
    asked: list[dict[str, Any]] = []
    left = [*script]
    one_at_a_time = Lock()

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        offered = {each["function"]["name"] for each in request.get("tools") or ()}
        with one_at_a_time:
            asked.append(request)
            message = next(each for each in left if _tools(each) <= offered)
            if len(left) > 1 and message is not left[-1]:
                left.remove(message)
            return message

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = answer(request)
            if request.get("stream"):
                self.stream(message)
                return
            body = json.dumps({
                "id": f"chat-{len(asked)}", "object": "chat.completion", "created": 1, "model": "stub",
                "choices": [{"index": 0, "message": message,
                             "finish_reason": "tool_calls" if "tool_calls" in message else "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }).encode()  # fmt: skip
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def stream(self, message: dict[str, Any]) -> None:
            """The same in two pieces, as server-sent events that end with the connection."""
            calls = [{"index": number, **each} for number, each in enumerate(message.get("tool_calls", ()))]
            half, text = len(message["content"]) // 2, message["content"]
            first = {"role": "assistant", "content": text[:half], **({"tool_calls": calls} if calls else {})}
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for delta, ends in ((first, None), ({"content": text[half:]}, "tool_calls" if calls else "stop")):
                piece = {"id": f"chat-{len(asked)}", "object": "chat.completion.chunk", "created": 1, "model": "stub",
                         "choices": [{"index": 0, "delta": delta, "finish_reason": ends}]}  # fmt: skip
                self.wfile.write(f"data: {json.dumps(piece)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, format: str, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

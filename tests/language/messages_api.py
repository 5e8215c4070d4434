"""A small server that speaks the Messages API, for the real SDK to talk to. What it answers is scripted.

It is as strict about what it is sent as the API is: another path, a key or model it does not know, a parameter or a
schema keyword that the API takes no longer, a tool call without its result, get the API's error, whatever the script
says.
"""

import json
import re

from tests.language.scripted import Received, ScriptedServer, whole

KEY = "sk-ant-test-0123456789"
MODEL = "claude-haiku-5-5"
OTHER_MODEL = "claude-opus-5-5"
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


class Sent(Received):
    """A request of the Messages API."""

    @property
    def instructions(self):
        return self.body["system"][0]["text"]

    @property
    def content(self):
        return self.body["messages"][0]["content"]


class MessagesServer(ScriptedServer):
    """Takes what the Messages API takes."""

    received = Sent

    def refusal(self, received):
        body = received.body
        if received.path != "/v1/messages":
            return error(404, "not_found_error")
        if received.headers.get("authorization") != f"Bearer {KEY}" and received.headers.get("x-api-key") != KEY:
            return error(401, "authentication_error", "invalid key")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", received.headers.get("anthropic-version", "")):
            return error(400, "invalid_request_error", "anthropic-version")
        if body.get("model") not in {MODEL, OTHER_MODEL}:
            return error(404, "not_found_error", f"model: {body.get('model')}")
        unknown = set(body) - PARAMETERS
        config = body.get("output_config", {})
        unknown |= set(config) - {"format", "effort"}
        if "format" in config:
            unknown |= _unknown_words(config["format"]["schema"])
        unknown |= _faults_of_tools(body.get("tools", [])) | _faults_of_turns(body.get("messages", []))
        if unknown or not {"model", "max_tokens", "messages"} <= set(body):
            return error(400, "invalid_request_error", f"{sorted(unknown)}: {received.raw.decode()}")
        return None


serving = MessagesServer.serving


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


def called(*calls, before=(), after=(), stop_reason="tool_use", usage=None):
    """A message that calls tools: (id, name, input) each."""
    blocks = [{"type": "tool_use", "id": call_id, "name": name, "input": given} for call_id, name, given in calls]
    return message("", blocks=[*before, *blocks, *after], stop_reason=stop_reason, usage=usage)


def spoken(*parts, calls=(), stop_reason="", usage=None, ends=True, after=None):
    """A streamed answer: the text in these parts, then calls (id, name, input).

    One that does not end waits for the client to go. With ``after``, it waits for that event between its parts.
    """

    def answer(handler):
        handler.head(200, {"Content-Type": "text/event-stream"})
        for name, data in _events(parts, calls, stop_reason, usage, ends=ends):
            if after is not None and name == "content_block_delta":
                after.wait(20)
            handler.wfile.write(
                b"event: %b\ndata: %b\n\n" % (name.encode(), json.dumps({"type": name, **data}).encode())
            )
            handler.wfile.flush()
        if not ends:
            handler.wait_for_the_client()

    return answer


def _events(parts, calls, stop_reason, usage, *, ends):
    counted = {"input_tokens": 120, "output_tokens": 80, **(usage or {})}
    head = {"id": "msg_01", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None}
    yield "message_start", {"message": {**head, "stop_sequence": None, "usage": {**counted, "output_tokens": 1}}}
    index = 0
    if parts:
        yield "content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}
        for part in parts:
            yield "content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": part}}
        if not ends:
            return
        yield "content_block_stop", {"index": 0}
        index = 1
    for place, (call_id, name, given) in enumerate(calls, start=index):
        block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
        yield "content_block_start", {"index": place, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
        yield "content_block_delta", {"index": place, "delta": delta}
        yield "content_block_stop", {"index": place}
    stop_reason = stop_reason or ("tool_use" if calls else "end_turn")
    told = {"stop_reason": stop_reason, "stop_sequence": None}
    yield "message_delta", {"delta": told, "usage": {"output_tokens": counted["output_tokens"]}}
    yield "message_stop", {}


def error(status, kind, text="no", **headers):
    """The API's form of an error."""
    body = {"type": "error", "error": {"type": kind, "message": text}, "request_id": "req_01"}
    return whole(body, status=status, **{name.replace("_", "-"): value for name, value in headers.items()})


def _unknown_words(schema):
    """Keywords of a schema that structured output doesn't take, and objects that it would not know the end of."""
    found = set(schema) - SCHEMA_WORDS
    if schema.get("type") == "object":
        closed = schema.get("additionalProperties") is False and set(schema["required"]) == set(schema["properties"])
        found |= set() if closed else {"object left open"}
    inner = [*schema.get("$defs", {}).values(), *schema.get("properties", {}).values()]
    inner += [schema["items"]] if "items" in schema else []
    return found.union(*map(_unknown_words, inner))


def _faults_of_tools(tools):
    """Whether a name or a schema is none that the API takes, or a name stands for two tools."""
    faults = set()
    for tool in tools:
        sound = re.fullmatch(r"[a-zA-Z0-9_-]{1,128}", tool["name"]) and tool["input_schema"].get("type") == "object"
        faults |= set() if sound else {f"tool {tool['name']}"}
    return faults | (set() if len({tool["name"] for tool in tools}) == len(tools) else {"tool names"})


def _faults_of_turns(turns):
    """Whether roles don't alternate, a text is empty, or calls and results don't belong together."""
    faults = set()
    if [turn["role"] for turn in turns] != [("user", "assistant")[place % 2] for place in range(len(turns))]:
        faults.add("roles")
    open_calls, seen, marks = [], set(), 0
    for turn in turns:
        blocks = [{"type": "text", "text": turn["content"]}] if isinstance(turn["content"], str) else turn["content"]
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if results != open_calls:
            faults.add("tool_result")
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen & set(open_calls) or len(set(open_calls)) < len(open_calls):
            faults.add("tool_use ids")
        seen |= set(open_calls)
        marks += sum("cache_control" in block for block in blocks)
        if not blocks or any(block["type"] == "text" and not block["text"].strip() for block in blocks):
            faults.add("empty text")
        if any(not re.fullmatch(r"[a-zA-Z0-9_-]+", call_id) for call_id in open_calls):
            faults.add("tool_use id")
    return faults | ({"open calls"} if open_calls else set()) | ({"cache_control"} if marks > 3 else set())

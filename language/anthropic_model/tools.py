"""The tool loop as messages of the Messages API, and the tool calls of an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from itertools import count

from anthropic.types import RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock

from language.anthropic_model import prompts
from language.anthropic_model.answers import find_quote
from language.base import ModelAnswerInvalid, ReplyRequest, ToolCall, ToolRequest, ToolResult, ToolRound, Utterance
from language.fencing import escaped

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
CACHED = {"cache_control": {"type": "ephemeral"}}


def tools_of(request: ToolRequest | ReplyRequest) -> list[dict[str, object]]:
    """The tools that the model may call."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
        for tool in request.tools
    ]


def messages_of(request: ToolRequest) -> list[dict[str, object]]:
    """The known memories and the batch, then the calls and results of each earlier round.

    Two marks for the prompt cache: after the memories, which are the same for the person's next message, and after the
    batch, which is the same for the loop's next round.
    """
    told: dict[str, object] = {
        "role": "user",
        "content": [
            {"type": "text", "text": prompts.known_memories(request.memories), **CACHED},
            {"type": "text", "text": prompts.conversation_for_tools(request), **CACHED},
        ],
    }
    return [told, *(message for earlier in request.rounds if earlier.calls for message in _round(earlier))]


def read_calls(blocks: Sequence[object], request: ToolRequest) -> tuple[tuple[ToolCall, ...], int]:
    """Convert the blocks of an answer to at most ``calls_left`` calls. Returns them with the number of dropped ones.

    A call without a name or with an input that is no object is dropped; an unknown name is kept. A quote with small
    copying errors is replaced by the verbatim one. Thinking and text before a call are kept with it (``echo``), as
    thinking models need them unchanged in the next round. Raises ModelAnswerInvalid if all calls are malformed.
    """
    said = {message.index: message for message in request.messages}
    taken = {call.id for earlier in request.rounds for call in earlier.calls}
    calls: list[ToolCall] = []
    before: list[Mapping[str, object]] = []
    asked = 0
    for block in blocks:
        if isinstance(block, (ThinkingBlock, RedactedThinkingBlock, TextBlock)):
            before.extend(echo_of(block))
        elif isinstance(block, ToolUseBlock):
            asked += 1
            name, arguments = getattr(block, "name", None), getattr(block, "input", None)
            if isinstance(name, str) and name and isinstance(arguments, dict):
                call_id = fresh_id(block, taken)
                taken.add(call_id)
                calls.append(ToolCall(call_id, name, _with_verbatim_quote(arguments, said), tuple(before)))
                before.clear()
    if asked and not calls:
        raise ModelAnswerInvalid("None of the calls in the answer has a name and an object of arguments.")
    kept = tuple(calls[: request.calls_left])
    return kept, asked - len(kept)


def _round(earlier: ToolRound) -> tuple[dict[str, object], dict[str, object]]:
    results = {result.call_id: result for result in earlier.results}
    called: list[Mapping[str, object]] = []
    for call in earlier.calls:
        called += call.echo
        called.append({"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)})
    answered = [result_block(results[call.id]) for call in earlier.calls]
    return {"role": "assistant", "content": called}, {"role": "user", "content": answered}


def result_block(result: ToolResult) -> dict[str, object]:
    """The result of a call, escaped as data."""
    return {
        "type": "tool_result",
        "tool_use_id": result.call_id,
        "content": escaped(result.content),
        "is_error": not result.ok,
    }


def echo_of(block: ThinkingBlock | RedactedThinkingBlock | TextBlock) -> list[Mapping[str, object]]:
    """The block as the server sent it; none for empty text, which the server would reject."""
    sent = block.to_dict(warnings=False)
    return [] if isinstance(block, TextBlock) and not str(sent.get("text") or "").strip() else [sent]


def fresh_id(block: ToolUseBlock, taken: Collection[str]) -> str:
    """The server's id, or a new one: some servers send none, or number the calls of each answer from 0."""
    sent = getattr(block, "id", None)
    if isinstance(sent, str) and _ID.fullmatch(sent) and sent not in taken:
        return sent
    return next(made for number in count(1) if (made := f"call_{number}") not in taken)


def _with_verbatim_quote(arguments: Mapping[str, object], said: Mapping[int, Utterance]) -> dict[str, object]:
    evidence = arguments.get("evidence")
    if not isinstance(evidence, dict):
        return dict(arguments)
    index, quote = evidence.get("index"), evidence.get("quote")
    known = said.get(index) if isinstance(index, int) else None
    found = find_quote(known.content, quote) if known is not None and isinstance(quote, str) else ""
    return {**arguments, "evidence": {**evidence, "quote": found}} if found else dict(arguments)

"""The tool loop in the Messages API's form: what has been said and done so far, and the calls of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from anthropic.types import ToolUseBlock

from language.anthropic_model import prompts
from language.anthropic_model.answers import find_quote
from language.base import ModelAnswerInvalid, ToolCall, ToolRequest, ToolRound, Utterance

_CACHED = {"cache_control": {"type": "ephemeral"}}


def tools_of(request: ToolRequest) -> list[dict[str, object]]:
    """The tools that the model may call."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.input_schema)}
        for tool in request.tools
    ]


def messages_of(request: ToolRequest) -> list[dict[str, object]]:
    """What is known and what was said, then each earlier round: the calls, and what came of them.

    The marks for the prompt cache stand where the next request goes on differently: what is known is the same for the
    person's next message, what was said for the loop's next round.
    """
    told: dict[str, object] = {
        "role": "user",
        "content": [
            {"type": "text", "text": prompts.known_memories(request.memories), **_CACHED},
            {"type": "text", "text": prompts.conversation_for_tools(request), **_CACHED},
        ],
    }
    return [told, *(message for earlier in request.rounds if earlier.calls for message in _round(earlier))]


def read_calls(blocks: Sequence[ToolUseBlock], request: ToolRequest) -> tuple[tuple[ToolCall, ...], int]:
    """Turn the blocks of an answer into calls, at most as many as are left, and say how many were dropped.

    A block without a name or whose input is no object is dropped; a name that no tool has is kept. Ids are given anew:
    servers there are that number the calls of each answer from 0. A quote that was copied with small changes is put
    back as it stands in its message.
    Raises ModelAnswerInvalid when there are blocks and every one of them is broken.
    """
    sound = [(block.name, block.input) for block in blocks if _is_sound(block)]
    if blocks and not sound:
        raise ModelAnswerInvalid("None of the calls in the answer has a name and an object of arguments.")
    said = {message.index: message for message in request.messages}
    calls = tuple(
        ToolCall(f"call_{len(request.rounds) + 1}_{number}", name, _as_said(arguments, said))
        for number, (name, arguments) in enumerate(sound[: request.calls_left], start=1)
    )
    return calls, len(blocks) - len(calls)


def _round(earlier: ToolRound) -> tuple[dict[str, object], dict[str, object]]:
    results = {result.call_id: result for result in earlier.results}
    called = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)} for call in earlier.calls
    ]
    answered = [
        {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": prompts.escape(results[call.id].content),
            "is_error": not results[call.id].ok,
        }
        for call in earlier.calls
    ]
    return {"role": "assistant", "content": called}, {"role": "user", "content": answered}


def _is_sound(block: ToolUseBlock) -> bool:
    """The SDK checks no types of what a server sends."""
    name, arguments = getattr(block, "name", None), getattr(block, "input", None)
    return isinstance(name, str) and bool(name) and isinstance(arguments, dict)


def _as_said(arguments: Mapping[str, object], said: Mapping[int, Utterance]) -> dict[str, object]:
    evidence = arguments.get("evidence")
    if not isinstance(evidence, dict):
        return dict(arguments)
    index, quote = evidence.get("index"), evidence.get("quote")
    known = isinstance(index, int) and index in said and isinstance(quote, str)
    found = find_quote(said[index].content, quote) if known else ""
    return {**arguments, "evidence": {**evidence, "quote": found}} if found else dict(arguments)

"""A chat as messages of the Messages API, and the conversion of an answer to a ReplyAnswer."""

from __future__ import annotations

from collections.abc import Mapping

from anthropic.types import Message, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock

from language.anthropic_model.tools import CACHED, echo_of, fresh_id, result_block
from language.base import ReplyAnswer, ReplyRequest, ToolCall, Usage
from language.reading.refusals import asks_to_keep


def chat_messages(request: ReplyRequest) -> list[dict[str, object]]:
    """The messages of the chat, then the answer and the results of each earlier round.

    With tools the end is marked for the prompt cache, as the next round continues there.
    """
    talk = [dict(message) for message in request.messages]
    for earlier in request.rounds:
        talk.append({"role": "assistant", "content": list(earlier.answer.blocks)})
        talk.append({"role": "user", "content": [result_block(result) for result in earlier.results]})
    if request.tools:
        talk[-1] = {**talk[-1], "content": _marked(talk[-1]["content"])}
    return talk


def tool_choice_of(request: ReplyRequest) -> dict[str, str]:
    """The tool choice: whether a tool may be called. Tools are sent in both cases, to keep the prompt cache valid."""
    return {"type": "auto" if request.may_call else "none"}


def read_reply(message: Message, usage: Usage, request: ReplyRequest, model: str) -> ReplyAnswer:
    """Convert a complete message to a ReplyAnswer. A call without a name or arguments object is dropped.

    All calls are dropped if none are allowed, or if the answer was truncated, as the last one may be incomplete.
    """
    cut = message.stop_reason not in {"end_turn", "stop_sequence", "tool_use"}
    taken = {call.id for earlier in request.rounds for call in earlier.answer.calls}
    calls: list[ToolCall] = []
    blocks: list[Mapping[str, object]] = []
    for block in message.content:
        if isinstance(block, (ThinkingBlock, RedactedThinkingBlock, TextBlock)):
            blocks += echo_of(block)
        elif isinstance(block, ToolUseBlock) and not cut and request.may_call:
            name, arguments = getattr(block, "name", None), getattr(block, "input", None)
            if isinstance(name, str) and name and isinstance(arguments, dict):
                call_id = fresh_id(block, taken)
                taken.add(call_id)
                calls.append(ToolCall(call_id, name, arguments))
                blocks.append({"type": "tool_use", "id": call_id, "name": name, "input": arguments})
    said = "".join(block.text for block in message.content if isinstance(block, TextBlock))
    return ReplyAnswer(tuple(calls), model, usage, cut, not calls and asks_to_keep(said), tuple(blocks))


def _marked(content: object) -> list[dict[str, object]]:
    blocks = (
        [{"type": "text", "text": content}] if isinstance(content, str) else [dict(each) for each in _list(content)]
    )
    return [*blocks[:-1], {**blocks[-1], **CACHED}]


def _list(content: object) -> list[Mapping[str, object]]:
    return content if isinstance(content, list) else []

"""A talk in the Messages API's form: what goes into the next round of a reply, and what an answer comes to."""

from __future__ import annotations

from collections.abc import Mapping

from anthropic.types import Message, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolUseBlock

from language.anthropic_model.tools import CACHED, echo_of, fresh_id, result_block
from language.base import ReplyAnswer, ReplyRequest, ToolCall, Usage
from language.reading.refusals import asks_to_keep


def talk_of(request: ReplyRequest) -> list[dict[str, object]]:
    """The talk, then each earlier round: what the model answered, and what came of its calls.

    Where there are tools, the mark for the prompt cache stands at the end, where the next round goes on.
    """
    talk = [dict(message) for message in request.messages]
    for earlier in request.rounds:
        talk.append({"role": "assistant", "content": list(earlier.answer.blocks)})
        talk.append({"role": "user", "content": [result_block(result) for result in earlier.results]})
    if request.tools:
        talk[-1] = {**talk[-1], "content": _marked(talk[-1]["content"])}
    return talk


def choice_of(request: ReplyRequest) -> dict[str, str]:
    """Whether a tool may be called. The tools are shown either way: without them the prompt cache would be lost."""
    return {"type": "auto" if request.may_call else "none"}


def read_reply(message: Message, usage: Usage, request: ReplyRequest, model: str) -> ReplyAnswer:
    """What a whole answer comes to. A call without a name or an object of arguments is dropped.

    So are all where none may be made, or where the answer was cut: the last one may not be whole.
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

"""One prepared turn in the forms that model APIs take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.searching import TurnRow
from language.fencing import as_data, as_said
from language.gates import find_instructions

from .pieces import who_said

OPENING = "(The conversation begins with the following message.)"


@dataclass(frozen=True, slots=True)
class Rendered:
    """``system`` as Anthropic blocks (the first ends at the cache boundary), ``text`` the whole as plain text."""

    system: list[dict[str, Any]]
    text: str
    messages: list[dict[str, Any]]
    extra: dict[str, Any] = field(default_factory=dict)


def name_as_data(name: str) -> str:
    """A name as a prompt tells it: escaped, and withheld when it reads like an instruction.

    Another member may have given it.
    """
    return "somebody whose name is withheld here" if find_instructions(name) else as_data(name)


def render(format_name: str, stable: str, below: str, window: Sequence[TurnRow], incoming: str) -> Rendered:
    """Put the parts together as ``anthropic``, ``openai``, ``gemini``, ``text`` or ``json`` wants them.

    ``stable`` stands above the cache boundary and ``below`` under it. The incoming message is the last one.
    """
    system: list[dict[str, Any]] = [
        {"type": "text", "text": stable, "cache_control": {"type": "ephemeral"}},
        {"type": "text", "text": below},
    ]
    said = [*((message.role, message.speaker, message.content) for message in window), ("user", "", incoming)]
    text = "\n\n".join([stable, below, *(_as_line(*each) for each in said)])
    if format_name == "openai":
        return Rendered(system, text, _openai(f"{stable}\n\n{below}", said))
    if format_name == "gemini":
        contents = [
            {"role": "model" if turn["role"] == "assistant" else "user", "parts": [{"text": turn["content"]}]}
            for turn in _alternating(said)
        ]
        instruction = {"parts": [{"text": f"{stable}\n\n{below}"}]}
        return Rendered(system, text, contents, {"system_instruction": instruction})
    if format_name == "json":
        plain = [
            {"role": role, "speaker": as_said(speaker), "content": as_said(content)} for role, speaker, content in said
        ]
        return Rendered(system, text, plain)
    return Rendered(system, text, _alternating(said))


def _openai(system: str, said: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    messages = [{"role": "system", "content": system}]
    for role, _, content in said:
        messages.append(_as_message(role, content))
    return messages


def _alternating(said: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """User and assistant messages in turn, the user first: what the Messages API and Gemini accept.

    Neighbours of one role are joined; system and tool messages of the record go in as notes from the user's side.
    """
    messages: list[dict[str, Any]] = []
    for role, _, content in said:
        message = _as_message(role, content)
        if not messages and message["role"] == "assistant":
            messages.append({"role": "user", "content": OPENING})
        if messages and messages[-1]["role"] == message["role"]:
            messages[-1]["content"] += f"\n\n{message['content']}"
        else:
            messages.append(message)
    return messages


def _as_message(role: str, content: str) -> dict[str, Any]:
    """What the person and the assistant said as it is; anything else as a note, so that no record gives orders."""
    if role in {"user", "assistant"}:
        return {"role": role, "content": as_said(content)}
    return {"role": "user", "content": as_note(role, content)}


def as_note(role: str, content: str) -> str:
    """A system or tool message of the record as data."""
    return f"<{role}_message>{as_data(content)}</{role}_message>"


def _as_line(role: str, speaker: str, content: str) -> str:
    """A message in plain text; its further lines are indented, so that none can pass for somebody's message."""
    if role not in {"user", "assistant"}:
        return as_note(role, content)
    indented = "\n  ".join(as_said(content).splitlines())
    return f"{who_said(role, speaker)}: {indented}"

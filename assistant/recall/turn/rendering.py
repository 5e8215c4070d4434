"""Rendering of a prepared turn in the formats of model APIs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from conversations.searching import TurnRow
from language.fencing import as_data, as_name, as_said, who_said
from language.gates import find_instructions

OPENING = "(The conversation begins with the following message.)"


@dataclass(frozen=True, slots=True)
class Rendered:
    """``system``: Anthropic blocks, the first ending at the cache boundary; ``text``: the whole as plain text."""

    system: list[dict[str, Any]]
    text: str
    messages: list[dict[str, Any]]
    extra: dict[str, Any] = field(default_factory=dict)


def name_as_data(name: str) -> str:
    """Escape a name for a prompt, or replace it if it looks like an instruction: others may have chosen it."""
    return "somebody whose name is withheld here" if find_instructions(name) else as_data(name)


def render(format_name: str, stable: str, below: str, window: Sequence[TurnRow], incoming: str) -> Rendered:
    """Render the parts as ``anthropic``, ``openai``, ``gemini``, ``text`` or ``json``.

    ``stable`` goes above the cache boundary, ``below`` under it. The new message is the last one.
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
            {"role": role, "speaker": as_name(speaker), "content": as_said(content)} for role, speaker, content in said
        ]
        return Rendered(system, text, plain)
    return Rendered(system, text, _alternating(said))


def _openai(system: str, said: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    messages = [{"role": "system", "content": system}]
    for role, _, content in said:
        messages.append(_as_message(role, content))
    return messages


def _alternating(said: Sequence[tuple[str, str, str]]) -> list[dict[str, Any]]:
    """Return alternating user and assistant messages, the user first, as the Messages API and Gemini require.

    Adjacent messages of one role are joined; stored system and tool messages become notes of the user.
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
    """Return user and assistant messages unchanged, others as notes: stored text is no system prompt."""
    if role in {"user", "assistant"}:
        return {"role": role, "content": as_said(content)}
    return {"role": "user", "content": as_note(role, content)}


def as_note(role: str, content: str) -> str:
    """Format a stored system or tool message as data."""
    return f"<{role}_message>{as_data(content)}</{role}_message>"


def _as_line(role: str, speaker: str, content: str) -> str:
    """Format a message as plain text. Continuation lines are indented, so that none can imitate a message."""
    if role not in {"user", "assistant"}:
        return as_note(role, content)
    indented = "\n  ".join(as_said(content).splitlines())
    return f"{who_said(role, speaker)}: {indented}"

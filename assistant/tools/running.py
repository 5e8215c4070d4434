"""Execution and listing of tools."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from accounts import categories, policy
from accounts.principals import Principal
from journal.exceptions import NotAllowed, NotFound, Refused
from journal.models import IdempotencyRecord
from journal.operation_actions import note_refusal
from memories.api.answers import find_memory
from memories.policy.writing import brief
from memories.queries import read_source

from .asking import MEMORY_QUERY
from .base import Arguments, Caller, Tool, ToolAnswer, input_schema
from .managing import MANAGE_USER_MEMORY, UPDATE_USER_MEMORY
from .remembering import ADD_TO_MEMORY, UPDATE_MEMORY, named

TOOLS: dict[str, Tool[Any]] = {
    tool.name: tool for tool in (ADD_TO_MEMORY, UPDATE_MEMORY, MEMORY_QUERY, MANAGE_USER_MEMORY, UPDATE_USER_MEMORY)
}
FORMATS = ("plain", "anthropic", "openai")

# Errors of the request, not of the model's arguments.
_OF_THE_REQUEST = frozenset({"missing_scope", "idempotency_mismatch"})
_ADVICE = {
    "memory_off": "Go on without remembering, and don't offer to.",
    "not_found": "The id of a memory stands in front of it as [id:...]. Add it anew if it is gone.",
    "rejected_before": "Don't add it in other words.",
}
_FILING = frozenset({"category_not_allowed", "unknown_category"})


def run_tool(
    principal: Principal,
    name: str,
    arguments: object,
    *,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> ToolAnswer:
    """Execute a tool with a model's arguments: an object, or its JSON text.

    ``message_id`` of ``conversation_id`` is the message that led to the call. Invalid arguments and refusals are
    returned as answers for the model, without any change. Raises NotFound for an unknown tool, conversation or message,
    NotAllowed (403 ``missing_scope``), Gated (422 ``idempotency_mismatch``), IdempotentReplay.
    """
    if is_reading(name):
        policy.must_read(principal)
    else:
        policy.must_write(principal)
    tool = _find(name)
    try:
        sent = tool.read(arguments)
    except ValidationError as error:
        return tool.explain(error)
    if not tool.offered(principal):
        told = "The person does not want memory to be changed so. Go on without it."
        return ToolAnswer(False, told, {"code": "agentic_memory_off"})
    try:
        read_source(principal, conversation_id, message_id)
    except NotAllowed as refusal:
        return _answer_refusal(principal, tool, refusal, sent)
    try:
        return tool.run(Caller(principal, conversation_id, message_id), sent)
    except Refused as refusal:
        if refusal.code in _OF_THE_REQUEST or refusal.status >= 500:
            raise
        return _answer_refusal(principal, tool, refusal, sent)


def is_reading(name: str) -> bool:
    """Whether the tool exists and only reads."""
    return name in TOOLS and TOOLS[name].reads_only


def replay_tool(principal: Principal, name: str, arguments: object, record: IdempotencyRecord) -> ToolAnswer:
    """Answer a repeated request with the current state of the first one's result.

    Raises NotFound when that is gone.
    """
    tool = _find(name)
    return tool.replay(principal, tool.read(arguments), record)


def list_tools(principal: Principal, format: str = "plain") -> list[dict[str, Any]]:
    """Return the principal's tools in a provider's format; ``plain`` adds fields for programs.

    Only usable categories are offered. An agent without a category, or with memory off, has no tools.
    """
    usable = categories_of(principal)
    if not usable or (principal.kind == "agent" and not principal.has_memory):
        return []
    offered = [tool for tool in TOOLS.values() if tool.offered(principal)]
    return [_AS[format](tool, input_schema(tool, usable)) for tool in offered]


def categories_of(principal: Principal) -> list[str]:
    """Return the principal's categories in alphabetical order."""
    known = set(categories.load().by_name)
    return sorted(known if principal.categories is None else known & principal.categories)


@cache
def read_guidance() -> str:
    """Return the guidance on using the tools, for a model's instructions."""
    return (Path(__file__).parent / "guidance.md").read_text(encoding="utf-8")


def _as_plain(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "parameters": schema,
        "tags": list(tool.tags),
        "risk_level": tool.risk_level,
        "requires_confirmation": tool.requires_confirmation,
    }


def _as_anthropic(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": schema}


def _as_openai(tool: Tool[Any], schema: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": function}


_AS = {"plain": _as_plain, "anthropic": _as_anthropic, "openai": _as_openai}


def _find(name: str) -> Tool[Any]:
    if name not in TOOLS:
        raise NotFound("There is no such tool.")
    return TOOLS[name]


def _answer_refusal(
    principal: Principal, tool: Tool[Any], refusal: Refused, sent: Arguments | None = None
) -> ToolAnswer:
    """Return the answer for a refusal, with a hint for the model."""
    if principal.user_id is not None and not tool.reads_only:
        note_refusal(principal.user_id, refusal.code)
    data: dict[str, Any] = {"code": refusal.code, **refusal.extra}
    if refusal.code == "version_conflict":
        data["memory"] = brief(find_memory(principal, getattr(sent, "memory_id", "")))
    advice = tool.advice.get(refusal.code) or _ADVICE.get(refusal.code, "")
    if "memory" in data:
        known = data["memory"]
        advice = advice.format(named=named(known["id"], known["content"]), id=known["id"])
    if refusal.code in _FILING:
        data["categories"] = categories_of(principal)
        advice = f"Use one of: {', '.join(data['categories'])}."
    return ToolAnswer(False, f"Nothing was done. {refusal.detail} {advice}".strip(), data)

"""Memory as MCP tools, resources and prompts, and the notifications of a change."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mcp import MCPError, types
from mcp.server.subscriptions import ResourcesListChanged, ResourceUpdated, ServerEvent, ToolsListChanged
from mcp_types import INVALID_PARAMS

from accounts.policy import must_act_for, must_read
from accounts.principals import Principal
from assistant.tools import list_tools, read_guidance, run_tool
from assistant.tools.running import TOOLS
from journal.exceptions import NotAllowed, NotFound, must_find
from journal.models import Change
from language.fencing import RECALL_FENCE, as_said, fenced
from memories.actions import memories_show
from memories.api.answers import find_memory, show_memory
from memories.block import memory_block
from memories.models import Disclosure, Memory
from web.json import OrjsonRenderer, decoded

BLOCK = "memory://block"
MEMORY = "memory://memories/{id}"
_MEMORY = re.compile(r"memory://memories/([A-Za-z0-9]{8})")
_TITLE = 80
PER_PAGE = 100

# --- Tools ----------------------------------------------------------------------------------------------------------

_TITLES = {
    "add_to_memory": "Remember something",
    "update_memory": "Reword a memory",
    "memory_query": "Look something up in memory",
    "manage_user_memory": "Keep facts and places about the user",
    "update_user_memory": "Change what is remembered",
}
# These two can delete memories. Rewording is not destructive: it keeps the earlier version.
_TAKE_AWAY = frozenset({"manage_user_memory", "update_user_memory"})


def tools(principal: Principal) -> list[types.Tool]:
    """Return the caller's tools with their annotations."""
    return [_tool(each) for each in list_tools(principal)]


def _tool(definition: dict[str, Any]) -> types.Tool:
    name = definition["name"]
    reads_only = TOOLS[name].reads_only
    return types.Tool(
        name=name,
        title=_TITLES[name],
        description=definition["description"],
        input_schema=definition["parameters"],
        annotations=types.ToolAnnotations(
            title=_TITLES[name],
            read_only_hint=reads_only,
            destructive_hint=name in _TAKE_AWAY,
            # Adding the same words again finds the existing memory.
            idempotent_hint=True,
            open_world_hint=False,
        ),
    )


def call_tool(principal: Principal, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
    """Run a tool. A refusal is an error result, which the model can act on. Raises MCPError for an unknown tool."""
    try:
        answer = run_tool(principal, name, arguments)
    except NotFound as error:
        raise MCPError(INVALID_PARAMS, f"Unknown tool: {name[:100]}") from error
    except NotAllowed as refusal:
        return _result(refusal.detail, {"code": refusal.code}, is_error=True)
    return _result(answer.content, answer.data, is_error=not answer.ok)


def _result(text: str, data: dict[str, Any], *, is_error: bool) -> types.CallToolResult:
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], structured_content=decoded(_json(data)), is_error=is_error)


def _json(data: dict[str, Any]) -> str:
    """Format data as JSON without tags of prompts, since clients show it to their models as it is."""
    return as_said(OrjsonRenderer().render(data).decode())


# --- Resources ------------------------------------------------------------------------------------------------------


def resources(principal: Principal, after: str) -> types.ListResourcesResult:
    """List the block, then the active memories by id, ``PER_PAGE`` at a time. ``after``: last id of the page before.

    Listed memories are recorded as disclosed to the agent. Raises NotAllowed.
    """
    must_read(principal)
    must_act_for(principal)
    shown = [] if after else [_block()]
    rows = Memory.objects.visible_to(principal).without_vectors().active().order_by("pk")
    page = list(rows.filter(pk__gt=after)[: PER_PAGE + 1])
    listed = page[:PER_PAGE]
    memories_show(principal, Disclosure.By.QUERY, [each.pk for each in listed])
    shown += [_resource(each) for each in listed]
    return types.ListResourcesResult(resources=shown, next_cursor=listed[-1].pk if len(page) > PER_PAGE else None)


def _block() -> types.Resource:
    return types.Resource(
        uri=BLOCK,
        name="block",
        title="What is remembered",
        description="What every prompt should carry of the person's memory: put it into the model's instructions.",
        mime_type="text/markdown",
        annotations=types.Annotations(audience=["assistant"], priority=1.0),
    )


def _resource(memory: Memory) -> types.Resource:
    text = memory.content if len(memory.content) <= _TITLE else f"{memory.content[: _TITLE - 1]}…"
    return types.Resource(
        uri=MEMORY.replace("{id}", memory.pk),
        name=memory.pk,
        title=as_said(text),
        description=as_said(f"A memory of the category {memory.category}."),
        mime_type="application/json",
        annotations=types.Annotations(last_modified=memory.updated_at.isoformat(), priority=memory.importance / 5),
    )


TEMPLATES = types.ListResourceTemplatesResult(
    resource_templates=[
        types.ResourceTemplate(
            uri_template=MEMORY,
            name="memory",
            title="One memory",
            description="A memory by the 8 characters of its id, as it reads now.",
            mime_type="application/json",
        )
    ]
)


def read_resource(principal: Principal, uri: str) -> types.ReadResourceResult:
    """Read the block or a memory, and record the disclosure. Raises NotFound, also for what the caller may not see."""
    must_read(principal)
    if uri == BLOCK:
        block = memory_block(principal)
        memories_show(principal, Disclosure.By.CONTEXT, block.ids)
        return _contents(uri, "text/markdown", block.text)
    match = must_find(_MEMORY.fullmatch(uri), "resource")
    memory = find_memory(principal, match[1])
    memories_show(principal, Disclosure.By.QUERY, [memory.pk])
    return _contents(uri, "application/json", _json(show_memory(principal, memory)))


def _contents(uri: str, mime_type: str, text: str) -> types.ReadResourceResult:
    contents = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[contents])


def notifications_of(changes: Iterable[Change]) -> list[ServerEvent]:
    """Return the notifications for changes, each once."""
    events: dict[ServerEvent, None] = {}
    for change in changes:
        if change.object_type == "memory":
            events[ResourceUpdated(MEMORY.replace("{id}", change.object_id))] = None
            if change.event != Change.Event.UPDATE:
                events[ResourcesListChanged()] = None
        if change.object_type in {"agent", "preferences"}:
            events |= {ToolsListChanged(): None, ResourcesListChanged(): None}
        if change.object_type in {"memory", "place", "agent", "preferences"} or change.event == Change.Event.ERASE:
            events[ResourceUpdated(BLOCK)] = None
    return list(events)


# --- Prompts --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Prompt:
    title: str
    description: str
    argument: str = ""
    about: str = ""
    required: bool = False


_PROMPTS = {
    "with_memory": _Prompt(
        "Begin with what is remembered", "What is remembered about me, and how to use and keep it, for a conversation."
    ),
    "recall": _Prompt(
        "What do you remember about …?", "What is remembered about something.", "topic", "What to look for.", True
    ),
    "remember": _Prompt(
        "Remember this conversation",
        "Go through the conversation and keep what will matter later.",
        "topic",
        "What to look for; everything unless given.",
    ),
}
_RECALL = "This is what is remembered about {topic}. Tell me what matters of it, and what you would ask me to be sure."
_REMEMBER = (
    "Go through our conversation so far{about}. Keep what will still matter in later conversations with add_to_memory: "
    "one statement each, in the third person, only what I said myself. Look with memory_query first whether it is "
    "remembered already, and call update_memory for what has changed. Then tell me in one line each what you kept."
)


def prompts() -> types.ListPromptsResult:
    """List the prompts that a client can offer its user."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                title=each.title,
                description=each.description,
                arguments=[types.PromptArgument(name=each.argument, description=each.about, required=each.required)]
                if each.argument
                else [],
            )
            for name, each in _PROMPTS.items()
        ]
    )


def prompt(principal: Principal, name: str, arguments: dict[str, str]) -> types.GetPromptResult:
    """Render a prompt as messages. Raises MCPError for an unknown prompt or a missing argument."""
    must_read(principal)
    if name not in _PROMPTS:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name[:100]}")
    known = _PROMPTS[name]
    topic = " ".join(arguments.get("topic", "").split())
    if known.required and not topic:
        raise MCPError(INVALID_PARAMS, f"{name} needs {known.argument}.")
    if name == "recall":
        answer = run_tool(principal, "memory_query", {"query": topic, "top_k": 10})
        texts = [fenced(RECALL_FENCE, [answer.content]), _RECALL.format(topic=topic)]
    elif name == "remember":
        texts = [_REMEMBER.format(about=f", for what concerns {topic}" if topic else "")]
    else:
        block = memory_block(principal)
        memories_show(principal, Disclosure.By.CONTEXT, block.ids)
        texts = [read_guidance(), block.text or "Nothing is remembered yet."]
    messages = [types.PromptMessage(role="user", content=types.TextContent(type="text", text=each)) for each in texts]
    return types.GetPromptResult(description=known.description, messages=messages)

"""Tools with several operations: ``manage_user_memory`` (document) and ``update_user_memory`` (single memories)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from django.conf import settings
from pydantic import Field

from accounts.principals import Principal
from journal.models import IdempotencyRecord
from memories import actions
from memories.actions.places import LONGEST_NAME, LONGEST_NOTES
from memories.api.answers import find_memory, show_memory
from memories.api.places import find_place
from memories.document import memory_document
from memories.lines import line_tokens, place_line
from memories.models import Memory
from memories.policy.writing import MOST_TOPICS
from memories.records import NewMemory
from memories.serializers import PlaceSerializer

from .base import Caller, OperationArguments, Tool, ToolAnswer
from .remembering import (
    CONFLICTS,
    Content,
    MemoryId,
    Topic,
    named,
    named_place,
    remember,
    replay_add,
    replay_proposal,
    replay_update,
    reword,
    tell_proposal,
)

DEFAULT_CATEGORY = "context"


def deactivate(caller: Caller, memory_id: str) -> ToolAnswer:
    """Archive a memory, or propose it to the person."""
    change = actions.memory_archive(caller.principal, memory_id)
    if change.proposal is not None:
        return tell_proposal(caller.principal, change.proposal, change.memory)
    return _tell_deactivated(caller.principal, change.memory)


def _tell_deactivated(principal: Principal, memory: Memory) -> ToolAnswer:
    told = f"No longer remembered: {named(memory.pk, memory.content)}"
    return ToolAnswer(True, told, {"outcome": "deactivated", "memory": show_memory(principal, memory)})


def replay_deactivate(principal: Principal, record: IdempotencyRecord) -> ToolAnswer:
    """Return the memory's current state, or the proposal."""
    if record.object_type == "proposal":
        return replay_proposal(principal, record)
    return _tell_deactivated(principal, find_memory(principal, record.object_ids[0]))


# --- manage_user_memory ---------------------------------------------------------------------------------------------


class ManageUserMemory(OperationArguments):
    needs = {
        "add_fact": ("content",),
        "deactivate_fact": ("fact_id",),
        "add_poi": ("place_id", "place_name"),
        "get_memory": (),
    }
    may_take = {"add_fact": ("category",), "add_poi": ("notes",)}

    operation: Literal["add_fact", "deactivate_fact", "add_poi", "get_memory"] = Field(
        description="What to do. Each takes the arguments whose description begins with it."
    )
    content: Content = Field(
        "", description="add_fact: one statement in the third person that can be understood by itself."
    )
    category: str = Field(
        "", max_length=50, description=f"add_fact: what kind of statement it is; {DEFAULT_CATEGORY} unless given."
    )
    fact_id: MemoryId = Field("", description="deactivate_fact: the 8 characters after id: in the fact's line.")
    place_id: str = Field(
        "", max_length=LONGEST_NAME, description="add_poi: your own id for the place; the same id renames it."
    )
    place_name: str = Field("", max_length=LONGEST_NAME, description="add_poi: what the user calls the place.")
    notes: str = Field(
        "", max_length=LONGEST_NOTES, description="add_poi: what is worth knowing about it, such as the address."
    )


def manage(caller: Caller, sent: ManageUserMemory) -> ToolAnswer:
    """Execute the operation."""
    match sent.operation:
        case "add_fact":
            return remember(caller, NewMemory(content=sent.content, category=sent.category or DEFAULT_CATEGORY))
        case "deactivate_fact":
            return deactivate(caller, sent.fact_id)
        case "add_poi":
            return _add_place(caller, sent)
        case _:
            return _read(caller)


def _add_place(caller: Caller, sent: ManageUserMemory) -> ToolAnswer:
    added = actions.place_add(
        caller.principal,
        sent.place_id,
        sent.place_name,
        sent.notes,
        conversation_id=caller.conversation_id,
        message_id=caller.message_id,
    )
    if added.place is None or added.proposal is not None:
        return tell_proposal(caller.principal, added.proposal, added.place)
    return _tell_place(caller.principal, added.place.pk)


def _tell_place(principal: Principal, pk: UUID) -> ToolAnswer:
    place = find_place(principal, pk)
    told = f"This place is remembered: {named_place(place)}"
    return ToolAnswer(True, told, {"outcome": "kept", "place": dict(PlaceSerializer(place).data)})


def _read(caller: Caller) -> ToolAnswer:
    """Return the document, and its active part as text, with as many of the newest facts as fit into a memory block.

    ``place_id`` is in the data only, since no gate has checked it.
    """
    document = memory_document(caller.principal)
    facts = [f"- {named(each['id'], each['content'])}" for each in document["facts"] if each["is_active"]]
    places = [
        place_line(each["place_name"], each["notes"], len(each["mentioned_in"]))
        for each in document["placer_user_datapoints"]
    ]
    kept = _last_within(facts, settings.MEMORY_BLOCK_TOKENS)
    older = [f"({len(facts) - len(kept)} older ones are left out.)"] if len(kept) < len(facts) else []
    told = ["Facts:", *older, *(kept or ["None."]), "Places:", *(places or ["None."])]
    return ToolAnswer(True, "\n".join(told), document)


def _last_within(lines: list[str], tokens: int) -> list[str]:
    """Return the last lines within a token limit."""
    first = len(lines)
    for line in reversed(lines):
        tokens -= line_tokens(line)
        if tokens < 0:
            break
        first -= 1
    return lines[first:]


def replay_manage(principal: Principal, sent: ManageUserMemory, record: IdempotencyRecord) -> ToolAnswer:
    """What the first request did, as it is now."""
    if record.object_type == "place":
        return _tell_place(principal, UUID(record.object_ids[0]))
    if sent.operation == "add_fact":
        return replay_add(principal, sent, record)
    return replay_deactivate(principal, record)


MANAGE_USER_MEMORY = Tool(
    name="manage_user_memory",
    description=(
        "Keep facts about the user, and places they care about, that every later conversation should know. Use it when "
        "the user tells something lasting about themselves, names a place they go to, or asks you to remember "
        "something. When a fact has changed, deactivate it and add the new one."
    ),
    arguments=ManageUserMemory,
    run=manage,
    replay=replay_manage,
    advice=dict.fromkeys(
        CONFLICTS,
        'It is {named} If this takes its place, call deactivate_fact with fact_id "{id}" and then add_fact again. '
        "If it is something else, call add_to_memory with insist true.",
    ),
)

# --- update_user_memory ---------------------------------------------------------------------------------------------


class UpdateUserMemory(OperationArguments):
    needs = {"add": ("memory",), "update": ("memory_id", "memory"), "delete": ("memory_id",)}
    may_take = {"add": ("topics", "category")}

    operation: Literal["add", "update", "delete"] = Field(
        description="What to do. Each takes the arguments whose description names it."
    )
    memory: Content = Field(
        "", description="add, update: one statement in the third person that can be understood by itself."
    )
    memory_id: MemoryId = Field("", description="update, delete: the 8 characters after id: in the memory's line.")
    topics: list[Topic] = Field([], max_length=MOST_TOPICS, description="add: a few words to find it by.")
    category: str = Field(
        "", max_length=50, description=f"add: what kind of statement it is; {DEFAULT_CATEGORY} unless given."
    )


def change(caller: Caller, sent: UpdateUserMemory) -> ToolAnswer:
    """Add, update or archive one memory."""
    match sent.operation:
        case "add":
            category = sent.category or DEFAULT_CATEGORY
            return remember(caller, NewMemory(sent.memory, category, topics=tuple(sent.topics)))
        case "update":
            return reword(caller, sent.memory_id, sent.memory)
        case _:
            return deactivate(caller, sent.memory_id)


def replay_change(principal: Principal, sent: UpdateUserMemory, record: IdempotencyRecord) -> ToolAnswer:
    """What the first request did, as it is now."""
    if sent.operation == "add":
        return replay_add(principal, sent, record)
    if sent.operation == "update":
        return replay_update(principal, sent, record)
    return replay_deactivate(principal, record)


UPDATE_USER_MEMORY = Tool(
    name="update_user_memory",
    description=(
        "Change what is remembered about the user on purpose, in the middle of a task: add one memory, reword one that "
        "has changed, or delete one that no longer holds or that the user wants forgotten."
    ),
    arguments=UpdateUserMemory,
    run=change,
    replay=replay_change,
    offered=lambda principal: principal.kind != "agent" or principal.agentic_memory,
    advice=dict.fromkeys(
        CONFLICTS,
        'It is {named} If this is news about it, call update with memory_id "{id}". If it is something else, call '
        "add_to_memory with insist true.",
    ),
)

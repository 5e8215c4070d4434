"""The tools ``add_to_memory`` and ``update_memory``."""

from __future__ import annotations

import re
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, JsonValue

from accounts.principals import Principal
from journal.models import Change, IdempotencyRecord
from language.fencing import as_data
from memories import actions
from memories.api.answers import find_memory, outcome_of, show_memory
from memories.api.proposals import find_proposal
from memories.lines import place_line
from memories.models import Memory, Place, Proposal
from memories.policy.writing import LONGEST_PROCEDURE, MOST_TOPICS
from memories.records import NewMemory, why_it_waits
from memories.serializers import ProposalSerializer
from statements.policy.form import LONGEST, SHORTEST
from statements.policy.resembling import reason_shown

from .base import Arguments, Caller, Tool, ToolAnswer

_ID = re.compile(r"\[?(?:id:)?\s*([A-Za-z0-9]{8})\]?")


def _bare_id(sent: Any) -> Any:
    """Strip the decoration of the memory block from an id."""
    match = _ID.fullmatch(sent.strip()) if isinstance(sent, str) else None
    return match[1] if match else sent


MemoryId = Annotated[str, Field(pattern="^[A-Za-z0-9]{8}$"), BeforeValidator(_bare_id)]
Content = Annotated[str, Field(min_length=SHORTEST, max_length=LONGEST)]
MemoryContent = Annotated[str, Field(min_length=SHORTEST, max_length=LONGEST_PROCEDURE)]
"""A statement or the steps of a procedure. The action refuses a statement of over ``LONGEST`` characters."""
Topic = Annotated[str, Field(max_length=50)]

# --- add_to_memory --------------------------------------------------------------------------------------------------


class AddToMemory(Arguments):
    content: MemoryContent = Field(
        description="One statement in the third person that can be understood by itself, e.g. Alec is the user's boss. "
        f"At most {LONGEST} characters; numbered steps of a procedure {LONGEST_PROCEDURE}."
    )
    category: str = Field(max_length=50, description="What kind of statement it is.")
    subject: str = Field("", max_length=200, description="Whom or what it is about, if not the user: a name.")
    topics: list[Topic] = Field([], max_length=MOST_TOPICS, description="A few words to find it by.")
    importance: int = Field(2, ge=1, le=5, description="1 is a detail, 5 must never be forgotten.")
    field: str = Field(
        "",
        max_length=20,
        description="Only when it is this about the user themselves. It then waits until they confirm it.",
        json_schema_extra={"enum": list[JsonValue](Memory.Field.values)},
    )
    insist: bool = Field(
        False, description="Add it although a similar memory exists. Only after an answer that named that memory."
    )


def add(caller: Caller, sent: AddToMemory) -> ToolAnswer:
    """Add a memory."""
    new = NewMemory(
        content=sent.content,
        category=sent.category,
        subject=sent.subject,
        topics=tuple(sent.topics),
        importance=sent.importance,
        field=sent.field,
    )
    return remember(caller, new, insist=sent.insist)


def remember(caller: Caller, new: NewMemory, *, insist: bool = False) -> ToolAnswer:
    """Add a memory, and describe the outcome."""
    outcome = actions.memory_add(
        caller.principal,
        new,
        insist=insist,
        conversation_id=caller.conversation_id,
        message_id=caller.message_id,
    )
    return _tell_outcome(caller.principal, outcome.outcome, outcome.memory)


_OUTCOMES = {
    "created": "Remembered: {memory}",
    "reinforced": "This was remembered already: {memory}",
    "proposed": "Proposed: {memory} It is used once the person approves it; don't add it again.",
    "quarantined": "Held back until staff have looked at it, and in no prompt: {memory} Don't add it again.",
}


def _tell_outcome(principal: Principal, outcome: str, memory: Memory) -> ToolAnswer:
    told = _OUTCOMES[outcome].format(memory=named(memory.pk, memory.content))
    if outcome == "proposed":
        reason = why_it_waits(memory.state, memory.field, reason_shown(principal, memory.state_reason))
        told = f"{told} {reason}".rstrip()
    return ToolAnswer(True, told, {"outcome": outcome, "memory": show_memory(principal, memory)})


def replay_add(principal: Principal, sent: Arguments, record: IdempotencyRecord) -> ToolAnswer:
    """Return the outcome of the first request, with the memory's current state."""
    memory = find_memory(principal, record.object_ids[0])
    return _tell_outcome(principal, outcome_of(record, memory), memory)


CONFLICTS = ("subject_exists", "similar_exists")
"""Codes of refusals that name a memory to change instead."""

ADD_TO_MEMORY = Tool(
    name="add_to_memory",
    description=(
        "Remember something new about the user or their world for later conversations. Ask the user first, unless they "
        "asked for it themselves. When what is remembered has changed, call update_memory instead."
    ),
    arguments=AddToMemory,
    run=add,
    replay=replay_add,
    advice=dict.fromkeys(
        CONFLICTS,
        'It is {named} If this is news about it, call update_memory with memory_id "{id}" and the new content. '
        "If it is something else, call add_to_memory again with insist true.",
    ),
)

# --- update_memory --------------------------------------------------------------------------------------------------


class UpdateMemory(Arguments):
    memory_id: MemoryId = Field(description="The 8 characters after id: in the memory's line.")
    content: MemoryContent = Field(description="What is so now, as a whole statement in the third person.")
    version: int = Field(
        0, ge=1, description="The version that you saw, to be told when somebody changed it meanwhile."
    )
    correction: bool = Field(
        False, description="Whether the old content was never right; otherwise it was right until now."
    )


def update(caller: Caller, sent: UpdateMemory) -> ToolAnswer:
    """Update a memory's wording."""
    return reword(caller, sent.memory_id, sent.content, version=sent.version or None, correction=sent.correction)


def reword(
    caller: Caller, memory_id: str, content: str, *, version: int | None = None, correction: bool = False
) -> ToolAnswer:
    """Update a memory's wording, and report the old and the new one."""
    changed = actions.memory_update(
        caller.principal,
        memory_id,
        content,
        version=version,
        correction=correction,
        conversation_id=caller.conversation_id,
        message_id=caller.message_id,
    )
    if changed.proposal is not None:
        return tell_proposal(caller.principal, changed.proposal, changed.memory)
    return _tell_update(
        caller.principal, changed.memory, {"content": changed.previous_content, "version": changed.previous_version}
    )


def _tell_update(principal: Principal, memory: Memory, previous: dict[str, Any]) -> ToolAnswer:
    told = f"Updated {named(memory.pk, memory.content)} Until now it said: {as_data(previous['content'])}"
    data = {"outcome": "updated", "memory": show_memory(principal, memory), "previous": previous}
    return ToolAnswer(True, told, data)


def replay_update(principal: Principal, sent: Arguments, record: IdempotencyRecord) -> ToolAnswer:
    """Return the memory's current state and its wording before the first request, or the proposal."""
    if record.object_type == "proposal":
        return replay_proposal(principal, record)
    memory = find_memory(principal, record.object_ids[0])
    changes = Change.objects.of_owner(memory.user_id).filter(object_type="memory", object_id=memory.pk, event="UPDATE")
    change = changes.filter(rev__lte=record.rev).order_by("-rev")[0]
    before = memory.versions.get(number=change.old_version or 1)
    return _tell_update(principal, memory, {"content": before.content, "version": before.number})


UPDATE_MEMORY = Tool(
    name="update_memory",
    description=(
        "Give a memory new content when what it says has changed or was wrong. Its id stays, and what it said before "
        "is kept. There is no need to ask the user first."
    ),
    arguments=UpdateMemory,
    run=update,
    replay=replay_update,
    advice={
        "version_conflict": "It reads now: {named} Call update_memory again if your content still holds.",
        "wrong_state": "Don't update it. Add it anew if the user says so.",
    },
)

# --- How memories, places and proposals are told --------------------------------------------------------------------


def named(memory_id: str, content: str) -> str:
    """Format a memory for a model: id and escaped content, ending like a sentence."""
    text = as_data(content)
    return f"[id:{memory_id}] {text}" if text.endswith((".", "!", "?", "…")) else f"[id:{memory_id}] {text}."


def named_place(place: Place) -> str:
    """Format a place for a model."""
    return place_line(place.name, place.notes, 0).removeprefix("- ")


def tell_proposal(principal: Principal, proposal: Proposal | None, about: Memory | Place | None) -> ToolAnswer:
    """Describe a proposal, and the current wording of its memory or place."""
    told = "This waits until the person approves it; don't ask for it again."
    if about is not None:
        reads = named(about.pk, about.content) if isinstance(about, Memory) else named_place(about)
        told += f" Until then it reads as before: {reads}"
    shown = dict(ProposalSerializer(proposal, context={"principal": principal}).data)
    return ToolAnswer(True, told, {"outcome": "proposed", "proposal": shown})


def replay_proposal(principal: Principal, record: IdempotencyRecord) -> ToolAnswer:
    """Describe the current state of a proposal. Raises NotFound if it is gone."""
    proposal = find_proposal(principal, UUID(record.object_ids[0]))
    return tell_proposal(principal, proposal, proposal.memory)

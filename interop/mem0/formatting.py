"""Convert memories, histories and jobs to mem0's response format, and its messages to texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from journal.exceptions import Refused
from journal.models import JobRun
from memories.models import Memory, MemoryVersion
from memories.policy.writing import State

ENTITY_KEYS = {"agent_id": "mem0_agent_id", "app_id": "mem0_app_id"}
"""The metadata keys that hold mem0's agent and app, which are names chosen by the client."""

EVENT_STATES = {
    JobRun.State.WAITING: "PENDING",
    JobRun.State.RUNNING: "RUNNING",
    JobRun.State.DONE: "SUCCEEDED",
}


def memory_json(memory: Memory, user: str, **more: Any) -> dict[str, Any]:
    """Convert a memory. ``user`` is the user_id to show, ``more`` are further keys."""
    metadata = {name: value for name, value in memory.metadata.items() if name not in ENTITY_KEYS.values()}
    return {
        "id": memory.pk,
        "memory": memory.content,
        "user_id": user,
        **{name: memory.metadata.get(key) for name, key in ENTITY_KEYS.items()},
        "run_id": memory.run_id or None,
        "metadata": metadata or None,
        "categories": [memory.category],
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expiration_date": memory.expires_at.date() if memory.expires_at else None,
        **({} if memory.state == State.ACTIVE else {"state": memory.state}),
        **more,
    }


def history_json(memory: Memory, versions: Iterable[MemoryVersion], user: str) -> Iterator[dict[str, Any]]:
    """Yield the history of a memory, the first version first, a deletion last."""
    of = {"memory_id": memory.pk, "user_id": user, "input": None, "categories": [memory.category], "metadata": None}
    before: str | None = None
    for version in versions:
        event, now, at = "ADD" if version.number == 1 else "UPDATE", version.content, version.recorded_from
        what = {"event": event, "old_memory": before, "new_memory": now, "created_at": at, "updated_at": at}
        yield {"id": f"{memory.pk}-{version.number}", **of, **what}
        before = now
    if memory.deleted_at is not None:
        at = memory.deleted_at
        what = {"event": "DELETE", "old_memory": before, "new_memory": None, "created_at": at, "updated_at": at}
        yield {"id": f"{memory.pk}-end", **of, **what}


def event_json(job: JobRun, learned: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Convert a job with the memories that it has created so far."""
    return {
        "id": str(job.pk),
        "event_id": str(job.pk),
        "event_type": "ADD",
        "status": EVENT_STATES.get(JobRun.State(job.state), "FAILED"),
        "created_at": job.created_at,
        "completed_at": job.finished_at,
        "results": [*learned],
    }


def texts_of(messages: Any) -> list[tuple[str, str]]:
    """Return messages as pairs of role and text. A plain string is a message of the user. Raises Refused (400)."""
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    if isinstance(messages, Mapping):
        messages = [messages]
    if not isinstance(messages, list) or not messages:
        raise Refused("messages is a list of at least one message with role and content.", code="bad_messages")
    return [_text_of(each) for each in messages]


def _text_of(message: Any) -> tuple[str, str]:
    if isinstance(message, str):
        return "user", message
    if not isinstance(message, Mapping) or message.get("role", "user") not in {"user", "assistant", "system"}:
        raise Refused("A message has the role user, assistant or system, and content.", code="bad_messages")
    content = message.get("content")
    if isinstance(content, list):
        parts = [each.get("text") for each in content if isinstance(each, Mapping) and each.get("type") == "text"]
        content = "\n".join(each for each in parts if isinstance(each, str)) if len(parts) == len(content) else None
    if not isinstance(content, str):
        raise Refused("The content of a message is a text.", code="bad_messages")
    return str(message.get("role", "user")), content

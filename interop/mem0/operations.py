"""Operations of mem0's API, implemented with Keepsake's actions and querysets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count
from django.utils import timezone

from accounts.models import ExternalIdentity
from accounts.policy import must_read, must_remember
from accounts.principals import Principal
from assistant.learn.summarizing import conversation_finish
from conversations.actions import NewMessage, conversation_create, messages_append
from journal.exceptions import NotFound, Refused
from memories import actions
from memories.api.answers import find_memory
from memories.conditions import q_of
from memories.models import Memory
from memories.querysets import MemoryQuerySet
from memories.records import Addition, NewMemory, Outcome

from .filters import condition_of
from .formatting import ENTITY_KEYS, texts_of
from .parsing import MOST_AT_ONCE, day_of, metadata_of, object_of, text_of
from .people import ANYBODY, shown_user_id

CATEGORY = "knowledge"
"""The category of memories added verbatim. It is not in the memory block, only found by recall."""

CHANNEL = "mem0"
LONGEST_RUN = 100


def add(principal: Principal, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Add messages verbatim (``infer`` false), or store them and extract memories in the background.

    Returns mem0's response body. Raises Refused (400) for a bad body, and what the actions raise.
    """
    texts = texts_of(sent.get("messages"))
    metadata = metadata_of(sent)
    run_id = text_of(sent, "run_id")
    if len(run_id) > LONGEST_RUN:
        raise Refused(f"A run_id has at most {LONGEST_RUN} characters.", code="bad_body")
    infer = sent.get("infer")
    if infer is not None and not isinstance(infer, bool):
        raise Refused("infer is true or false.", code="bad_body")
    if infer is False:
        expires_at = day_of(sent["expiration_date"]) if sent.get("expiration_date") else None
        additions = [
            Addition(NewMemory(text, CATEGORY, verbatim=True, metadata=metadata, run_id=run_id, role=role,
                               expires_at=expires_at))
            for role, text in texts if role != "system"
        ]  # fmt: skip
        outcomes = actions.memories_add(principal, additions)
        refused = next((each for each in outcomes if isinstance(each, Refused)), None)
        if refused is not None and all(isinstance(each, Refused) for each in outcomes):
            raise refused
        return {"results": [_added(each) for each in outcomes]}
    if not any(role == "user" for role, _ in texts):
        raise Refused(
            "Nothing is learned without a message of the user. Send infer=false to keep it.", code="bad_messages"
        )
    conversation = conversation_create(principal, channel=CHANNEL, external_id=run_id)
    messages_append(principal, conversation.pk, [NewMessage(role, text) for role, text in texts])
    job = conversation_finish(principal, conversation.pk)
    event = {"status": "PENDING" if job else "SUCCEEDED", "event_id": str(job.pk) if job else None}
    return {"message": "Memory processing has been queued for background execution", **event, "results": [event]}


def _added(outcome: Outcome | Refused) -> dict[str, Any]:
    if isinstance(outcome, Refused):
        return {"event": "NONE", "error": outcome.detail, "code": outcome.code}
    memory = outcome.memory
    told = {"id": memory.pk, "memory": memory.content, "data": {"memory": memory.content}, "event": "ADD"}
    return told if outcome.outcome == "created" else {**told, "state": memory.state}


def change(principal: Principal, memory_id: str, sent: Mapping[str, Any]) -> Memory:
    """Change a memory's text, metadata or expiry. Raises Refused (400) for other keys, e.g. a timestamp, NotFound."""
    known = {"text", "memory_id", "metadata", "expiration_date", "org_id", "project_id"}
    if set(sent) - known or not set(sent) & {"text", "metadata", "expiration_date"}:
        raise Refused("Send text, metadata or expiration_date.", code="bad_update")
    memory = find_undeleted(principal, memory_id)
    metadata = None
    if sent.get("metadata") is not None:
        kept = {name: memory.metadata[name] for name in ENTITY_KEYS.values() if name in memory.metadata}
        metadata = {**object_of(sent["metadata"]), **kept}
    if "expiration_date" in sent:
        day = sent["expiration_date"]
        memory = actions.memory_amend(principal, memory_id, expires_at=day_of(day) if day else None).memory
    if sent.get("text") is not None:
        text = text_of(sent, "text")
        return actions.memory_update(principal, memory_id, text, verbatim=True, metadata=metadata).memory
    if metadata is not None:
        return actions.memory_amend(principal, memory_id, metadata=metadata).memory
    return memory


def delete_each(principal: Principal, ids: Sequence[str]) -> Counter[str]:
    """Archive memories by id. Returns how many had each outcome."""
    outcomes: Counter[str] = Counter()
    for start in range(0, len(ids), MOST_AT_ONCE):
        outcomes.update(each.outcome for each in actions.memories_delete(principal, ids[start : start + MOST_AT_ONCE]))
    return outcomes


def message_of(done: str, outcomes: Mapping[str, int]) -> str:
    """Return the message of a deletion: ``done``, unless some of it waits for the person's approval."""
    if not outcomes["proposed"]:
        return done
    return f"Waiting for the person's approval: {outcomes['proposed']}. Deleted: {outcomes['archived']}."


def delete_all(principal: Principal, scope: Mapping[str, str]) -> Counter[str]:
    """Archive a person's memories, filtered by the scope's agent, app and run if given. Returns as ``delete_each``.

    Raises Refused (400 ``unscoped``) for a name that is blank or ``*``.
    """
    if not all(name.strip() not in {"", ANYBODY} for name in scope.values()):
        raise Refused("A scope names one of each.", code="unscoped")
    must_remember(principal)
    rows = Memory.objects.visible_to(principal).filter(state__in=["active", "proposed"])
    condition = condition_of(principal, {name: value for name, value in scope.items() if name != "user_id"})
    ids = [*(rows.filter(q_of(condition)) if condition else rows).order_by("pk").values_list("pk", flat=True)]
    return delete_each(principal, ids)


def matching_memories(principal: Principal, filters: Any) -> MemoryQuerySet:
    """Return the active, unexpired memories that match the filters. Raises Refused, NotAllowed."""
    must_read(principal)
    rows = Memory.objects.visible_to(principal).without_vectors().active().unexpired(timezone.now())
    condition = condition_of(principal, filters)
    return rows.filter(q_of(condition)) if condition else rows


def find_undeleted(principal: Principal, memory_id: str) -> Memory:
    """Return a memory that is not deleted. Raises NotFound."""
    memory = find_memory(principal, memory_id)
    if memory.deleted_at is not None:
        raise NotFound("There is no such memory.")
    return memory


class EntityList(Sequence[tuple[str, str, int | None]]):
    """A sequence of (kind, name, number of memories): users, then the person's runs, agents and apps.

    For a service the users are those it has named (count None), else the key's owner. A slice reads only its users.
    """

    def __init__(self, principal: Principal) -> None:
        self._known = ExternalIdentity.objects.filter(issuer=principal.issuer).order_by("external_id")
        if not principal.service:
            self._known = self._known.none()
        self._people = self._known.count()
        self._parts = [*(() if principal.service else _owner(principal)), *_parts(principal)]

    def __len__(self) -> int:
        return self._people + len(self._parts)

    def __getitem__(self, wanted: Any) -> Any:
        start, stop, _ = wanted.indices(len(self))
        names = self._known.values_list("external_id", flat=True)[start:stop] if start < self._people else ()
        past = self._parts[max(0, start - self._people) : max(0, stop - self._people)]
        return [*(("user", name, None) for name in names), *past]


def _owner(principal: Principal) -> Iterator[tuple[str, str, int | None]]:
    yield "user", shown_user_id(principal, None), Memory.objects.visible_to(principal).active().count()


def _parts(principal: Principal) -> Iterator[tuple[str, str, int | None]]:
    rows = Memory.objects.visible_to(principal).active().order_by()
    of = {"run": rows.exclude(run_id="").values_list("run_id")}
    for name, key in ENTITY_KEYS.items():
        of[name.removesuffix("_id")] = rows.filter(metadata__has_key=key).values_list(f"metadata__{key}")
    for kind, named in of.items():
        for entity, count in sorted(named.annotate(Count("pk")), key=str):
            yield kind, str(entity), count

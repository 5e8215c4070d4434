"""The extent of an erasure: everything derived from its object, without what has other evidence. Reads only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet

from accounts.principals import PLACEHOLDER_USER
from conversations.models import Conversation, ConversationImport, Message
from facts.models import LegacyFact
from journal.holdings import ERASED_TEXT
from journal.models import Erasure
from memories.models import (
    Kind,
    Memory,
    Place,
    Proposal,
    Relation,
)
from retrieval.prepared import PreparedStatement, Rows, Shaped, build_statement, read
from statements.policy import fingerprint

SCOPES = ("memory", "fact", "place", "message", "conversation", "import", "membership", "everything")
WITH_IT = ("memory", "fact", "place")
"""What an erasure can take along because it says the same; ``Erasure.also`` names it."""
_IDS: Mapping[str, Callable[[str], Any]] = {"memories": str, "versions": int}
"""How an id is read, for kinds whose ids are no UUIDs."""
_SQL = Path(__file__).parent / "sql"

COUNTED: Mapping[str, type[Model]] = {
    "conversations": Conversation,
    "messages": Message,
    "memories": Memory,
    "facts": LegacyFact,
    "places": Place,
    "proposals": Proposal,
    "imports": ConversationImport,
}
"""What a preview counts, by the names of ``Extent``; all are rows of the person."""


@dataclass(slots=True)
class Extent:
    """The ids to erase, by kind. ``versions`` keep their rows, without text, and so do ``alike`` and
    ``fact_versions``: earlier wordings of other memories and facts that have the words of an erased one.

    ``messages`` keep their rows, without text, except those of ``conversations``.
    """

    conversations: set[UUID] = field(default_factory=set)
    messages: set[UUID] = field(default_factory=set)
    memories: set[str] = field(default_factory=set)
    versions: set[int] = field(default_factory=set)
    alike: set[int] = field(default_factory=set)
    facts: set[UUID] = field(default_factory=set)
    fact_versions: set[int] = field(default_factory=set)
    places: set[UUID] = field(default_factory=set)
    proposals: set[UUID] = field(default_factory=set)
    plan_items: set[UUID] = field(default_factory=set)
    legacies: set[UUID] = field(default_factory=set)
    imports: set[UUID] = field(default_factory=set)


def extent_of(erasure: Erasure) -> Extent:
    """Return the extent of an erasure. Empty if the object is gone; of everything only what is counted beforehand."""
    user_id, wanted = erasure.user_id, erasure.object_id
    extent = Extent()
    if erasure.scope == "everything":
        for name, model in COUNTED.items():
            setattr(extent, name, _ids(model._base_manager.filter(user_id=user_id)))
        return extent
    for scope, object_id in [*([(erasure.scope, wanted)] if erasure.scope in WITH_IT else []), *erasure.also]:
        _add_statement(extent, user_id, scope, object_id)
    if erasure.scope == "message":
        extent.messages |= _own(Message, user_id, UUID(wanted))
    elif erasure.scope == "conversation":
        extent.conversations |= _own(Conversation, user_id, UUID(wanted))
    elif erasure.scope == "import":
        extent.imports |= _own(ConversationImport, user_id, UUID(wanted))
    elif erasure.scope == "membership":
        extent.facts |= _ids(LegacyFact.objects.filter(user_id=user_id, legacy_id=wanted))
        extent.conversations |= _ids(Conversation.objects.filter(user_id=user_id, legacy_id=wanted))
        extent.legacies.add(UUID(wanted))
    _follow(extent)
    _follow_words(extent, user_id)
    return extent


def _add_statement(extent: Extent, user_id: UUID, scope: str, wanted: str) -> None:
    if scope == "memory":
        extent.memories |= _own(Memory, user_id, wanted)
    elif scope == "fact":
        extent.facts |= _own(LegacyFact, user_id, UUID(wanted))
    else:
        _add_place(extent, user_id, wanted)


def _add_place(extent: Extent, user_id: UUID, wanted: str) -> None:
    """Add a place with its proposals. Messages that name it stay."""
    for pk, name in Place.objects.filter(user_id=user_id, pk=wanted).values_list("pk", "place_id"):
        extent.places.add(pk)
        waiting = Proposal.objects.filter(user_id=user_id, kind=Proposal.Kind.PLACE, values__place_id=name)
        extent.proposals |= _ids(waiting)


def _follow(extent: Extent) -> None:
    if extent.conversations or extent.messages or extent.facts:
        given = ("conversations", "messages", "facts", "proposals")
        values = {name: list(getattr(extent, name)) for name in given}
        _add(extent, _statement("follow").run({**values, "whole": [Kind.EPISODIC.value, Kind.INSIGHT.value]}))
    if extent.memories:
        made = {"memories": list(extent.memories), "made": Relation.Type.DERIVED_FROM.value}
        _add(extent, _statement("follow_memories").run(made))


def _add(extent: Extent, found: Rows) -> None:
    for kind, pk in found:
        getattr(extent, kind).add(_IDS.get(kind, UUID)(pk))


@cache
def _statement(name: str) -> PreparedStatement:
    return build_statement((_SQL / f"{name}.sql").read_text(encoding="utf-8"), {}, lasting=True)


def _follow_words(extent: Extent, user_id: UUID) -> None:
    """Add the earlier wordings of the person's other memories and facts that have the words of an erased one."""
    if not (extent.memories or extent.versions or extent.facts):
        return
    given = {name: list(getattr(extent, name)) for name in ("memories", "versions", "facts")}
    found = _statement("wordings").run({"user": user_id, **given})
    words = {fingerprint(user_id, content) for kind, _, content in found if kind == "gone" and content != ERASED_TEXT}
    for kind, pk, content in found if words else ():
        if kind != "gone" and fingerprint(user_id, content) in words:
            getattr(extent, kind).add(pk)


def _own(model: type[Model], user_id: UUID, pk: UUID | str) -> set[Any]:
    """Return the id if the row is the person's and present."""
    mine = Shaped(model, lambda: model._default_manager.filter(user_id=PLACEHOLDER_USER), {PLACEHOLDER_USER: user_id})
    return {each for (each,) in read(mine.one(pk), ("pk",))}


def _ids(rows: QuerySet[Any]) -> set[Any]:
    return set(rows.values_list("pk", flat=True))

"""Marks in recalled messages: sentences that the person corrected since, replaced, or said to be untrue."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, Value
from django.db.models.functions import Now

from conversations.models import Message
from conversations.passages import MARK, Original
from conversations.searching import TurnRow
from facts.models import FactEvidence
from memories.models import MemoryEvidence
from memories.policy.writing import Why

Key = TypeVar("Key")

UNTRUE, CORRECTED, CHANGED = " [said to be untrue]", " [since corrected]", " [since changed]"


def mark_turns(turns: Mapping[Key, TurnRow]) -> dict[Key, TurnRow]:
    """Return recalled messages with a mark after each sentence that is no longer so. Runs one statement."""
    marks = _marks({row.pk for row in turns.values() if row.role == Message.Role.USER})
    return {key: _marked(row, marks[row.pk]) if row.pk in marks else row for key, row in turns.items()}


def _marked(row: TurnRow, quotes: Mapping[str, str]) -> TurnRow:
    text = Original(row.content)
    ends = {span.end: mark for quote, mark in quotes.items() for span in text.holding(quote)}
    content = row.content
    for end in sorted(ends, reverse=True):
        content = content[:end] + ends[end] + content[end:]
    return replace(row, content=content)


def _marks(message_ids: Iterable[UUID]) -> dict[UUID, dict[str, str]]:
    """Return the mark of each quotation, by message: of rejected statements, and of wordings that were replaced."""
    ids = list(message_ids)
    if not ids:
        return {}
    still = MemoryEvidence.objects.filter(
        message=OuterRef("message"), version__recorded_to__isnull=True, version__memory__state="active"
    )
    of_memories = MemoryEvidence.objects.filter(
        Q(version__memory__state="rejected")
        | (Q(version__recorded_to__isnull=False) | Q(version__memory__deleted_why=Why.REPLACED))
        & ~Exists(still.filter(quote=OuterRef("quote"))),
        message__in=ids,
    )
    of_facts = FactEvidence.objects.filter(fact__state="rejected", message__in=ids)
    told = of_memories.values_list("message_id", "quote", F("version__memory__state"), F("version__valid_to"))
    facts = of_facts.values_list("message_id", "quote", Value("rejected"), Now())
    found: dict[UUID, dict[str, str]] = defaultdict(dict)
    for message_id, quote, state, valid_to in told.union(facts):
        if quote != MARK:  # What is not kept: the sentences around it stay as true as they were.
            found[message_id][quote] = UNTRUE if state == "rejected" else CHANGED if valid_to else CORRECTED
    return found

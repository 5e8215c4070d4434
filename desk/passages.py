"""Quotations with the talk around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from accounts.principals import Principal
from conversations.models import Message

from .excerpts import shorten
from .quotations import Quotation

QUOTED_TURNS = 3
TURNS_BEFORE, TURNS_AFTER = 2, 1
TURN_CHARACTERS = 280


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of the talk near a quoted one, cut to what a glance takes in."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A quotation with the turns before and after it."""

    quotation: Quotation
    before: list[Turn]
    after: list[Turn]


def make_passages(principal: Principal, quotations: Sequence[Quotation]) -> Iterator[Passage]:
    """The quotations in their talk, the first few with the turns around them, in one query."""
    closely = quotations[:QUOTED_TURNS]
    around = _turns_around(principal, closely)
    for quotation in quotations:
        here = quotation.number - 1
        turns = around.get(quotation.conversation_id, {}) if quotation in closely else {}
        before = [turns[index] for index in range(here - TURNS_BEFORE, here) if index in turns]
        after = [turns[index] for index in range(here + 1, here + 1 + TURNS_AFTER) if index in turns]
        yield Passage(quotation, before, after)


def _turns_around(principal: Principal, quotations: Iterable[Quotation]) -> dict[UUID, dict[int, Turn]]:
    """Turns by conversation and index, in one query."""
    near = [
        Q(conversation_id=each.conversation_id)
        & Q(index__gte=each.number - 1 - TURNS_BEFORE, index__lte=each.number - 1 + TURNS_AFTER)
        for each in quotations
    ]
    if not near:
        return {}
    rows = Message.objects.visible_to(principal).filter(reduce(or_, near))
    found: dict[UUID, dict[int, Turn]] = {}
    for row in rows.only("conversation_id", "index", "role", "speaker", "content"):
        speaker = "You" if row.role == Message.Role.USER else row.speaker or "The agent"
        found.setdefault(row.conversation_id, {})[row.index] = Turn(speaker, shorten(row.content, TURN_CHARACTERS))
    return found

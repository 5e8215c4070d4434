"""Hiding from agents what waits for its erasure, by the person's own decisions, which one undo takes back."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from accounts.principals import Principal
from conversations.actions import Cause, PassagePlace, passages_withhold
from conversations.actions.withholding import MOST_PASSAGES
from conversations.models import Conversation, Message
from facts.actions import facts_hide
from journal.ledgers import lock_ledgers
from journal.models import Erasure
from journal.steps import Span, watch_revisions
from journal.undo import undo
from memories.actions import memories_hide, place_remove
from memories.models import Place

from ..learn.actions import message_decline
from .extent import Extent, extent_of

MOST_WITHHELD = 100
"""Messages of a conversation that is withheld as a whole. A longer one stays readable until it is erased."""
_HIDDEN = frozenset({"memory", "fact", "place", "message", "conversation"})


def hide(person: Principal, erasure: Erasure, passages: Sequence[PassagePlace], *, waits: bool) -> list[Span]:
    """Withhold the passages, and if the erasure ``waits`` all that it includes. Returns the revisions to undo.

    Memories, facts and places are archived, without withholding what they were learned from. Raises Refused.
    """
    with watch_revisions(person.user_id) as taken:
        if waits and erasure.scope in _HIDDEN:
            _hide(person, erasure, extent_of(erasure))
        if passages:
            passages_withhold(person, passages, _cause_of(erasure))
    return taken.spans


def _cause_of(erasure: Erasure) -> Cause:
    """Because of what passages are withheld: for a conversation the last that the person said in it."""
    if erasure.scope != "conversation":
        return Cause(erasure.scope, erasure.object_id)
    said = Message.objects.filter(conversation=UUID(erasure.object_id), role=Message.Role.USER)
    return Cause("message", str(said.order_by("-index").values_list("pk", flat=True)[0]))


def _hide(person: Principal, erasure: Erasure, extent: Extent) -> None:
    if extent.memories:
        memories_hide(person, extent.memories)
    if extent.facts:
        facts_hide(person, extent.facts)
    for place in Place.objects.visible_to(person).present().filter(pk__in=extent.places):
        place_remove(person, place.pk)
    if erasure.scope == "message":
        said = Message.objects.visible_to(person).filter(pk=UUID(erasure.object_id))
        for conversation_id, index in said.values_list("conversation_id", "index"):
            keep_words_back(person, conversation_id, index)
    elif erasure.scope == "conversation":
        short = Conversation.objects.visible_to(person).filter(message_count__range=(1, MOST_WITHHELD))
        for talk in short.filter(pk=UUID(erasure.object_id)):
            keep_words_back(person, talk.pk)
            if talk.title:
                passages_withhold(person, [PassagePlace(talk.pk, None, "")])


def keep_words_back(principal: Principal, conversation_id: UUID, index: int | None = None) -> None:
    """Withhold a message, or each of a conversation, and archive unreviewed statements learned from the person's.

    Raises NotFound, NotYoursToDecide, Refused. Messages are withheld one by one; those done stay so if one is refused.
    """
    rows = Message.objects.visible_to(principal).filter(conversation=conversation_id, declined=False).order_by("index")
    rows = rows if index is None else rows.filter(index=index)
    others = []
    for place, role in list(rows.values_list("index", "role")):
        if role == Message.Role.USER:
            message_decline(principal, conversation_id, place)
        else:
            others.append(PassagePlace(conversation_id, place, ""))
    for first in range(0, len(others), MOST_PASSAGES):
        passages_withhold(principal, others[first : first + MOST_PASSAGES])


def show_again(person: Principal, erasure: Erasure, others: Sequence[Erasure]) -> dict[UUID, list[Span]]:
    """Undo what ``hide`` did for a withdrawn erasure, but for what somebody changed since, or ``others`` include.

    Returns the revisions that hid it again, by the other erasure. Call it in a transaction of its own, so that nobody
    reads meanwhile what still waits for the others.
    """
    if others:
        # Lock all of them here, in id order: what is called in turn locks some of them.
        waiting = (each for each in [erasure, *others] if each.scope in _HIDDEN)
        lock_ledgers(sorted({erasure.user_id, *(legacy for each in waiting for legacy in extent_of(each).legacies)}))
    for first, last in reversed(erasure.hidden):
        undo(person, first, last)
    return {other.pk: hide(person, other, [], waits=True) for other in others}

"""What a short message decides without a model: whether what is doubted still holds, and that a change is undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accounts.principals import Principal
from conversations.models import Message
from journal.exceptions import NotYoursToDecide, Refused
from journal.models import Change
from journal.undo import undo
from language.heard import Heard
from language.reading.refusals import says_no, says_undo, says_yes
from memories.actions import memory_approve, memory_reject
from memories.models import Memory
from statements.models import Doubt
from statements.policy.naming import in_second_person

if TYPE_CHECKING:
    from .actions import Begun

_LOOKS_BACK = 2
"""How many messages before the answer may have raised the doubt."""


def settled_by(principal: Principal, begun: Begun) -> Heard | None:
    """Carry out what the answered message decides, and return what to say of it; None if it decides nothing.

    A yes to "Does it still hold?" keeps the memories that the person's last message, or the one it agreed to before,
    made doubtful; a no puts them away. "Undo that" undoes the last change of a memory by this conversation.
    """
    principal = principal.with_idempotency(None)
    try:
        if says_undo(begun.question):
            return _undo_last(principal, begun)
        if says_yes(begun.question) or says_no(begun.question):
            return _settle_doubts(principal, begun, holds=says_yes(begun.question))
    except (NotYoursToDecide, Refused):  # An agent relays it, or it was decided meanwhile.
        return None
    return None


def _settle_doubts(principal: Principal, begun: Begun, *, holds: bool) -> Heard | None:
    before = Message.objects.filter(
        conversation_id=begun.conversation_id, role=Message.Role.USER, index__lt=begun.message_index
    )
    asked = []
    for pk, content in before.order_by("-index").values_list("pk", "content")[:_LOOKS_BACK]:
        asked.append(str(pk))
        if not says_yes(content):  # A yes to what the message told comes before the question whether the rest holds.
            break
    raised = Change.objects.filter(
        ledger_id=begun.user_id,
        event="DOUBT",
        object_type="memory",
        conversation_id=begun.conversation_id,
        meta__message__in=asked,
    )
    doubts = Doubt.objects.open_of(begun.user_id, "memory")
    open_ids = doubts.filter(object_id__in=raised.values("object_id")).values("object_id")
    memories = list(Memory.objects.visible_to(principal).filter(pk__in=open_ids, state="active"))
    for memory in memories:
        if holds:
            memory_approve(principal, memory.pk)
        else:
            memory_reject(principal, memory.pk)
    told = tuple(in_second_person(each.content) for each in memories)
    return Heard(decided="holds" if holds else "away", noted=told) if told else None


def _undo_last(principal: Principal, begun: Begun) -> Heard:
    changes = Change.objects.filter(
        ledger_id=begun.user_id,
        event__in=["UPDATE", "DELETE"],
        object_type="memory",
        conversation_id=begun.conversation_id,
    )
    last = changes.order_by("-rev").first()
    undone = undo(principal, last.rev, last.rev) if last is not None else None
    if last is None or undone is None or not undone.undone:
        return Heard(decided="nothing")
    memory = Memory.objects.visible_to(principal).get(pk=last.object_id)
    return Heard(decided="undone", noted=(in_second_person(memory.content),))

"""What a short message decides without a model: that a memory holds, a change is undone, or a fact is put right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from django.db.models import CharField, F, Q, Subquery, Value
from django.db.models.functions import Cast, StrIndex

from accounts.principals import Principal
from accounts.scope import acting_name
from conversations.models import Conversation, Message
from facts.actions import fact_edit
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from journal.exceptions import NotFound, NotYoursToDecide, Refused
from journal.models import Change
from journal.undo import undo
from language.gates import mask_sensitive
from language.heard import Heard
from language.reading.fact_corrections import FactCorrection
from language.reading.questions import is_question
from language.reading.refusals import says_no, says_undo, says_yes
from language.reading.second_tries import MESSAGES_BEFORE
from language.shown import quoted
from memories.actions import memory_approve, memory_reject
from memories.models import Memory
from statements.actions import GONE
from statements.models import Doubt
from statements.policy.naming import fact_in_words, in_second_person

from ..learn.actions import message_hold

if TYPE_CHECKING:
    from .actions import Begun

_UNDONE = ("ADD", "UPDATE", "DELETE", "REJECT", "WITHHOLD")
_MOST_FACTS = 200
_LOOKS_BACK = 3
"""How many messages before the answer may have raised the doubt."""


def settled_by(principal: Principal, begun: Begun) -> Heard | None:
    """Carry out what the answered message decides, and return what to say of it; None if it decides nothing.

    A yes to "Does it still hold?" keeps the memories that the person's last message, or the one it agreed to before,
    made doubtful; a no puts them away. "Undo that" undoes the last that this talk changed, kept or withheld, unless an
    agent relays it that may not. A correction rewords the fact that it is about.
    """
    principal = principal.with_idempotency(None)
    try:
        if says_undo(begun.question):
            return _undo_as_asked(principal, begun)
        if (put_right := _put_fact_right(principal, begun)) is not None:
            return put_right
        if says_yes(begun.question) or says_no(begun.question):
            return _settle_doubts(principal, begun, holds=says_yes(begun.question))
    except (NotYoursToDecide, Refused):  # An agent relays it, or it was decided meanwhile.
        return None
    return None


def _put_fact_right(principal: Principal, begun: Begun) -> Heard | None:
    """Reword the person's one fact that a message puts right, if the assistant just told it or it was just said.

    What a batch says and puts right is corrected while it is read: this is for facts that are stored already.
    """
    said = Message.objects.filter(conversation=begun.conversation_id, index__lt=begun.message_index)
    told = said.exclude(role=Message.Role.USER).order_by("-index").values_list("content", flat=True).first() or ""
    correction = FactCorrection.of(begun.question, answers=told.rstrip().endswith("?"))
    if correction is None:
        return None
    latest = list(said.filter(role=Message.Role.USER).order_by("-index").values_list("pk", flat=True)[:MESSAGES_BEFORE])
    legacy = Conversation.objects.visible_to(principal).filter(pk=begun.conversation_id).values("legacy")
    own = LegacyFact.objects.visible_to(principal).filter(user_id=begun.user_id, legacy__in=legacy).without_vectors()
    own = own.filter(state__in=[LegacyFact.State.ACTIVE, LegacyFact.State.PROPOSED])
    shown = [fact for fact in _likely_told(own, told) if fact_in_words(fact.content) in told]
    for facts in (shown, own.filter(evidence__message__in=latest).distinct()):
        right = [(fact, content) for fact in facts if (content := correction.apply_to(fact.content))]
        if right:
            break
    if len(right) != 1:
        return None
    [(fact, content)] = right
    fact_edit(principal, fact.pk, content=content)
    return Heard(changed=((fact_in_words(fact.content), fact_in_words(content)),))


def _likely_told(facts: FactQuerySet, told: str) -> FactQuerySet:
    """Return the facts whose words an answer has, or that name the person, since these are told in other words."""
    likely = Q(told_at__gt=0)
    for name in ("user", *acting_name().split()[:1]):
        likely |= Q(content__icontains=name)
    rows = facts.annotate(told_at=StrIndex(Value(told), F("content"))).filter(likely)
    return rows.order_by("-extracted_at")[:_MOST_FACTS]


def _settle_doubts(principal: Principal, begun: Begun, *, holds: bool) -> Heard | None:
    before = Message.objects.filter(
        conversation_id=begun.conversation_id, role=Message.Role.USER, index__lt=begun.message_index
    )
    asked = []
    for pk, content in before.order_by("-index").values_list("pk", "content")[:_LOOKS_BACK]:
        asked.append(str(pk))
        if not (
            says_yes(content) or is_question(content)
        ):  # A yes to what the message told comes before the question whether the rest holds.
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
    memories = list(
        Memory.objects.visible_to(principal).filter(pk__in=open_ids, state="active").order_by("created_at", "pk")
    )
    for memory in memories:
        if holds:
            memory_approve(principal, memory.pk)
        else:
            memory_reject(principal, memory.pk)
    told = tuple(in_second_person(each.content) for each in memories)
    return Heard(decided="holds" if holds else "away", noted=told) if told else None


def _undo_as_asked(principal: Principal, begun: Begun) -> Heard:
    """Undo the last of this talk. ``not_yours``: an agent relays the wish, and may undo only what it did itself."""
    try:
        return _undo_last(principal, begun)
    except (NotYoursToDecide, NotFound):
        return Heard(decided="not_yours")


def _undo_last(principal: Principal, begun: Begun) -> Heard:
    """Undo the last that this talk changed, kept or withheld; nothing if somebody changed it since.

    What one message decided of several memories is undone together. Raises NotYoursToDecide.
    """
    before = Message.objects.filter(conversation=begun.conversation_id, index__lt=begun.message_index)
    since = before.filter(role=Message.Role.USER).order_by("-index").values("created_at")[:1]
    # What a message decides itself is the person's own change, of no conversation, of what was doubted here, or a fact.
    itself = Q(conversation_id=None, actor_kind="person", actor_id=principal.actor_id, at__gte=Subquery(since))
    doubted = Change.objects.filter(ledger_id=begun.user_id, event="DOUBT", conversation_id=begun.conversation_id)
    told_of = LegacyFact.objects.filter(legacy__conversations=begun.conversation_id).values(key=Cast("pk", CharField()))
    decided = itself & (
        Q(object_type="memory", object_id__in=doubted.values("object_id"))
        | Q(object_type="fact", object_id__in=told_of)
    )
    changes = Change.objects.filter(
        Q(conversation_id=begun.conversation_id) | decided,
        ledger_id=begun.user_id,
        event__in=_UNDONE,
        object_type__in=["memory", "fact", "message"],
    )
    changes = changes.exclude(meta__has_key="undo").order_by("-rev")
    last = changes.first()
    if last is None:
        return Heard(decided="nothing")
    alike = changes.filter(decided, event=last.event, object_type=last.object_type)
    revs = sorted({last.rev, *(alike.values_list("rev", flat=True) if last.conversation_id is None else ())})
    undone = undo(principal, revs[0], revs[-1], between=_gaps(revs))
    if not undone.undone:
        if any(each.why == "not_yours" for each in undone.left):
            raise NotYoursToDecide
        return Heard(decided="nothing")
    ids = {kind: [key for each, key in undone.objects if each == kind] for kind, _ in undone.objects}
    memories = Memory.objects.visible_to(principal).filter(pk__in=ids.get("memory", ())).order_by("created_at", "pk")
    facts = LegacyFact.objects.visible_to(principal).filter(pk__in=ids.get("fact", ()))
    statements = [
        (in_second_person(each.content), each.state in GONE) for each in memories.order_by("created_at", "pk")
    ]
    statements += [(fact_in_words(each.content), each.state in GONE) for each in facts.order_by("pk")]
    again = tuple(content for content, is_gone in statements if not is_gone)
    if statements:
        return Heard(
            decided="undone" if again else "dropped", noted=again or tuple(content for content, _ in statements)
        )
    said = before.filter(pk__in=ids.get("message", ()), role=Message.Role.USER).order_by("index")
    for message in said.without_vectors()[:1]:
        message_hold(principal, begun.conversation_id, message.index)
        return Heard(decided="given_back", noted=(quoted(mask_sensitive(" ".join(message.content.split()))),))
    return Heard(decided="nothing")


def _gaps(revs: Sequence[int]) -> list[tuple[int, int]]:
    """Return the ranges of revisions between those given, which are in order."""
    return [(one + 1, other - 1) for one, other in pairwise(revs) if other - one > 1]

"""The assistant's modes, and details of answers: usage, and why one is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from assistant.models import Reply
from assistant.reply.told import CUT
from conversations.models import Conversation, Message
from conversations.querysets import MessageQuerySet
from facts.models import LegacyFact
from language.backends import get_reply_model
from memories.models import Memory
from statements.policy.naming import in_second_person

from ..cards import Link, told_fact

_FEWEST_MODELS = 2
"""The minimum number of models in a council."""
_AWAY = gettext_noop("The language model can’t be reached just now.")
_BUSY = gettext_noop("The language model is overloaded just now.")
_REFUSED = gettext_noop("The language model did not take the question. Whoever runs Keepsake can see why in the log.")
_LOST = gettext_noop("The answer was lost half-way.")
_WHY = {
    "ModelUnreachable": _AWAY,
    "ModelServerError": _AWAY,
    "ModelOverloaded": _BUSY,
    "ModelRateLimited": _BUSY,
    "ModelTimedOut": gettext_noop("The language model took too long."),
    "ModelKeyRefused": gettext_noop(
        "The key for the language model does not work. Whoever runs Keepsake has to mend that."
    ),
    "ModelNotPaid": gettext_noop(
        "The account for the language model has no credit. Whoever runs Keepsake has to mend that."
    ),
    "ModelNotFound": _REFUSED,
    "ModelCallRejected": _REFUSED,
    "ModelAnswerRefused": gettext_noop("The language model declined to answer."),
    "ModelAnswerInvalid": gettext_noop("The language model gave no answer that can be used."),
    "ModelAnswerCut": gettext_noop("The language model gave no answer that can be used."),
    "empty": gettext_noop("The language model said nothing."),
    "lost": _LOST,
    "stopped": gettext_noop("You stopped it before anything was said."),
    "nobody_follows": gettext_noop("The page was closed before anything was said."),
    "out_of_time": gettext_noop("There was no answer in time."),
    "unavailable": gettext_noop("Keepsake’s database could not be reached."),
}
_CUT_SHORT = {
    "stopped": gettext_noop("You stopped it here."),
    "nobody_follows": gettext_noop("It ended when the page was closed."),
    "out_of_time": gettext_noop("It ended here for want of time."),
    CUT: gettext_noop("It was cut off here: an answer may not be longer."),
}
_OTHERWISE = gettext_noop("Something went wrong.")


@dataclass(frozen=True, slots=True)
class AnswerUsage:
    """Usage of an answer: ``tokens`` in and out, the part from the prompt cache, and the statements in its prompt.

    ``shown``: number of statements; ``address``: their page. ``ended``: why it was cut short, or ''.
    """

    model: str
    tokens: int
    cached_percent: int
    shown: int
    address: str
    ended: str


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why a message has no answer, and the URL to retry, if possible."""

    why: str
    retry: str


@dataclass(frozen=True, slots=True)
class Answers:
    """Details of a page's answers, by message index."""

    given: dict[int, AnswerUsage]
    missing: dict[int, NoAnswer]


def answers_on(principal: Principal, conversation: Conversation, indices: Sequence[int]) -> Answers:
    """Return the details of the answers among messages, in one statement."""
    replies = Reply.objects.visible_to(principal).filter(conversation=conversation)
    given: dict[int, AnswerUsage] = {}
    missing: dict[int, NoAnswer] = {}
    now = timezone.now()
    for reply in replies.filter(Q(message_index__in=indices) | Q(answer_index__in=indices)):
        if reply.answer_index is not None:
            given[reply.answer_index] = _told(reply)
        elif reply.state != Reply.State.RUNNING or reply.lease_until <= now:
            again = reply.attempt < settings.REPLY_ATTEMPTS and conversation.message_count == reply.message_index + 1
            code = reply.error_code or "lost"
            retry = reverse("chat-retry", args=[conversation.pk, reply.pk]) if again else ""
            missing[reply.message_index] = NoAnswer(_(_WHY.get(code, _OTHERWISE)), retry)
    return Answers(given, missing)


def running_reply(principal: Principal, conversation: Conversation) -> Reply | None:
    """Return the running reply of a conversation."""
    replies = Reply.objects.visible_to(principal).filter(conversation=conversation, state=Reply.State.RUNNING)
    return replies.filter(lease_until__gt=timezone.now()).first()


def ways_of_answering(principal: Principal, conversation: Conversation) -> dict[str, Any]:
    """Return the available modes, and the last used one."""
    offered = modes()
    last = Reply.objects.visible_to(principal).filter(conversation=conversation).order_by("-message_index")
    return {"modes": offered, "mode": last.values_list("mode", flat=True).first() if offered else ""}


def unread(principal: Principal, conversation: Conversation) -> MessageQuerySet:
    """Return the number of messages waiting to be read singly."""
    return Message.objects.visible_to(principal).filter(conversation=conversation).due_for_extraction(timezone.now())


def shown_to(principal: Principal, reply: Reply) -> tuple[list[Link], list[Link], int]:
    """Return the current memories and facts of an answer's prompt, and the number deleted since."""
    memories = Memory.objects.visible_to(principal).filter(pk__in=reply.memories)
    facts = LegacyFact.objects.visible_to(principal).filter(pk__in=reply.facts)
    said = _in_order(reply.memories, memories.values_list("pk", "content"), "memory-page")
    about = ((fact.pk, told_fact(principal, fact)) for fact in facts.without_vectors().select_related("user"))
    told = _in_order(reply.facts, about, "fact-page")
    remembered = [Link(each.address, in_second_person(each.text)) for each in said]
    return remembered, told, len(reply.memories) + len(reply.facts) - len(said) - len(told)


def _in_order(ids: Sequence[str] | Sequence[UUID], rows: Iterable[tuple[object, str]], page: str) -> list[Link]:
    found = dict(rows)
    return [Link(reverse(page, args=[each]), found[each]) for each in ids if each in found]


def _told_why(reply: Reply) -> str:
    """Return why an answer was cut short, or ''."""
    why = _CUT_SHORT.get(reply.error_code)
    return _(why) if why else ""


def _told(reply: Reply) -> AnswerUsage:
    assert reply.answer_index is not None
    return AnswerUsage(
        model=reply.model,
        tokens=reply.input_tokens + reply.output_tokens,
        cached_percent=reply.cached_percent,
        shown=len(reply.memories) + len(reply.facts),
        address=reverse("chat-shown", args=[reply.conversation_id, reply.answer_index + 1]),
        ended=_told_why(reply),
    )


def modes() -> list[tuple[str, str]]:
    """Return the available modes, default first; none without a language model."""
    if get_reply_model().offline:
        return []
    offered = [
        (Reply.Mode.AGENT.value, _("It remembers and looks up")),
        (Reply.Mode.CHAT.value, _("It answers from what is remembered, and changes nothing itself")),
    ]
    if len(settings.KEEPSAKE_COUNCIL_MODELS) >= _FEWEST_MODELS:
        offered.append((Reply.Mode.COUNCIL.value, _("Several models answer, and one puts it together")))
    return offered


def mode_of(wanted: str) -> str:
    """Return the requested mode, or the default."""
    return wanted if wanted in dict(modes()) else Reply.Mode.AGENT.value

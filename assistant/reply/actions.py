"""Changes of replies: begin, retry, end, stop. The answer itself is a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import get_language, get_supported_language_variant
from django.utils.translation import gettext as _
from redis.exceptions import RedisError

from accounts.policy import must_write
from accounts.principals import Principal
from conversations.actions import NewMessage, messages_append
from conversations.models import Conversation, Message
from conversations.policy import may_mark
from journal.exceptions import Conflict, NotFound, NotYoursToDecide, Unavailable, must_find
from language.backends import get_reply_model
from language.base import ToolSpec, Usage

from ..learn.actions import message_hold, message_release
from ..models import Reply
from ..querysets import ReplyQuerySet
from ..recall.turn import PreparedTurn, prepare_turn
from ..tools import list_tools, read_guidance
from .council import council_of
from .hearing import agrees_in_words, asked_about
from .told import STOPPED, stop


@dataclass(frozen=True, slots=True)
class Wanted:
    """Options of a reply. ``chat``: one model call without tools; ``agentic_memory=False``: no tools either.

    ``council``: several ``models`` answer (default: all configured ones). ``has_memory=False``: no recall, no
    extraction.
    """

    mode: str = Reply.Mode.AGENT
    agentic_memory: bool = True
    has_memory: bool = True
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Begun:
    """A reply to generate: the answered message, and the prompt.

    ``learns``: memories may be extracted. ``models``: those of a council, else empty. ``language``: the person's, or
    the page's if they chose none.
    """

    reply_id: UUID
    attempt: int
    user_id: UUID
    conversation_id: UUID
    message_id: UUID
    message_index: int
    question: str
    turn: PreparedTurn
    tools: tuple[ToolSpec, ...]
    is_first: bool
    learns: bool
    models: tuple[str, ...]
    language: str


@dataclass(frozen=True, slots=True)
class ReplyOutcome:
    """The result of a reply. Its text is saved unless it ``failed``; ``error_code``: why it failed or was stopped.

    It is ``CUT`` for a finished reply that used the most tokens. ``asks``: it asks for consent to remember something;
    ``changes``: and confirms what the same message changes or orders.
    """

    state: str
    text: str
    usage: Usage
    rounds: int
    error_code: str = ""
    asks: bool = False
    changes: bool = False


def reply_begin(principal: Principal, reply_id: UUID, conversation_id: UUID, content: str, wanted: Wanted) -> Begun:
    """Save the person's message, and prepare the reply.

    Raises NotAllowed, NotFound, Refused (400) for a message that can't be stored, Conflict (409 ``reply_running``)
    while another reply is made there, Gated (422 ``budget``).
    """
    must_write(principal)
    models = council_of(wanted.models) if wanted.mode == Reply.Mode.COUNCIL else ()
    principal = principal.with_memory(wanted.has_memory)
    conversation = Conversation.objects.visible_to(principal).must_find(conversation_id)
    tools, marks = _tools(principal, conversation, wanted), may_mark(principal, conversation)
    agrees = marks and agrees_in_words(conversation_id, content)
    now = timezone.now()
    made: list[Reply] = []

    def begin(saved: list[Message]) -> None:
        _must_be_free(conversation_id, now)
        reply = Reply.objects.create(
            id=reply_id,
            user_id=saved[0].user_id,
            conversation_id=conversation_id,
            agent_id=principal.agent_id,
            message_index=saved[0].index,
            mode=wanted.mode,
            uses_tools=bool(tools),
            model=models[0] if models else get_reply_model().name,
            council=list(models),
            started_at=now,
            lease_until=_lost_at(now),
        )
        made.append(reply)
        held = asked_about(conversation_id, saved[0].index, content, agrees=agrees) if marks else None
        if held is not None:
            agreed = saved[0].voice == Message.Voice.OWN
            message_release(principal.with_idempotency(None), conversation_id, held.index, agreed=agreed)

    saved: list[Message] = []

    def append(principal: Principal, conversation_id: UUID, said: Sequence[NewMessage]) -> list[Message]:
        read_from = _over_at(now)
        saved.extend(messages_append(principal, conversation_id, said, in_turn=True, read_from=read_from, then=begin))
        return saved

    instructions = _instructions(bool(tools))
    turn = prepare_turn(principal, conversation_id, content, instructions=instructions, save=True, append=append)
    Reply.objects.filter(pk=reply_id).update(memories=turn.used["memories"], facts=turn.used["facts"])
    return _begun(principal, made[0], saved[0], turn, tools)


def reply_retry(principal: Principal, conversation_id: UUID, reply_id: UUID) -> Begun:
    """Retry, once, a reply that failed, was lost, or was stopped without any text.

    Raises NotAllowed, NotFound, Conflict (409): ``reply_not_retryable`` where it was answered or has been tried twice,
    ``conversation_moved`` where something was said since, ``reply_running``.
    """
    must_write(principal)
    conversation = Conversation.objects.visible_to(principal).must_find(conversation_id)
    reply = find_reply(principal, conversation_id, reply_id)
    message = must_find(
        Message.objects.visible_to(principal)
        .without_vectors()
        .filter(conversation_id=conversation_id, index=reply.message_index)
        .first(),
        "message",
    )
    _must_be_retryable(reply, conversation)
    principal = principal.with_memory(not message.memory_off)
    tools = _tools(principal, conversation, Wanted(reply.mode, reply.uses_tools))
    turn = prepare_turn(
        principal,
        conversation_id,
        message.content,
        instructions=_instructions(bool(tools)),
        before_index=reply.message_index,
    )
    now = timezone.now()
    with transaction.atomic():
        conversation = Conversation.objects.select_for_update().get(pk=conversation_id)
        _must_be_free(conversation_id, now)
        reply = Reply.objects.select_for_update().get(pk=reply_id)
        _must_be_retryable(reply, conversation)
        reply.state, reply.error_code, reply.ended_at = Reply.State.RUNNING, "", None
        reply.attempt += 1
        reply.model = reply.council[0] if reply.council else get_reply_model().name
        reply.started_at, reply.lease_until = now, _lost_at(now)
        reply.memories, reply.facts = turn.used["memories"], [UUID(each) for each in turn.used["facts"]]
        reply.save()
    return _begun(principal, reply, message, turn, tools)


def reply_end(principal: Principal, begun: Begun, outcome: ReplyOutcome) -> int | None:
    """End a reply and save its text as a message. Returns its index.

    If it asks for consent, the answered message is held until the person answers, without what it already confirms.

    Raises NotFound, and saves nothing, if the reply was marked as lost meanwhile.
    """
    with transaction.atomic():
        reply = _running(begun)
        [answer] = messages_append(principal, begun.conversation_id, [NewMessage(Message.Role.ASSISTANT, outcome.text)])
        if outcome.asks and begun.learns and _may_mark(principal, begun.conversation_id):
            message_hold(principal, begun.conversation_id, begun.message_index, in_part=outcome.changes)
        _end(reply, outcome, answer.index)
    return answer.index


def reply_fail(begun: Begun, outcome: ReplyOutcome) -> None:
    """End a reply without saving text. Raises NotFound if it was marked as lost meanwhile."""
    with transaction.atomic():
        _end(_running(begun), outcome, None)


def reply_renew(begun: Begun) -> None:
    """Renew the lease of a reply. Without renewal it is marked as lost."""
    mine = Reply.objects.filter(pk=begun.reply_id, state=Reply.State.RUNNING, attempt=begun.attempt)
    mine.update(lease_until=_lost_at(timezone.now()))


def reply_lost(reply: Reply) -> Reply | None:
    """Return the ended reply if no more events will come; None while it runs or extraction events are due."""
    now = timezone.now()
    _end_lost(Reply.objects.filter(pk=reply.pk), now)
    told_by = now - timedelta(seconds=settings.REPLY_UPDATE_SECONDS + settings.REPLY_LEASE_SECONDS)
    return Reply.objects.filter(Q(error_code="lost") | Q(ended_at__lt=told_by), pk=reply.pk).first()


def reply_stop(principal: Principal, conversation_id: UUID, reply_id: UUID) -> None:
    """Stop a running reply within a second, saving its text so far. An ended one is unchanged.

    For the person, the agent of the conversation, and the agent that began the reply. Raises NotAllowed,
    NotYoursToDecide, NotFound, Unavailable.
    """
    must_write(principal)
    reply = find_reply(principal, conversation_id, reply_id)
    begun_by_it = principal.agent_id is not None and principal.agent_id == reply.agent_id
    if not (begun_by_it or _may_mark(principal, conversation_id)):
        raise NotYoursToDecide
    try:
        stop(reply, STOPPED)
    except (RedisError, OSError) as error:
        raise Unavailable(_("It could not be stopped. Try again in a moment.")) from error


def replies_sweep() -> int:
    """End the replies of killed processes. Returns how many."""
    return _end_lost(Reply.objects.all(), timezone.now())


def find_reply(principal: Principal, conversation_id: UUID, reply_id: UUID) -> Reply:
    """Return a visible reply. Raises NotFound."""
    visible = Reply.objects.visible_to(principal).filter(pk=reply_id, conversation_id=conversation_id)
    return must_find(visible.first(), "reply")


def _tools(principal: Principal, conversation: Conversation, wanted: Wanted) -> tuple[ToolSpec, ...]:
    """Return the model's tools: none in chat mode, in private conversations, or if switched off."""
    remembers = principal.has_memory and principal.agentic_memory and not conversation.private
    if wanted.mode != Reply.Mode.AGENT or not wanted.agentic_memory or not remembers:
        return ()
    offered = list_tools(principal, "anthropic")
    return tuple(ToolSpec(each["name"], each["description"], each["input_schema"]) for each in offered)


def _instructions(with_tools: bool) -> str:
    return f"{_prompt()}\n{read_guidance()}" if with_tools else _prompt()


@cache
def _prompt() -> str:
    return (Path(__file__).parent / "instructions.md").read_text(encoding="utf-8")


def _begun(
    principal: Principal, reply: Reply, message: Message, turn: PreparedTurn, tools: tuple[ToolSpec, ...]
) -> Begun:
    said = Message.objects.filter(conversation_id=message.conversation_id, role=Message.Role.ASSISTANT)
    return Begun(
        reply_id=reply.pk,
        attempt=reply.attempt,
        user_id=message.user_id,
        conversation_id=message.conversation_id,
        message_id=message.pk,
        message_index=message.index,
        question=message.content,
        turn=turn,
        tools=tools,
        is_first=not said.exists(),
        learns=not (message.private or message.memory_off),
        models=tuple(reply.council),
        language=spoken_language(principal.language),
    )


def _may_mark(principal: Principal, conversation_id: UUID) -> bool:
    return may_mark(principal, Conversation.objects.visible_to(principal).must_find(conversation_id))


def spoken_language(language: str) -> str:
    """Return the person's language if it has a translation catalogue, else the page's."""
    try:
        return get_supported_language_variant(language)
    except LookupError:
        return get_language() or settings.LANGUAGE_CODE


def _must_be_free(conversation_id: UUID, now: datetime) -> None:
    """Raise Conflict if another reply runs in the locked conversation; a lost one is ended."""
    running = Reply.objects.filter(conversation_id=conversation_id, state=Reply.State.RUNNING)
    _end_lost(running, now)
    if (other := running.first()) is not None:
        raise Conflict(
            _("Another reply is being made in this conversation."), code="reply_running", reply=str(other.pk)
        )


def _must_be_retryable(reply: Reply, conversation: Conversation) -> None:
    lost = reply.state == Reply.State.RUNNING and reply.lease_until <= timezone.now()
    open_again = lost or reply.state in {Reply.State.FAILED, Reply.State.STOPPED}
    if reply.state == Reply.State.RUNNING and not lost:
        raise Conflict(_("This reply is being made."), code="reply_running", reply=str(reply.pk))
    if not open_again or reply.answer_index is not None or reply.attempt >= settings.REPLY_ATTEMPTS:
        raise Conflict(_("This reply can't be tried again."), code="reply_not_retryable")
    if conversation.message_count != reply.message_index + 1:
        raise Conflict(
            _("The conversation has %(message_count)s messages by now.")
            % {"message_count": conversation.message_count},
            code="conversation_moved",
        )


def _lost_at(now: datetime) -> datetime:
    """Return when the lease ends if it is renewed now."""
    return now + timedelta(seconds=settings.REPLY_LEASE_SECONDS)


def _over_at(now: datetime) -> datetime:
    """Return the latest end of a reply that begins now, including the time to save it."""
    return now + timedelta(seconds=settings.REPLY_SECONDS + 30)


def _end_lost(replies: ReplyQuerySet, now: datetime) -> int:
    return replies.lost(now).update(state=Reply.State.FAILED, error_code="lost", ended_at=now)


def _running(begun: Begun) -> Reply:
    mine = Reply.objects.select_for_update().filter(pk=begun.reply_id, state=Reply.State.RUNNING, attempt=begun.attempt)
    reply = mine.first()
    if reply is None:
        raise NotFound("This reply was taken for lost.")
    return reply


def _end(reply: Reply, outcome: ReplyOutcome, answer_index: int | None) -> None:
    Reply.objects.filter(pk=reply.pk).update(
        state=outcome.state,
        error_code=outcome.error_code[:60],
        answer_index=answer_index,
        rounds=F("rounds") + outcome.rounds,
        input_tokens=F("input_tokens") + outcome.usage.input_tokens,
        output_tokens=F("output_tokens") + outcome.usage.output_tokens,
        cached_tokens=F("cached_tokens") + min(outcome.usage.cached_tokens, outcome.usage.input_tokens),
        ended_at=timezone.now(),
    )

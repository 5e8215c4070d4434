"""Refusals in new messages ("don't remember that"): what they refer to is withheld in the transaction that saves them.

Most messages hold no refusing word and answer no question whether to keep something: they cost one query. The others
are interpreted before any lock is taken, with patterns, a parser and small networks, without a language model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Legacy
from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.actions import LedgerWrite
from language.reading.refusals import (
    LONGEST_ANSWER,
    Refusal,
    Turn,
    find_refusal,
    may_answer,
    may_refuse,
    named_things,
)

from .. import policy
from ..models import Conversation, Message, Withheld
from ..passages import MARK
from .withheld_rows import Cause
from .withholding import plan_withholding, words_withhold

LIVE_WINDOW = timedelta(minutes=5)
"""A message whose ``at`` is further from its arrival is an old record: it changes nothing that is known elsewhere."""
SEARCHED_BEFORE = 100
"""How many of the latest messages are searched for what a refusal refers to."""
_SPEAKERS = (Message.Role.USER, Message.Role.ASSISTANT)


@dataclass(frozen=True, slots=True)
class HeardRefusal:
    """A message's refusal: what it asks not to be kept.

    ``legacies`` are those that its conversations are about. ``passages``: pairs of message id and sentence; ``since``
    is when the earliest of those messages was stored.
    ``named``: the words that it names the matter by, to match what is known from elsewhere; empty for imports and old
    records. ``denied``: whether a named clause is a denial, None if it is no clause. ``held``: messages about which the
    person was being asked whether to remember them. ``relayed_by``: the agent that reports it; None for the person's
    own words. ``answers``: messages of the assistant among them. ``is_part``: the person refused only a part of what
    they were asked about, in these very words; ``agreed`` is the message whose rest may be read, with consent if the
    answer ``consents`` to it.
    """

    message_id: UUID
    conversation_id: UUID
    legacies: frozenset[UUID]
    passages: tuple[tuple[UUID, str], ...]
    since: datetime
    named: frozenset[str] = frozenset()
    whole: bool = False
    denied: bool | None = None
    held: frozenset[UUID] = frozenset()
    relayed_by: Principal | None = None
    answers: frozenset[UUID] = frozenset()
    is_part: bool = False
    agreed: UUID | None = None
    consents: bool = True

    @property
    def cause(self) -> Cause:
        """The cause under which the words are withheld."""
        return Cause(Withheld.Cause.MESSAGE, str(self.message_id), relayed=self.relayed_by is not None)

    @property
    def quotes(self) -> list[tuple[UUID, str]]:
        """What to withhold of each message, "" for all of it."""
        return [(pk, "" if pk in self.held else quote) for pk, quote in self.passages]

    @property
    def said(self) -> list[str]:
        """The person's sentences."""
        return [quote for pk, quote in self.passages if pk not in self.answers]


Listener = Callable[[LedgerWrite, UUID, HeardRefusal], None]
_listeners: list[Listener] = []


def on_refusal(listener: Listener) -> None:
    """Register a listener for refusals. It is called inside the transaction, after the words were withheld."""
    _listeners.append(listener)


def find_refusals(
    principal: Principal, conversation_id: UUID, new: Sequence[Message], *, brought: bool = False
) -> list[HeardRefusal]:
    """Return the refusals in messages that are about to be appended. Call it outside any transaction.

    Only callers that decide for the person and the agent that owns the conversation can refuse; others get an empty
    list. ``brought``: the messages come from an import.
    """
    said = [row.content for row in new if row.role == Message.Role.USER]
    if not any(map(may_refuse, said)) and not _may_answer(principal, conversation_id, new):
        return []
    conversation = Conversation.objects.visible_to(principal).filter(pk=conversation_id).first()
    if conversation is None or not policy.may_mark(principal, conversation):
        return []
    stored = Message.objects.filter(conversation=conversation, role__in=_SPEAKERS)
    rows = [*reversed(stored.without_vectors().order_by("-index")[:SEARCHED_BEFORE]), *new]
    now = new[0].created_at
    turns = [Turn(row.role, row.content, _is_held(row, now)) for row in rows]
    found = []
    for position, row in enumerate(rows[-len(new) :], start=len(rows) - len(new)):
        refusal = find_refusal(turns, position) if row.role == Message.Role.USER else None
        if refusal is None or not (refusal.passages or refusal.named_lemmas):
            continue
        is_live = not brought and abs(row.created_at - row.at) < LIVE_WINDOW
        heard = _heard(principal, conversation, row, rows, refusal, now=now, names=is_live)
        reaches_all = is_live and refusal.covers_all and heard.relayed_by is None
        found.append(_with_elsewhere(principal, heard, row.content) if reaches_all else heard)
    return found


@dataclass(frozen=True, slots=True)
class SaidElsewhere:
    """A sentence of a message in another conversation, which is about ``legacy_id`` or nobody."""

    message_id: UUID
    sentence: str
    created_at: datetime
    legacy_id: UUID | None


def said_elsewhere(
    principal: Principal, conversation_id: UUID, request: str, *, of_all: bool = False
) -> list[SaidElsewhere]:
    """Return the sentences of the person's other conversations that tell what a request to forget names.

    ``of_all``: only for requests for everything about it, and in all conversations; otherwise not in what is private
    or was said with memory off, so that it may be told of. Of each thing the latest ``SEARCHED_BEFORE`` messages that
    may tell it are read.
    """
    own = Message.objects.visible_to(principal).filter(user_id=must_act_for(principal))
    said = own.filter(role=Message.Role.USER).exclude(conversation_id=conversation_id)
    if not of_all:
        said = said.filter(conversation__private=False, memory_off=False)
    found: dict[tuple[UUID, str], SaidElsewhere] = {}
    for thing in named_things(request):
        if of_all and not thing.all_of_it:
            continue
        rows = said
        for beginnings in thing.beginnings:
            rows = rows.filter(reduce(or_, (Q(content__icontains=each) for each in beginnings)))
        columns = ("pk", "content", "created_at", "conversation__legacy_id")
        for pk, content, at, legacy_id in rows.order_by("-created_at").values_list(*columns)[:SEARCHED_BEFORE]:
            for sentence in thing.sentences_in(content):
                found[pk, sentence] = SaidElsewhere(pk, sentence, at, legacy_id)
    return list(found.values())


def _with_elsewhere(principal: Principal, heard: HeardRefusal, request: str) -> HeardRefusal:
    """Return the refusal with what other conversations tell of what it names."""
    others = said_elsewhere(principal, heard.conversation_id, request, of_all=True)
    legacies = Legacy.objects.visible_to(principal).filter(pk__in={each.legacy_id for each in others})
    return replace(
        heard,
        passages=(*heard.passages, *((each.message_id, each.sentence) for each in others)),
        legacies=heard.legacies.union(legacies.values_list("pk", flat=True)),
        since=min([heard.since, *(each.created_at for each in others)]),
    )


def refusal_of_asked(principal: Principal, conversation: Conversation, message: Message) -> HeardRefusal | None:
    """Return what a no to the question after a held message refuses, if that is only a part of what the message says.

    For a no without a message of its own. Call it outside any transaction.
    """
    stored = Message.objects.filter(conversation=conversation, role__in=_SPEAKERS, index__lte=message.index + 1)
    rows = [*reversed(stored.without_vectors().order_by("-index")[:SEARCHED_BEFORE])]
    now = timezone.now()
    turns = [*(Turn(row.role, row.content, _is_held(row, now)) for row in rows), Turn(Message.Role.USER, "No.")]
    refusal = find_refusal(turns, len(rows))
    is_part = refusal is not None and refusal.is_part and refusal.agreed is not None
    if refusal is None or not is_part or rows[refusal.agreed or 0].pk != message.pk:
        return None
    return _heard(principal, conversation, message, rows, refusal, now=now)


def _heard(
    principal: Principal,
    conversation: Conversation,
    row: Message,
    rows: Sequence[Message],
    refusal: Refusal,
    *,
    now: datetime,
    names: bool = False,
) -> HeardRefusal:
    """Return what message ``row`` refuses of the messages before it; ``names``: with the words that it names."""
    meant = [(rows[place], quote) for place, quote in refusal.passages]
    return HeardRefusal(
        row.pk,
        conversation.pk,
        frozenset([conversation.legacy_id] if conversation.legacy_id else ()),
        tuple((each.pk, quote) for each, quote in meant),
        min((each.created_at for each, _ in meant), default=now),
        refusal.named_lemmas if names else frozenset(),
        refusal.covers_all,
        refusal.is_negated,
        frozenset(each.pk for each, _ in meant if _is_held(each, now) and not refusal.is_part),
        principal if principal.kind == "agent" and not principal.speaks_as_person else None,
        frozenset(each.pk for each, _ in meant if each.role != Message.Role.USER),
        refusal.is_part,
        None if refusal.agreed is None else rows[refusal.agreed].pk,
        refusal.consents,
    )


def _may_answer(principal: Principal, conversation_id: UUID, new: Sequence[Message]) -> bool:
    """Whether a message may be a no in any words: a short one after the question whether to keep something."""
    said = [(row.role, row.content) for row in new if row.role in _SPEAKERS]
    if said and said[0][0] == Message.Role.USER and len(said[0][1]) <= LONGEST_ANSWER:
        stored = Message.objects.visible_to(principal).filter(conversation_id=conversation_id, role__in=_SPEAKERS)
        said = [*stored.order_by("-index").values_list("role", "content")[:1], *said]
    roles = [Message.Role.ASSISTANT, Message.Role.USER]
    return any([one, two] == roles and may_answer(asked, answer) for (one, asked), (two, answer) in pairwise(said))


def _may_have_refused(row: Message) -> bool:
    """Whether a stored message may refuse something; most long ones may not, so that nothing is asked for them."""
    return len(row.content) <= LONGEST_ANSWER or MARK in row.content or may_refuse(row.content)


def _is_held(row: Message, now: datetime) -> bool:
    return row.held_until is not None and row.held_until > now


@contextmanager
def plan_refusals(user_id: UUID, heard: Sequence[HeardRefusal], new: Sequence[Message] = ()) -> Iterator[None]:
    """Plan ``refusals_apply`` before the lock is taken, for the messages that are about to be appended.

    It sets the conversation and the index that they will have if nobody else appends meanwhile.
    """
    talks = Conversation.objects.select_related("legacy").filter(pk__in={each.conversation_id for each in heard})
    conversation = talks.first() if heard else None
    if conversation is None:
        yield
        return
    for index, row in enumerate(new, start=conversation.message_count):
        row.conversation, row.index = conversation, index
    parts = {each.cause for each in heard if each.is_part}
    with plan_withholding(user_id, {each.cause: each.quotes for each in heard}, unstored=new, verbatim=parts):
        yield


def refusals_apply(write: LedgerWrite, user_id: UUID, heard: Iterable[HeardRefusal]) -> None:
    """Withhold what the refusals refer to, inside the transaction that stores their messages, and call the listeners.

    Messages about which the person was being asked are marked as declined, or as agreed to without the refused part.
    """
    for each in heard:
        words_withhold(write, user_id, each.cause, each.quotes, verbatim=each.is_part)
        if each.held:
            Message.objects.filter(pk__in=each.held).update(declined=True, held_until=None, reading_due=None)
        if each.agreed is not None:
            _release(each.agreed, by=each.message_id if each.consents else None)
        for listener in _listeners:
            listener(write, user_id, each)


def _release(held: UUID, *, by: UUID | None) -> None:
    """Have the rest of a held message read at once, with consent if the person agreed ``by`` a message of their own."""
    now = timezone.now()
    own = by is not None and Message.objects.filter(pk=by, voice=Message.Voice.OWN).exists()
    over = F("at") if own else now
    Message.objects.filter(pk=held, processed=False).update(held_until=over, reading_due=now)


def refusals_of(messages: Collection[Message]) -> list[dict[str, Any]]:
    """Return stored messages that refuse something: ``[{"index", "withheld": indices redacted for it}]``."""
    asked = {str(row.pk): row.index for row in messages if row.role == Message.Role.USER and _may_have_refused(row)}
    if not asked:
        return []
    here = {row.conversation_id for row in messages}
    rows = Withheld.objects.because_of(Withheld.Cause.MESSAGE, asked).passages()
    rows = rows.filter(message__role="user", message__conversation__in=here)
    withheld: dict[str, set[int]] = {}
    for cause_id, index in rows.values_list("cause_id", "message__index"):
        withheld.setdefault(cause_id, set()).add(index)
    return [{"index": asked[pk], "withheld": sorted(indices)} for pk, indices in withheld.items()]

"""A page of a conversation: days, speakers, remembered and withheld passages.

Its cost does not depend on the length of the conversation.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import NamedTuple
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, Subquery
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.principals import Principal
from conversations.models import Conversation, Message, Withheld
from conversations.passages import MARK, Span, find_all
from facts.models import FactEvidence, FactVersion, LegacyFact
from facts.policy import is_unused
from memories.models import Memory, MemoryEvidence
from statements.policy.naming import fact_in_words, in_second_person

from ..page import agent_link
from ..quotations import message_address, shorten, speaker_of
from .answers import Answers, AnswerUsage, NoAnswer, answers_on

PER_PAGE = 30
ORPHANS = 9
"""So few messages get no last page of their own."""
SHOWN_CHARACTERS = 1_400
"""Longer messages are truncated, with a link to the full text."""
FRESH = timedelta(days=1)
"""How long decisions about what was learned are offered below the message; later only on its own page."""
_USED = ["proposed", "active"]
_SHOWN = (
    *("conversation_id", "index", "role", "speaker", "content", "at"),
    *("memory_off", "declined", "processed", "held_until"),
)


class Words(NamedTuple):
    """A piece of a message: plain, remembered, withheld or erased, with an optional link."""

    sort: str
    text: str
    address: str = ""


@dataclass(frozen=True, slots=True)
class LearnedStatement:
    """A memory or fact with evidence in a message (``quote``); ``key`` and ``version`` as in forms.

    ``fresh``: learned recently; ``undo``: then the URL that undoes it, unless it changed since.
    """

    noun: str
    key: str
    version: int
    content: str
    address: str
    quote: str
    waits: bool
    fresh: bool = False
    undo: str = ""

    @property
    def route(self) -> str:
        """The URL name of its decisions."""
        return f"{self.noun}-decide"


@dataclass(frozen=True, slots=True)
class ReaderMessage:
    """A message: its ``number`` from 1; ``whole``: the URL of the full text if it is shortened.

    ``can_go``: something of it can be withheld. ``answer``: usage of an answer; ``missing``: why there is none.
    ``again``: the person's message before a stopped last answer. ``asks``: the number of the message before, if this
    one asks whether to remember it and nobody has answered.
    """

    number: int
    speaker: str
    mine: bool
    at: datetime
    words: Sequence[Words]
    whole: str
    learned: Sequence[LearnedStatement]
    memory_off: bool
    declined: bool
    can_go: bool
    answer: AnswerUsage | None
    missing: NoAnswer | None
    again: str = ""
    asks: int = 0


@dataclass(frozen=True, slots=True)
class ReaderDay:
    """The messages of a day, in the person's time zone."""

    day: date
    turns: list[ReaderMessage]


@dataclass(slots=True)
class _Around:
    """Data about messages by id; ``taken``: whether withheld words can be restored."""

    learned: dict[UUID, list[LearnedStatement]] = field(default_factory=lambda: defaultdict(list))
    taken: dict[UUID, bool] = field(default_factory=dict)
    answers: Answers = field(default_factory=lambda: Answers({}, {}))


def page_at(conversation: Conversation, page: str, at: str) -> Page[int]:
    """Return the page number from 0: the requested one, that of message ``at``, or the last."""
    pages = Paginator(range(conversation.message_count), PER_PAGE, orphans=ORPHANS)
    number = _number(at, conversation.message_count)
    if number:
        return pages.page(min((number - 1) // PER_PAGE + 1, pages.num_pages))
    return pages.get_page(page or pages.num_pages)


def read_page(principal: Principal, conversation: Conversation, page: Page[int], at: str = "") -> list[ReaderDay]:
    """Return a page's messages by day, with message ``at`` in full, in five statements."""
    places = page.object_list
    if not places:
        return []
    turns = read_turns(principal, conversation, places[0], places[-1], whole=_number(at, conversation.message_count))
    by_day = groupby(turns, key=lambda each: timezone.localtime(each.at).date())
    return [ReaderDay(day, list(those)) for day, those in by_day]


def read_turns(
    principal: Principal, conversation: Conversation, first: int, last: int, *, whole: int = 0
) -> list[ReaderMessage]:
    """Return messages ``first`` to ``last``, with message ``whole`` in full."""
    rows = Message.objects.visible_to(principal).filter(conversation=conversation, index__gte=first, index__lte=last)
    shown = (
        "conversation_id",
        "index",
        "role",
        "speaker",
        "content",
        "at",
        "memory_off",
        "declined",
        "processed",
        "held_until",
    )
    messages = list(rows.only(*shown).order_by("index"))
    around = _around(principal, [message.pk for message in messages])
    around.answers = answers_on(principal, conversation, [message.index for message in messages])
    agent = agent_link(conversation.agent_id, conversation.agent.name if conversation.agent else "")
    turns = [_turn(each, agent, around, whole=each.index + 1 == whole) for each in messages]
    waiting = {each.index + 1 for each in messages if _waits_for_a_yes(each)}
    turns = [replace(each, asks=each.number - 1) if each.number - 1 in waiting else each for each in turns]
    return [*turns[:-1], replace(turns[-1], again=_asked_before(messages, turns[-1], conversation))] if turns else []


def _waits_for_a_yes(message: Message) -> bool:
    held = message.held_until is not None and message.held_until > timezone.now()
    return held and not (message.processed or message.declined)


def _asked_before(messages: Sequence[Message], last: ReaderMessage, conversation: Conversation) -> str:
    """Return the message before a stopped last answer, if it is complete."""
    if len(messages) < 2 or last.number != conversation.message_count or last.answer is None or not last.answer.ended:
        return ""
    said = messages[-2]
    return said.content if said.role == Message.Role.USER and MARK not in said.content else ""


def _number(at: str, most: int) -> int:
    """Parse the number of a message; 0 for an invalid one."""
    number = int(at) if at.isdecimal() and len(at) < 10 else 0
    return number if number <= most else 0


def _around(principal: Principal, ids: Sequence[UUID]) -> _Around:
    around = _Around()
    memories = Memory.objects.visible_to(principal).filter(state__in=_USED)
    said = MemoryEvidence.objects.filter(message__in=ids, version__memory__in=memories).select_related(
        "version__memory"
    )
    columns = ("content", "state", "version")
    seen = set()
    lately = timezone.now() - FRESH
    for row in said.only(
        "message_id",
        "quote",
        "version__number",
        "version__recorded_from",
        "version__recorded_from_rev",
        *(f"version__memory__{name}" for name in columns),
    ).order_by("-id"):
        version, memory = row.version, row.version.memory
        if (row.message_id, memory.pk) not in seen:  # A later wording keeps the evidence of the first.
            seen.add((row.message_id, memory.pk))
            rev = version.recorded_from_rev
            fresh = version.recorded_from > lately
            around.learned[row.message_id].append(
                LearnedStatement(
                    noun="memory",
                    key=memory.pk,
                    version=memory.version,
                    content=in_second_person(memory.content),
                    address=reverse("memory-page", args=[memory.pk]),
                    quote=row.quote,
                    waits=memory.state == Memory.State.PROPOSED,
                    fresh=fresh,
                    undo=reverse("undo", args=[[(rev, rev)]]) if fresh and version.number == memory.version else "",
                )
            )
    facts = LegacyFact.objects.mine(principal).filter(state__in=_USED)
    behind = FactEvidence.objects.filter(message__in=ids, fact__in=facts).select_related("fact")
    current = FactVersion.objects.filter(fact=OuterRef("fact"), number=OuterRef("fact__version"))
    told = behind.annotate(
        worded_at=Subquery(current.values("recorded_from")), worded_in=Subquery(current.values("recorded_from_rev"))
    )
    of_facts = (*columns, "reviewed_at")
    for each in told.only("message_id", "quote", *(f"fact__{name}" for name in of_facts)).order_by("id"):
        fact, fresh = each.fact, each.worded_at > lately
        around.learned[each.message_id].append(
            LearnedStatement(
                noun="fact",
                key=str(fact.pk),
                version=fact.version,
                content=fact_in_words(fact.content),
                address=reverse("fact-page", args=[fact.pk]),
                quote=each.quote,
                waits=is_unused(fact, principal.review),
                fresh=fresh,
                undo=reverse("undo", args=[[(each.worded_in, each.worded_in)]]) if fresh else "",
            )
        )
    for message_id, text in (
        Withheld.objects.visible_to(principal)
        .filter(message__in=ids, object_type="message")
        .values_list("message_id", "text")
    ):
        around.taken[message_id] = around.taken.get(message_id, False) or bool(text)
    return around


def _turn(message: Message, agent: str, around: _Around, *, whole: bool) -> ReaderMessage:
    content = message.content if whole else shorten(message.content, SHOWN_CHARACTERS)
    number, learned = message.index + 1, around.learned.get(message.pk, [])
    left = message.content.replace(MARK, "").strip() if message.pk in around.taken else message.content
    return ReaderMessage(
        number=number,
        speaker=speaker_of(message.role, message.speaker, agent),
        mine=message.role == Message.Role.USER,
        at=message.at,
        words=list(_words(content, learned, around.taken.get(message.pk))),
        whole=""
        if whole or len(message.content) <= SHOWN_CHARACTERS
        else message_address(message.conversation_id, number),
        learned=learned,
        memory_off=message.memory_off,
        declined=message.declined,
        can_go=bool(left) or around.taken[message.pk],
        answer=around.answers.given.get(message.index),
        missing=around.answers.missing.get(message.index),
    )


def _words(content: str, learned: Iterable[LearnedStatement], taken: bool | None) -> Iterator[Words]:
    """Split a text into pieces; ``taken``: None without withheld words, else whether they can be restored."""
    marked: list[tuple[Span, Words]] = []
    if taken is not None:
        out = Words("withheld", _("withheld"), reverse("withheld-list")) if taken else Words("erased", _("erased"))
        marked += [(Span(*each.span()), out) for each in re.finditer(re.escape(MARK), content)]
    for each in learned:
        marked += [
            (Span(*found.span()), Words("remembered", found[0], each.address))
            for found in find_all(each.quote, content)[:1]
        ]
    at = 0
    for span, words in sorted(marked, key=lambda each: (each[0].start, -each[0].end)):
        if span.start < at:
            continue  # Overlapping quotes: both are listed below the message.
        if span.start > at:
            yield Words("plain", content[at : span.start])
        yield words
        at = span.end
    if at < len(content):
        yield Words("plain", content[at:])

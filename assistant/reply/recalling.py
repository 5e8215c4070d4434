"""Recall for offline answers: statements in words for the person, with their sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import reduce
from operator import or_
from statistics import mean

from django.db.models import Q, Subquery
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts.principals import Principal
from conversations.models import Conversation, Message
from conversations.passages import MARK
from facts.models import LegacyFact
from language.base import ReplyRequest, Source
from language.heard import Heard
from language.reading.answering import asks_of_legacy, matching_sources
from language.reading.questions import OF_ME, asked_of_talk, asks_of_me, is_question, tells_something, wanted_in
from language.reading.revising import may_correct
from language.reading.stock import QUESTIONS
from language.reading.topics import SEARCHED, topic_of
from language.shown import quoted
from memories.models import Memory, MemoryEvidence
from statements.policy.naming import fact_in_words, names_the_user
from statements.policy.urgency import urgency

from ..recall.query import Question, Result, memory_query
from .actions import Begun
from .hearing import agrees_in_words, asked_about, find_said_at, heard_in, nearness, said_here
from .refused import as_told, heard_refusal

_MOST = 12
_MOST_LOOKED_AT = 100
"""How many memories are ranked for a question that names no topic."""
_BUDGET_TOKENS = 1_500
_NEAR, _NEARER, _LEAD = 0.8, 0.045, 0.02
"""From when on a statement without a word of the question is near to it.

The least cosine with it, how much more that is than with any other question, and the lead in this over the next.
Measured with the bundled embedder. With one whose cosines are lower, fewer statements are told as near.
"""
_ANY_QUESTIONS = (
    "What do you know about me?",
    "Who is that?",
    "When was it?",
    "Where is it?",
    "How much is it?",
    "What is it called?",
)
"""Questions about nothing: short statements are near to all of them, whatever is asked."""


def read_for(principal: Principal, begun: Begun, request: ReplyRequest) -> ReplyRequest:
    """Add possible answers, best first, and the message's statements to the request.

    Neither if memory is off or the conversation is private.
    """
    with translation.override(begun.language):
        return _read_for(principal, begun, replace(request, language=begun.language))


def _read_for(principal: Principal, begun: Begun, request: ReplyRequest) -> ReplyRequest:
    if not begun.learns:
        private = Conversation.objects.visible_to(principal).must_find(begun.conversation_id).private
        heard = heard_refusal(begun) if begun.turn.refusals else Heard()
        return replace(request, heard=heard, closed="private" if private else "off")
    agrees = agrees_in_words(begun.conversation_id, begun.question, begun.message_index)
    held = asked_about(begun.conversation_id, begun.message_index, begun.question, agrees=agrees)
    found = _results(principal, begun, begun.question if held is None else held.content)
    heard = heard_in(principal, begun, held)
    if asks_of_legacy(begun.question, heard.about):
        told: Sequence[Source] = _of_legacy(principal, begun)
        total = len(told)
    else:
        told = _sources(principal, begun, found)
        total = Memory.objects.visible_to(principal).in_use(principal).count() if asks_of_me(begun.question) else 0
    unknown = () if heard.about else _unknown(principal)
    return replace(request, found=tuple(dict.fromkeys(told)), heard=heard, unknown=unknown, remembered=total)


def _results(principal: Principal, begun: Begun, query: str) -> Sequence[Result]:
    """Search for a message, and for the topic that a question names."""
    beside = [name for name in ("facts", "turns") if _may_read(principal, name)]
    queries = [(query[:4_000], ("memories", *beside))]
    if is_question(query):  # Memories must not be crowded out by messages.
        queries = [(query[:4_000], sources) for sources in (("memories", *beside[:1]), tuple(beside[1:])) if sources]
        topic = topic_of(wanted_in(query)) if OF_ME.search(query) else ""
        queries += [(SEARCHED[topic], ("memories",))] if topic else []
    return [
        result
        for words, sources in queries
        for result in memory_query(
            principal,
            Question(
                query=words,
                conversation=begun.conversation_id,
                top_k=_MOST,
                budget_tokens=_BUDGET_TOKENS,
                sources=sources,
            ),
        ).results
    ]


def _sources(principal: Principal, begun: Begun, found: Sequence[Result]) -> Sequence[Source]:
    """Return possible answers that hold now; for a question, those of this conversation first."""
    day = _day_of(principal)
    when = asked_of_talk(begun.question)
    if when is not None:
        return find_said_at(principal, begun, when, elsewhere=_may_read(principal, "turns"))
    telling = [result for result in found if _tells(result, begun)]
    since = _put_right_since(principal, telling)
    authors = _authors(principal, telling)
    told = [
        _source(principal, result, day, since.get(_place(result), ""), authors.get(str(result.id), ""))
        for result in telling
    ]
    if not is_question(begun.question):
        return told
    known = {source.text for source in told}
    told = [*(source for source in said_here(principal, begun) if source.text not in known), *told]
    if asks_of_me(begun.question):
        return [*_most_important(principal, day), *told]
    return told if matching_sources(begun.question, told)[0] else _with_nearest(begun.question, told)


def _with_nearest(question: str, told: Sequence[Source]) -> list[Source]:
    """Mark the statement that is much nearer in meaning to the question than all others, if there is one.

    What counts is how much nearer it is to this question than to questions about nothing.
    """
    statements = list(dict.fromkeys(source for source in told if not source.quoted))
    cosines = nearness([source.text for source in statements], question, *_ANY_QUESTIONS)
    if not cosines:
        return list(told)
    asked, *others = cosines
    nearer = [cosine - mean(usual) for cosine, usual in zip(asked, zip(*others, strict=True), strict=True)]
    best, *rest = sorted(nearer, reverse=True)
    place = nearer.index(best)
    stands_out = asked[place] >= _NEAR and best >= _NEARER and all(best - other >= _LEAD for other in rest[:1])
    return [replace(source, stands_out=stands_out and source == statements[place]) for source in told]


_Place = tuple[object, object]
"""The conversation of a message, and its index there."""


def _place(result: Result) -> _Place:
    return result.details.get("conversation"), result.details.get("index")


def _put_right_since(principal: Principal, found: Sequence[Result]) -> dict[_Place, str]:
    """Return corrections of found messages: the current memory, or the person's later correction."""
    said = {_place(result): result.details for result in found if result.source == "turns"}
    if not said:
        return {}
    places = [Q(message__conversation=conversation, message__index=index) for conversation, index in said]
    rows = MemoryEvidence.objects.filter(reduce(or_, places), version__memory__in=Memory.objects.visible_to(principal))
    rows = rows.exclude(version__recorded_to=None).order_by("version__number")
    columns = ("message__conversation", "message__index", "version__memory__content", "version__memory__state")
    since = {
        (conversation, index): _("now it is: %(statement)s") % {"statement": as_told(content)}
        if state == Memory.State.ACTIVE
        else _("it is put away")
        for conversation, index, content, state in rows.values_list(*columns)
    }
    for place, details in said.items():
        later = [each["content"] for each in said.values() if each["at"] > details["at"]]
        right = next((content for content in later if may_correct(content, details["content"])), "")
        if right and place not in since:
            since[place] = _("later you said: “%(words)s”") % {"words": " ".join(right.split())}
    return since


def _most_important(principal: Principal, day: Callable[[datetime], str]) -> list[Source]:
    """Return memories for a question that names no topic: fields, health and close people first, then by importance."""
    rows = (
        Memory.objects.visible_to(principal).in_use(principal).order_by("-pinned", "-importance", "-created_at", "pk")
    )
    columns = ("pinned", "field", "content", "importance", "created_at")
    found = list(rows.values_list(*columns)[:_MOST_LOOKED_AT])
    found.sort(key=lambda row: (not row[0], not row[1], urgency(row[2], row[3])))
    return [
        Source(as_told(content), _("remembered on %(day)s") % {"day": day(at)}, stored=content, at=at)
        for *_rank, content, _importance, at in found[:_MOST]
    ]


def _of_legacy(principal: Principal, begun: Begun) -> list[Source]:
    """Return what the talk told of the legacy, and the facts about it: birth, death and family first."""
    legacy = Conversation.objects.visible_to(principal).filter(pk=begun.conversation_id).values("legacy")[:1]
    rows = LegacyFact.objects.visible_to(principal).in_use(principal).filter(legacy=Subquery(legacy))
    rows = rows.select_related("user").without_vectors().order_by("extracted_at", "id")
    facts = sorted(rows[:_MOST_LOOKED_AT], key=lambda fact: urgency(fact.content))
    day = _day_of(principal)
    noted = [
        _fact_source(
            fact.content,
            fact.extracted_at,
            day,
            shared=fact.visibility == LegacyFact.Visibility.SHARED,
            author="" if fact.user_id == principal.user_id else fact.user.get_full_name(),
        )
        for fact in facts
    ]
    known = {source.text for source in noted}
    return [*noted, *(each for each in said_here(principal, begun) if each.text not in known and each.of_legacy)]


def _fact_source(content: str, at: datetime, day: Callable[[datetime], str], *, shared: bool, author: str) -> Source:
    origin = (_("shared fact of %(day)s") if shared else _("private fact of %(day)s")) % {"day": day(at)}
    return Source(fact_in_words(content, author), origin, of_legacy=True, stored=content, at=at)


def _unknown(principal: Principal) -> list[str]:
    """Return questions about unknown fields; none if an agent talks for the person."""
    if principal.kind != "person":
        return []
    known = Memory.objects.visible_to(principal).active().order_by().values_list("field", "category").distinct()
    return [name for name in QUESTIONS if name not in {each for pair in known for each in pair}]


def _may_read(principal: Principal, source: str) -> bool:
    return source in principal.sources and (source != "turns" or principal.recalls_record)


def _tells(result: Result, begun: Begun) -> bool:
    """Whether a result is a statement, not a question by the person or an assistant's message about it."""
    if result.source != "turns":
        return True
    said = result.details
    here = (said["conversation"], said["index"]) == (begun.conversation_id, begun.message_index)
    return said["role"] == Message.Role.USER and not here and tells_something(said["content"])


def _authors(principal: Principal, found: Sequence[Result]) -> dict[str, str]:
    """Return by id who wrote the facts of others that tell of "the user"; no query if there may be none."""
    shared = [
        result.id
        for result in found
        if result.source == "facts"
        and result.details["visibility"] == LegacyFact.Visibility.SHARED
        and names_the_user(result.details["content"])
    ]
    if not shared:
        return {}
    others = LegacyFact.objects.of_others(principal).filter(pk__in=shared).select_related("user").only("user")
    return {str(fact.pk): fact.user.get_full_name() for fact in others}


def _source(
    principal: Principal, result: Result, day: Callable[[datetime], str], since: str, author: str = ""
) -> Source:
    """Format a result for the person, with corrections ``since``; a fact of another ``author`` with their name."""
    details = result.details
    if result.source == "memories":
        content, at = details["content"], details["created_at"]
        return Source(as_told(content), _("remembered on %(day)s") % {"day": day(at)}, stored=content, at=at)
    if result.source == "facts":
        shared = details["visibility"] == LegacyFact.Visibility.SHARED
        return _fact_source(details["content"], details["extracted_at"], day, shared=shared, author=author)
    said = " ".join(details["content"].replace(MARK, "…").split())
    origin = _("you said so on %(day)s") % {"day": day(details["at"])}
    told = f"{origin}; {since}" if since else origin
    return Source(quoted(said), told, quoted=True, stored="" if since else said, at=details["at"])


def _day_of(principal: Principal) -> Callable[[datetime], str]:
    zone = principal.zone

    def day(at: datetime) -> str:
        return date_format(at.astimezone(zone), _("j F Y"))

    return day

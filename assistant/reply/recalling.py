"""What is found for a message where no language model answers it, in words for the person, with where it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from accounts.principals import Principal
from conversations.models import Message
from language.base import Heard, ReplyRequest, Source
from language.reading.replying import QUESTIONS, asks_of_me, is_question
from language.second_person import second_person, told_to
from memories.models import Memory

from ..recall.query import Question, Result, memory_query
from .actions import Begun
from .hearing import asked_about, heard_in, said_here

_MOST = 12
_IN_THEIR_WORDS = re.compile(r"(?:I|My)\b")
_BUDGET_TOKENS = 1_500


def read_for(principal: Principal, begun: Begun, request: ReplyRequest) -> ReplyRequest:
    """The request with what may answer the message, best first, and what it says; neither of them while memory is off.

    The same in a private talk.
    """
    if not begun.learns:
        return replace(request, heard=Heard(refused=bool(begun.turn.refusals)))
    beside = [name for name in ("facts", "turns") if _may_read(principal, name)]
    held = asked_about(begun.conversation_id, begun.message_index, begun.question)
    question = Question(
        query=(begun.question if held is None else held.content)[:4_000],
        conversation=begun.conversation_id,
        top_k=_MOST,
        budget_tokens=_BUDGET_TOKENS,
        sources=("memories", *beside),
    )
    found = memory_query(principal, question).results
    day = _day_of(principal)
    told = [_source(principal, result, day) for result in found if _tells(result, begun)]
    if is_question(begun.question):
        known = {source.text for source in told}
        told = [*(source for source in said_here(principal, begun) if source.text not in known), *told]
    if asks_of_me(begun.question):
        told = [*_most_important(principal, day), *told]
    near = {str(result.id) for result in found if result.source == "memories"}
    heard = heard_in(principal, begun, held, near)
    return replace(request, found=tuple(dict.fromkeys(told)), heard=heard, unknown=_unknown(principal))


def _most_important(principal: Principal, day: Callable[[datetime], str]) -> list[Source]:
    """What is remembered, the most important first: a question that names nothing is like nothing in particular."""
    rows = (
        Memory.objects.visible_to(principal).in_use(principal).order_by("-pinned", "-importance", "-created_at", "pk")
    )
    return [
        Source(_as_told(content), f"remembered on {day(at)}")
        for content, at in rows.values_list("content", "created_at")[:_MOST]
    ]


def _unknown(principal: Principal) -> list[str]:
    """What a person may be asked, as nothing is known of it; nothing where somebody else talks for them."""
    if principal.kind != "person":
        return []
    known = Memory.objects.visible_to(principal).active().order_by().values_list("field", "category").distinct()
    return [name for name in QUESTIONS if name not in {each for pair in known for each in pair}]


def _may_read(principal: Principal, source: str) -> bool:
    return source in principal.sources and (source != "turns" or principal.recalls_record)


def _tells(result: Result, begun: Begun) -> bool:
    """Whether it says something: a question that the person asked does not, nor what an assistant said of it."""
    if result.source != "turns":
        return True
    said = result.details
    here = (said["conversation"], said["index"]) == (begun.conversation_id, begun.message_index)
    return said["role"] == Message.Role.USER and not here and not is_question(said["content"])


def _source(principal: Principal, result: Result, day: Callable[[datetime], str]) -> Source:
    """A result as it is told to the person."""
    details = result.details
    if result.source == "memories":
        return Source(_as_told(details["content"]), f"remembered on {day(details['created_at'])}")
    if result.source == "facts":
        origin = f"{details['visibility']} fact of {day(details['extracted_at'])}"
        return Source(told_to(principal.name, details["content"]), origin, of_legacy=True)
    said = " ".join(details["content"].split())
    return Source(f"“{said}”", f"you said so on {day(details['at'])}", quoted=True)


def _as_told(content: str) -> str:
    """A memory as the person is told it; in their own words it is quoted, as the assistant is no "I" of theirs."""
    return f"“{content}”" if _IN_THEIR_WORDS.match(content) else second_person(content)


def _day_of(principal: Principal) -> Callable[[datetime], str]:
    try:
        zone = ZoneInfo(principal.time_zone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = ZoneInfo("UTC")

    def day(at: datetime) -> str:
        there = at.astimezone(zone)
        return f"{there.day} {there:%B %Y}"

    return day

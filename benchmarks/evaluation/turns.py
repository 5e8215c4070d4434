"""Rate, duration and benefit of a turn's second search.

Each of the person's messages is prepared as a turn again, with the record as of its arrival, and each question of the
file as the first turn of another conversation. A follow-up without keywords comes after each question; the messages
that answer the question count as its answer, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from accounts.principals import Principal
from assistant.recall.turn import gather
from assistant.recall.turn.pieces import Recalled
from conversations.actions import NewMessage, conversation_create, messages_append, messages_index
from conversations.models import Conversation, Message
from conversations.policy import passage
from language.backends import embedder_replaced

from .datasets import Case
from .figures import milliseconds
from .measuring import Progress, embed_messages, person_of, taken_back, told
from .vector_cache import CachingEmbedder

NAMES_NOTHING = ("And when was that?", "Why?", "What else do you know about it?", "And after that?")
ANSWER = "Let me think."


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """The result of one turn: whether and how long it searched again, and the recall of its answer.

    ``kind`` is ``said``, ``question`` or ``follow-up``. ``first`` and ``recalled`` are the recall of the first search
    and of both, None without gold messages. ``added`` is the number of lines that the second search added.
    """

    kind: str
    again_seconds: float | None
    added: int
    first: float | None = None
    recalled: float | None = None


def measure_turns(
    cases: Sequence[Case], embedder: CachingEmbedder, *, progress: Progress = lambda count: None
) -> list[TurnOutcome]:
    """Prepare all turns of every case. The database is unchanged afterwards.

    Raises EmbedderUnavailable.
    """
    outcomes: list[TurnOutcome] = []
    with embedder_replaced(embedder):
        for case in cases:
            embed_messages(case, embedder, progress)
            at = timezone.now()
            _embed_turns(case, embedder, at)
            with told(case) as conversation:
                principal = person_of(conversation)
                outcomes += _said_again(principal, conversation)
                for outcome in _asked(principal, conversation, case, at):
                    outcomes.append(outcome)
                    progress(outcome.kind == "question")
    return outcomes


def _embed_turns(case: Case, embedder: CachingEmbedder, at: datetime) -> None:
    """Cache the vectors of questions and messages before a transaction begins."""
    said = [message.content for message in case.conversation.messages if message.role == Message.Role.USER]
    asked = [question.text for question in case.questions]
    for text in (*said, *asked, *NAMES_NOTHING):
        embedder.embed_query(text)
    embedder.embed_passages([passage(text, "", at) for text in (*asked, ANSWER)])


def turns_as_json(outcomes: Sequence[TurnOutcome]) -> dict[str, Any]:
    """Return the rates from 0 to 1 by kind of turn, and the durations of second searches in milliseconds."""
    kinds = {name: [outcome for outcome in outcomes if outcome.kind == name] for name in ("said", "question")}
    follow_ups = [outcome for outcome in outcomes if outcome.kind == "follow-up"]
    seconds = [outcome.again_seconds for outcome in outcomes if outcome.again_seconds is not None]
    return {
        **{name: _rates(group) for name, group in kinds.items()},
        "follow-up": {
            **_rates(follow_ups),
            "first": _mean([outcome.first or 0.0 for outcome in follow_ups]),
            "recalled": _mean([outcome.recalled or 0.0 for outcome in follow_ups]),
        },
        "again_ms": {**milliseconds(seconds), "most": round(1_000 * max(seconds), 2)} if seconds else None,
    }


def _rates(outcomes: Sequence[TurnOutcome]) -> dict[str, float]:
    again = [outcome for outcome in outcomes if outcome.again_seconds is not None]
    return {
        "turns": len(outcomes),
        "again": round(len(again) / max(len(outcomes), 1), 4),
        "added": _mean([float(outcome.added > 0) for outcome in again]),
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / max(len(values), 1), 4)


def _said_again(principal: Principal, conversation: Conversation) -> Iterator[TurnOutcome]:
    """Prepare each of the person's messages, except the first, as a turn of its own."""
    rows = Message.objects.visible_to(principal).filter(conversation=conversation, role=Message.Role.USER)
    for message in rows.without_vectors().order_by("index"):
        conversation.summarized_upto = _summarized(message.index)
        yield _outcome("said", _recalled(principal, conversation, message.content, message.index))


def _summarized(upto: int) -> int:
    """Return how many of ``upto`` messages are summarised, if summaries are written as soon as they are due."""
    over = upto - settings.SUMMARY_THRESHOLD_MESSAGES
    return settings.SUMMARY_BATCH_MESSAGES * max(0, -(-over // settings.SUMMARY_BATCH_MESSAGES))


def _asked(principal: Principal, conversation: Conversation, case: Case, at: datetime) -> Iterator[TurnOutcome]:
    places = dict(Message.objects.visible_to(principal).filter(conversation=conversation).values_list("pk", "index"))
    for number, question in enumerate(case.questions):
        gold = {key for key, place in places.items() if place in question.gold}
        with taken_back():
            other = conversation_create(principal)
            yield _outcome("question", _recalled(principal, other, question.text, 0), gold)
            said = [NewMessage("user", question.text, at=at), NewMessage("assistant", ANSWER, at=at)]
            messages_append(principal, other.pk, said)
            messages_index(other.pk)
            other.refresh_from_db()
            follow_up = NAMES_NOTHING[number % len(NAMES_NOTHING)]
            yield _outcome("follow-up", _recalled(principal, other, follow_up, 2), gold)


def _recalled(principal: Principal, conversation: Conversation, content: str, upto: int) -> Recalled:
    draft = gather(principal, conversation, content, "", upto=upto, budget=settings.TURN_BUDGET_TOKENS)
    return draft.recalled


def _outcome(kind: str, recalled: Recalled, gold: Collection[Any] = ()) -> TurnOutcome:
    found = [piece.id for piece in recalled.turns]
    first = found[: settings.RECALLED_TURNS]
    shares = [len(set(gold).intersection(ids)) / len(gold) if gold else None for ids in (first, found)]
    added = max(0, len(found) - len(first)) if recalled.again else 0
    return TurnOutcome(kind, recalled.again_seconds, added, *shares)

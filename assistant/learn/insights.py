"""Insights: guesses about a person from recent memories and messages, at most once a day.

A background job processes one person at a time. Its findings and its end are stored in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Max, OuterRef, Q
from django.utils import timezone

from accounts import categories
from accounts.principals import Principal
from accounts.upkeep import start_for_people, work_for_person
from conversations.models import Message
from journal.actions import count_use, ledger_write, tokens_used_today
from journal.exceptions import Gated
from journal.leases import Lease, finish_job
from journal.models import JobRun, OperationEvent
from journal.operation_actions import note_operation
from journal.verdicts import compares_unlocked
from language.backends import get_model
from language.base import KnownMemory, ModelAnswerInvalid, Utterance
from language.insights import Insight, InsightRequest
from memories.actions import ReadyInsight, insights_record, prepare_new
from memories.actions.consolidating import UPKEEP_PURPOSES
from memories.models import Kind, Memory
from memories.policy import writing
from memories.records import QUOTE_CHARACTERS, NewMemory, Said
from statements.wording import Embedded

from .learning import as_read

log = structlog.get_logger(__name__)

JOB = "insights"
TASK = "assistant.find_insights"
CATEGORY = "relationship_dynamic"
MOST_MESSAGES = 20
BROKEN = "answer"
"""Why a run stopped whose answer was invalid. The model was asked, but nothing of the basis was used."""
ACTIVITIES = ("activity", "event", "recent_activity")


def insights_due() -> int:
    """Start runs for people with recent memories and no run in a day, and resume lost runs.

    Returns how many were started, at most ``INSIGHT_PEOPLE``.
    """
    now = timezone.now()
    noted = Memory.objects.active().exclude(kind=Kind.INSIGHT).filter(user=OuterRef("pk"))
    noted = noted.filter(updated_at__gt=now - timedelta(hours=settings.INSIGHT_CHANGED_HOURS))
    return start_for_people(JOB, TASK, noted, since=now - _a_while(), most=settings.INSIGHT_PEOPLE)


def insights_find(job_id: UUID) -> None:
    """Find insights about one person, unless another worker does.

    No model is called within ``INSIGHT_HOURS`` of the last call, without news, or once ``UPKEEP_TOKENS_PER_DAY`` are
    used. If the model is unavailable, it is retried later; an invalid answer ends the run for today.
    """
    work_for_person(job_id, _work, task=TASK, lease_seconds=settings.INSIGHT_LEASE_SECONDS)


def _work(lease: Lease, principal: Principal, user_id: UUID) -> None:
    stopped = _find(lease, principal, user_id)
    if stopped:
        finish_job(lease.job, stopped=stopped)
        note_operation("worker", JOB, OperationEvent.Status.SKIPPED, user_id=user_id)


def _a_while() -> timedelta:
    return timedelta(hours=settings.INSIGHT_HOURS)


def _find(lease: Lease, principal: Principal, user_id: UUID) -> str:
    """Ask the model, and store its answer with the end of the job. Returns why no model was asked, or ''."""
    if not principal.has_memory or CATEGORY not in categories.load().by_name:
        return "memory_off"
    found, asked = Q(result__has_key="found"), Q(result__has_key="found") | Q(result__stopped=BROKEN)
    runs = JobRun.objects.filter(kind=JOB, user_id=user_id, state=JobRun.State.DONE)
    last = runs.aggregate(found=Max("finished_at", filter=found), asked=Max("finished_at", filter=asked))
    if last["asked"] is not None and last["asked"] > timezone.now() - _a_while():
        return "lately"
    basis = _Basis.read(principal, user_id)
    if not basis.is_new_since(last["found"]):
        return "nothing_new"
    model = get_model()
    if not model.offline and tokens_used_today(*UPKEEP_PURPOSES) >= settings.UPKEEP_TOKENS_PER_DAY:
        return "tokens"
    try:
        answer = count_use(JOB, model.insights, basis.request())
    except ModelAnswerInvalid as error:
        log.warning("insights_invalid", error=type(error).__name__)
        return BROKEN
    ready = basis.make_ready(principal, user_id, model.name, answer.found)
    for memory_id in _record(lease, principal, user_id, basis, ready):
        note_operation("worker", JOB, user_id=user_id, object_id=memory_id, category=CATEGORY)
    return ""


@compares_unlocked
def _record(
    lease: Lease, principal: Principal, user_id: UUID, basis: _Basis, ready: Sequence[ReadyInsight]
) -> list[str]:
    with ledger_write(principal.actor, user_id) as write:
        lease.renew()
        made = insights_record(write, principal, basis.still_so(ready))
        finish_job(lease.job, found=len(made))
    return made


@dataclass(frozen=True, slots=True)
class _Basis:
    """The input of insights: the newest memories, and the person's last messages of one conversation."""

    memories: Sequence[Memory]
    messages: Sequence[Message]

    @classmethod
    def read(cls, principal: Principal, user_id: UUID) -> _Basis:
        """Load activities, statements, and the last ``INSIGHT_CHARACTERS`` of messages."""
        in_use = Memory.objects.visible_to(principal).in_use(principal).unexpired(timezone.now())
        rows = in_use.filter(valid_to__isnull=True, verbatim=False).without_vectors().order_by("-updated_at", "pk")
        activities = rows.filter(kind=Kind.EPISODIC) | rows.filter(kind=Kind.SEMANTIC, category__in=ACTIVITIES)
        statements = rows.filter(kind=Kind.SEMANTIC, field="").exclude(category__in=ACTIVITIES)
        newest = [
            *activities[: settings.INSIGHT_ACTIVITIES],
            *statements[: settings.INSIGHT_STATEMENTS],
        ]
        return cls(newest, _last_words(principal, user_id))

    def is_new_since(self, last: datetime | None) -> bool:
        """Whether it contains anything newer than an earlier run that used its basis."""
        moments = [*(each.updated_at for each in self.memories), *(each.created_at for each in self.messages)]
        return bool(moments) and (last is None or max(moments) > last)

    def request(self) -> InsightRequest:
        """Return the input as shown to the model."""
        noted = [
            KnownMemory(each.pk, each.category, each.subject, each.content, each.field, each.updated_at.date())
            for each in self.memories
        ]
        said = [Utterance(each.index, each.role, each.speaker, _words(each), each.at) for each in self.messages]
        return InsightRequest(noted, said)

    def make_ready(
        self, principal: Principal, user_id: UUID, written_by: str, found: Sequence[Insight]
    ) -> list[ReadyInsight]:
        """Return the insights that pass the gates, with vectors. Call it outside the transaction."""
        passed = []
        for insight in found:
            try:
                content = writing.admitted_from_model(insight.content)
                topics = writing.clean_topics(insight.topics, own_word=False)
            except Gated:
                continue
            new = NewMemory(content, CATEGORY, topics=topics, importance=insight.importance, kind=Kind.INSIGHT)
            passed.append((insight, new))
        texts = Embedded.of_each([new.content for _, new in passed])
        ready = []
        for (insight, new), text in zip(passed, texts, strict=True):
            prepared = prepare_new(principal, user_id, new, text, written_by=written_by)
            messages = [each for each in self.messages if each.index in insight.messages]
            said = [Said(each.pk, each.content[:QUOTE_CHARACTERS], each.at) for each in messages]
            talk = messages[0].conversation_id if messages else None
            ready.append(ReadyInsight(prepared, insight.memories, said, talk))
        return ready

    def still_so(self, ready: Sequence[ReadyInsight]) -> list[ReadyInsight]:
        """Return the insights whose basis is unchanged since it was read."""
        read = {each.pk: each.version for each in self.memories}
        now = dict(Memory.objects.active().filter(pk__in=read).values_list("pk", "version"))
        texts = {each.pk: each.content for each in self.messages}
        standing = Message.objects.filter(pk__in=texts).exclude(pk__in=Message.objects.not_recalled(timezone.now()))
        said = {pk: content for pk, content in standing.values_list("pk", "content") if content == texts[pk]}
        return [
            each
            for each in ready
            if all(now.get(memory_id) == read[memory_id] for memory_id in each.memories)
            and all(quoted.message_id in said for quoted in each.said)
        ]


def _words(message: Message) -> str:
    return as_read(message)[: settings.INSIGHT_CHARACTERS]


def _last_words(principal: Principal, user_id: UUID) -> list[Message]:
    """Return the person's last messages of their latest conversation (not private, about no legacy), oldest first."""
    open_ones = Message.objects.visible_to(principal).recallable(None).filter(user_id=user_id, role=Message.Role.USER)
    open_ones = open_ones.exclude(pk__in=Message.objects.not_recalled(timezone.now()).filter(user_id=user_id))
    latest = open_ones.order_by("-created_at", "-index").values_list("conversation_id", flat=True).first()
    if latest is None:
        return []
    found: list[Message] = []
    left = settings.INSIGHT_CHARACTERS
    for message in open_ones.filter(conversation_id=latest).without_vectors().order_by("-index")[:MOST_MESSAGES]:
        left -= len(_words(message))
        if left < 0 and found:
            break
        if _words(message):
            found.append(message)
    return found[::-1]

"""Extraction of memories from a part of a conversation: which messages may be used, the tool loop, the findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from accounts.categories import load as load_categories
from accounts.models import Member
from accounts.principals import Principal
from conversations.models import Conversation, Message
from journal.actions import count_use
from journal.exceptions import NotFound
from journal.leases import Lease, claim_job, open_job, working
from journal.operation_actions import note_operation
from language.base import (
    EpisodeCandidate,
    LanguageError,
    LanguageModel,
    MemoryCandidate,
    ToolRequest,
    ToolRound,
    Usage,
    Utterance,
)
from language.fencing import without_fences
from language.gates import mask_sensitive

from . import tools
from .knowing import known_memories
from .plan import MOST_EPISODES, Plan
from .writing import Ready, make_ready

_CALLS_A_CHANGE = 3
"""How many calls a model may make for each change that may come of them at once, and for each sentence: some correct
others, some wait."""
_SENTENCE = re.compile(r"[^.!?\n]*\w[^.!?\n]*")


def learns_memories(principal: Principal, conversation: Conversation) -> bool:
    """Whether memories may be extracted from a conversation."""
    return principal.has_memory and not conversation.private


def learns_facts(principal: Principal, conversation: Conversation) -> bool:
    """Whether facts may be extracted: memory is on, and the person is a member of the legacy."""
    if not principal.has_memory or conversation.private or conversation.legacy_id is None:
        return False
    return Member.objects.filter(legacy_id=conversation.legacy_id, user_id=conversation.user_id).exists()


def as_read(message: Message) -> str:
    """Return a message's text for a model, without recalled text and secrets."""
    return mask_sensitive(without_fences(message.content))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a conversation to read.

    ``said``: the usable messages of the user by index; ``others``: why others are not usable; ``at``: when each was
    said; ``read``: the texts as read. A part that only repeats recalled text has no messages.
    """

    messages: tuple[Utterance, ...]
    said: dict[int, str]
    others: dict[int, str]
    at: dict[int, datetime]
    read: dict[int, str]
    legacy_name: str | None = None

    @classmethod
    def of(cls, conversation: Conversation, messages: Sequence[Message], teaches: Callable[[Message], bool]) -> Part:
        """Create a part from open messages. ``teaches`` decides which of the user's are usable."""
        read = [Utterance(m.index, m.role, m.speaker, as_read(m), m.at) for m in messages]
        teaching = {m.index for m in messages if m.role == Message.Role.USER and teaches(m)}
        return cls(
            messages=tuple(utterance for utterance in read if utterance.content),
            said={each.index: each.content for each in read if each.content and each.index in teaching},
            others={
                each.index: "was read before" if each.role == Message.Role.USER else "is not the user's"
                for each in read
                if each.index not in teaching
            },
            at={each.index: each.at for each in read},
            read={each.index: each.content for each in read},
            legacy_name=conversation.legacy.name if conversation.legacy else None,
        )

    def still_so(self, messages: Mapping[int, Message]) -> dict[int, Message]:
        """Return the messages whose text is unchanged, without those withheld meanwhile."""
        return {index: each for index, each in messages.items() if self.read.get(index) == as_read(each)}

    @property
    def by_user(self) -> dict[int, str]:
        """All messages of the user by index, with those that are only context."""
        return {each.index: each.content for each in self.messages if each.role == Message.Role.USER}

    @property
    def most(self) -> int:
        """Maximum number of changes, more of long messages; those over the cap wait."""
        sentences = (len(_SENTENCE.findall(text)) for text in self.said.values())
        return _CALLS_A_CHANGE * sum(max(settings.EXTRACTED_PER_USER_MESSAGE, each) for each in sentences)


@dataclass(frozen=True, slots=True)
class Found:
    """Findings of a part, ready to write, and the number of refused calls by reason."""

    written_by: str
    ready: tuple[Ready, ...] = ()
    refused: tuple[str, ...] = ()
    usage: Usage = field(default_factory=Usage)


def find_memories(
    principal: Principal,
    model: LanguageModel,
    part: Part,
    *,
    candidates: Callable[[], Sequence[MemoryCandidate]],
    episodes: Sequence[EpisodeCandidate] = (),
    keep: Callable[[], object],
) -> Found:
    """Find what to add, change or delete, and prepare the writes. Call it outside any transaction.

    The model calls tools, and sees existing memories. If the person has switched that off, its findings without tools
    (``candidates``) are only added. ``keep`` is called before each further model call.
    Raises ModelUnavailable, ModelAnswerInvalid, and what ``keep`` raises.
    """
    now = timezone.now()
    decides = principal.agentic_memory
    plan, usage = plan_changes(principal, model, part, candidates=candidates, keep=keep)
    told = Plan(principal, part.said, (), MOST_EPISODES, now)
    for episode in episodes:
        told.add_episode(episode, part.at)
    keep()
    ready = make_ready(principal, model, [*plan.steps, *told.steps], part.said, decides=decides)
    return Found(model.name, tuple(ready), (*plan.refused, *told.refused), usage)


def plan_changes(
    principal: Principal,
    model: LanguageModel,
    part: Part,
    *,
    candidates: Callable[[], Sequence[MemoryCandidate]],
    keep: Callable[[], object],
) -> tuple[Plan, Usage]:
    """Return the validated but unwritten changes of a model for a part, and its usage.

    Raises like ``find_memories``.
    """
    plan = Plan(principal, part.said, (), part.most, timezone.now(), part.others)
    if principal.agentic_memory:
        plan.known = known_memories(principal, part.said.values(), vectors=model.offline)
        return plan, _choose(principal, model, part, plan, keep)
    for candidate in candidates():
        plan.add_candidate(candidate)
    return plan, Usage()


def note_refusals(conversation: Conversation, found: Found) -> None:
    """Log the numbers of refused model calls."""
    for why in found.refused:
        note_operation("extract", why[:20], "skipped", user_id=conversation.user_id, thread_id=conversation.pk)


@contextmanager
def working_on(conversation: Conversation, kind: str) -> Iterator[Lease | None]:
    """Lease the job of a kind about a conversation, or yield None if another worker has it. The caller ends it.

    An unavailable model or embedder, or an erased person, is logged, and the job is retried later.
    """
    job = claim_job(
        open_job(kind, conversation.pk, user_id=conversation.user_id).pk, lease_seconds=settings.BATCH_LEASE_SECONDS
    )
    if job is None:
        yield None
        return

    def note_failure(error: Exception) -> None:
        note_operation("worker", kind, "error", user_id=conversation.user_id, thread_id=conversation.pk)

    expected = (LanguageError, NotFound)
    with working(job, lease_seconds=settings.BATCH_LEASE_SECONDS, expected=expected, failed=note_failure) as lease:
        yield lease


def _choose(principal: Principal, model: LanguageModel, part: Part, plan: Plan, keep: Callable[[], object]) -> Usage:
    """Run the tool loop until the model makes no more calls, or its rounds are used up. Returns the usage."""
    categories = sorted(load_categories().by_name)
    request = ToolRequest(
        messages=part.messages,
        user_name=principal.name,
        memories=[known.shown() for known in plan.known],
        tools=tools.specs(categories),
        memory_categories=categories,
        most_calls=part.most,
        legacy_name=part.legacy_name,
    )
    used = Usage()
    for _ in range(settings.EXTRACTION_ROUNDS):
        keep()
        answer = count_use("remember", model.choose_tools, request)
        used = Usage(used.input_tokens + answer.usage.input_tokens, used.output_tokens + answer.usage.output_tokens)
        if not answer.calls:
            break
        results = tuple(plan.answer(call) for call in answer.calls)
        request = replace(request, rounds=(*request.rounds, ToolRound(answer.calls, results)))
        if not request.calls_left:
            break
    return used

"""Reading a part of a conversation for what to remember: what may teach something, who chooses, what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.conf import settings
from django.utils import timezone

from accounts.categories import load as load_categories
from accounts.models import Member
from accounts.principals import Principal
from conversations.models import Conversation, Message
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
"""How many calls a model may make for each change that may come of them at once: some correct others, some wait."""


def learns_memories(principal: Principal, conversation: Conversation) -> bool:
    """Whether anything said there may become a memory."""
    return principal.has_memory and not conversation.private


def learns_facts(principal: Principal, conversation: Conversation) -> bool:
    """Whether facts are learned from a conversation: the person wants memory and is a member of the legacy."""
    if not principal.has_memory or conversation.private or conversation.legacy_id is None:
        return False
    return Member.objects.filter(legacy_id=conversation.legacy_id, user_id=conversation.user_id).exists()


def as_read(message: Message) -> str:
    """A message as a model reads it: without what came out of memory, and without secrets, which it would retell."""
    return mask_sensitive(without_fences(message.content))


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a conversation as it is read.

    ``said`` holds by index the user's messages that may teach something, ``others`` why others can't, ``at`` when each
    was said, ``read`` what was read. A part that only says again what came out of memory has no messages.
    """

    messages: tuple[Utterance, ...]
    said: dict[int, str]
    others: dict[int, str]
    at: dict[int, datetime]
    read: dict[int, str]
    legacy_name: str | None = None

    @classmethod
    def of(cls, conversation: Conversation, messages: Sequence[Message], teaches: Callable[[Message], bool]) -> Part:
        """Read messages that are open. ``teaches`` says which of the user's may teach something."""
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
        """Those of the messages that read as they did: nothing was withheld of them meanwhile."""
        return {index: each for index, each in messages.items() if self.read.get(index) == as_read(each)}

    @property
    def most(self) -> int:
        """How many changes can come of it; those that are over the cap wait."""
        return _CALLS_A_CHANGE * settings.EXTRACTED_PER_USER_MESSAGE * len(self.said)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found in a part: ready to be carried out, and how often the checks refused something, by reason."""

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
    """Find what to remember, change or forget in a part, and make it ready. Call it outside any transaction.

    The model chooses by tools, seeing what is remembered; where the person has that switched off, what it found
    without them (``candidates``) is only ever added. ``keep`` is called before each further question to the model.
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
    near: Collection[str] | None = None,
    keep: Callable[[], object],
) -> tuple[Plan, Usage]:
    """What a model would change for a part, checked but not written, and what it used to say so.

    Of what is remembered it is shown only the memories with the ids ``near``, and those with a field, where these are
    given. Raises as ``find_memories`` does.
    """
    plan = Plan(principal, part.said, (), part.most, timezone.now(), part.others)
    if principal.agentic_memory:
        known = known_memories(principal, part.said.values())
        plan.known = [each for each in known if near is None or each.field or each.id in near]
        return plan, _choose(principal, model, part, plan, keep)
    for candidate in candidates():
        plan.add_candidate(candidate)
    return plan, Usage()


def note_refusals(conversation: Conversation, found: Found) -> None:
    """Log how often the checks refused what a model would have stored."""
    for why in found.refused:
        note_operation("extract", why[:20], "skipped", user_id=conversation.user_id, thread_id=conversation.pk)


@contextmanager
def working_on(conversation: Conversation, kind: str) -> Iterator[Lease | None]:
    """Take the job of a kind about a conversation, or yield None where somebody else has it. Ending it is the caller's.

    A model or an embedder that is away, or a person who is gone, is logged, and the job is tried again later.
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
    """Let the model call tools until it has no more calls, or its rounds are over. Returns what that took."""
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
        answer = model.choose_tools(request)
        used = Usage(used.input_tokens + answer.usage.input_tokens, used.output_tokens + answer.usage.output_tokens)
        if not answer.calls:
            break
        results = tuple(plan.answer(call) for call in answer.calls)
        request = replace(request, rounds=(*request.rounds, ToolRound(answer.calls, results)))
        if not request.calls_left:
            break
    return used

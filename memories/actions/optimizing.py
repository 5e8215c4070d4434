"""Making plans to say a person's memories in fewer, and ending them. ``merging`` carries them out and takes them back.

A plan changes no memory, so it takes no revision. A model is asked outside any transaction; many memories, or a model
that is reached over a network, are the work of a job, a batch at a time: what a batch came to is stored with it, so
that a killed worker loses no more than one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.db.models import Count, Min
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from accounts.queries import principal_for_job
from accounts.scope import acting_as, working_for
from journal.actions import ledger_write
from journal.exceptions import Conflict, Gated, NotFound, Refused, TooMany
from journal.leases import (
    Lease,
    LeaseLost,
    cancel_job,
    claim_job,
    fail_job,
    finish_job,
    open_job,
    working,
)
from journal.models import JobRun
from journal.operation_actions import note_operation
from journal.queue import enqueue
from language.base import LanguageError
from statements.models import Suppression
from statements.wording import Embedded

from ..lines import line_tokens, memory_line
from ..models import MEMORY, Memory, MemoryPlan, MemoryPlanItem, MemoryPlanSource
from ..plans import JOB, find_plan, job_of, mergeable_memories, open_plan
from ..policy import writing
from ..policy.fields import field_of
from ..strategies import Group, Strategy, batches, find_strategy

log = structlog.get_logger(__name__)

State = MemoryPlan.State
RUN_TASK = "memories.optimize"
_ANY_ID = "xxxxxxxx"
"""What a line costs depends little on which id is in it."""


@dataclass(frozen=True, slots=True)
class _Draft:
    """A group that passed every check, with the memories that it is about."""

    group: Group
    sources: Sequence[Memory]
    tokens_before: int
    tokens_after: int


def optimize_plan(
    principal: Principal, strategy: str = "summarise", categories: Sequence[str] = (), *, pinned: bool = False
) -> MemoryPlan:
    """Plan how many memories could be said in fewer, in some categories or, without any, in all.

    Nothing is changed. The plan is there to be looked at (``preview``) when the strategy is quick and the memories are
    at most ``OPTIMIZE_AT_ONCE_MEMORIES``; else a job makes it (``making``). ``pinned`` memories are left alone unless
    asked for. The caller's plan before, if it is still open, is discarded; asked for the same again while it is being
    made, it stays.

    Raises NotYoursToDecide, NotAllowed (403 ``memory_off``, ``category_not_allowed``), Refused (400
    ``unknown_strategy``, ``unknown_category``), TooMany (429), LanguageError when the model is away.
    """
    user_id = accounts_policy.must_decide(principal)
    accounts_policy.must_remember(principal)
    way = find_strategy(strategy)
    wanted = _categories(principal, categories)
    memories, left_over = mergeable_memories(principal, wanted, pinned=pinned)
    plan = MemoryPlan(
        user_id=user_id,
        agent_id=principal.agent_id,
        strategy=way.name,
        categories=wanted,
        pinned=pinned,
        left_over=left_over,
        written_by=way.written_by()[:80],
    )
    if not way.is_quick() or len(memories) > settings.OPTIMIZE_AT_ONCE_MEMORIES:
        return _have_made(principal, plan, len(memories))
    drafts = [draft for batch in batches(memories) for draft in _drafts(user_id, batch, way)]
    with ledger_write(principal.actor, user_id) as write:
        before = open_plan(principal)
        _begin(plan, instead_of=before)
        _add_items(plan, drafts)
        _let_be_seen(plan, memories)
        write.result("plan", plan.pk)
    return plan


def optimize_discard(principal: Principal, plan_id: UUID) -> MemoryPlan:
    """End a plan that is being made or looked at; its text is removed.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``wrong_state``).
    """
    user_id = accounts_policy.must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        plan = find_plan(principal, plan_id)
        if plan.state not in MemoryPlan.OPEN:
            raise Conflict(
                _("This plan is %(state)s.") % {"state": _(plan.state)}, code="wrong_state", state=plan.state
            )
        _end(plan, State.DISCARDED, timezone.now())
        write.result("plan", plan.pk)
    return plan


def plan_make(job_id: UUID) -> None:
    """Work on a plan for one turn. Does nothing when somebody else does, or when the plan was ended.

    With the model away it is tried again later, from where it was, until the plan's day is over.
    """
    job = claim_job(job_id, lease_seconds=settings.OPTIMIZE_LEASE_SECONDS)
    if job is None:
        return
    plan = MemoryPlan.objects.filter(pk=job.subject_id, state=State.MAKING).first()
    if plan is None:
        fail_job(job, "gone")
        return
    with working(
        job,
        lease_seconds=settings.OPTIMIZE_LEASE_SECONDS,
        task=RUN_TASK,
        turn_seconds=settings.OPTIMIZE_SLICE_SECONDS,
        expected=(LanguageError,),
        failed=lambda error: note_operation("worker", "optimize", "error", user_id=plan.user_id),
    ) as lease:
        try:
            with acting_as(principal_for_job(plan.user_id)) as principal:
                _make(lease, principal, plan)
        except (NotFound, Refused):
            fail_job(job, "gone")  # The person is gone or kept out, or the strategy is no more.


def plans_tidy() -> int:
    """End the plans whose day is over and remove their text, delete old ones, and start lost jobs again.

    Returns how many plans ended. A plan whose job staff called off is discarded.
    """
    now = timezone.now()
    long_ago = now - timedelta(days=settings.OPERATION_EVENT_DAYS)
    MemoryPlan.objects.filter(decided_at__lt=long_ago).delete()
    ended = 0
    for plan in MemoryPlan.objects.due(now):
        ended += _end_alone(plan, State.LAPSED, now)
    for plan in MemoryPlan.objects.filter(state=State.MAKING, expires_at__gt=now):
        job = job_of(plan)
        if job is None or job.state in {JobRun.State.CANCELLED, JobRun.State.FAILED}:
            ended += _end_alone(plan, State.DISCARDED, now)
        elif JobRun.objects.claimable(now).filter(pk=job.pk).exists():
            enqueue(RUN_TASK, job.pk)
    return ended


# --- Making -----------------------------------------------------------------------------------------------------


def _categories(principal: Principal, names: Sequence[str]) -> list[str] | None:
    """The categories that are meant, or all that the principal sees; None for all that there are."""
    if names:
        return sorted({writing.must_file_under(principal, name) for name in names})
    return None if principal.categories is None else sorted(principal.categories)


def _have_made(principal: Principal, plan: MemoryPlan, count: int) -> MemoryPlan:
    """Have a job make the plan."""
    with ledger_write(principal.actor, plan.user_id) as write:
        before = open_plan(principal)
        if before is not None and _is_same(before, plan):
            plan = before
        else:
            _check_rate(plan.user_id)
            _begin(plan, instead_of=before)
        job = open_job(JOB, plan.pk, user_id=plan.user_id, total=count)
        enqueue(RUN_TASK, job.pk)
        write.result("plan", plan.pk, status_code=202)
    return plan


def _is_same(before: MemoryPlan, plan: MemoryPlan) -> bool:
    asked = ("strategy", "categories", "pinned")
    return before.state == State.MAKING and all(getattr(before, name) == getattr(plan, name) for name in asked)


def _check_rate(user_id: UUID) -> None:
    """Raise TooMany when the person has had a model busy often enough for a day."""
    day = MemoryPlan.objects.filter(user_id=user_id, created_at__gt=timezone.now() - timedelta(days=1))
    made = day.aggregate(count=Count("pk"), first_at=Min("created_at"))
    if made["count"] >= settings.OPTIMIZE_PLANS_PER_DAY:
        detail = _("There can be %(count)s plans a day. Try again later.") % {"count": settings.OPTIMIZE_PLANS_PER_DAY}
        raise TooMany(detail, first_at=made["first_at"])


def _begin(plan: MemoryPlan, *, instead_of: MemoryPlan | None) -> None:
    now = timezone.now()
    if instead_of is not None:
        _end(instead_of, State.DISCARDED, now)
    # One whose day is over and that nobody tidied away yet is in the way of its successor.
    for late in MemoryPlan.objects.filter(user_id=plan.user_id).due(now):
        _end(late, State.LAPSED, now)
    plan.created_at, plan.expires_at = now, now + timedelta(hours=settings.OPTIMIZE_PLAN_HOURS)
    plan.save(force_insert=True)


def _make(lease: Lease, principal: Principal, plan: MemoryPlan) -> None:
    way = find_strategy(plan.strategy)
    if plan.categories is not None:
        principal = replace(principal, categories=frozenset(plan.categories))
    chosen, plan.left_over = mergeable_memories(principal, plan.categories, pinned=plan.pinned)
    known = set(plan.looked_at)
    left = [memory for memory in chosen if memory.pk not in known]
    total = len(known) + len(left)
    for batch in batches(left):
        drafts = list(_drafts(plan.user_id, batch, way))
        with _holding(lease, plan, principal, done=len(plan.looked_at) + len(batch), total=total):
            _add_items(plan, drafts)
            plan.looked_at += [memory.pk for memory in batch]
            plan.save(update_fields=["looked_at"])
        lease.check_turn()
    with _holding(lease, plan, principal, done=total, total=total):
        _let_be_seen(plan, [*left, *(memory for memory in chosen if memory.pk in known)])
        finish_job(lease.job, items=plan.items.count())


@contextmanager
def _holding(lease: Lease, plan: MemoryPlan, principal: Principal, *, done: int, total: int) -> Iterator[None]:
    """The transaction in which a worker writes: the plan is still being made, and the lease is its own for longer."""
    with ledger_write(principal.actor, plan.user_id):
        if not MemoryPlan.objects.filter(pk=plan.pk, state=State.MAKING).exists():
            raise LeaseLost
        lease.renew(done, total)
        yield


def _drafts(user_id: UUID, batch: Sequence[Memory], way: Strategy) -> list[_Draft]:
    """What a strategy makes of a batch, without what breaks a rule or what the person rejected before."""
    by_id = {memory.pk: memory for memory in batch}
    taken: set[str] = set()
    drafts = []
    for group in way.condense(batch):
        sources = set(group.sources)
        if len(sources) < 2 or not sources <= by_id.keys() - taken:
            continue
        draft = _draft(group, [by_id[each] for each in group.sources])
        if draft is not None:
            taken |= sources
            drafts.append(draft)
    texts = Embedded.of_each([draft.group.content for draft in drafts])
    suppressed = Suppression.objects.against(MEMORY, user_id, texts)
    return [
        draft
        for draft, text, is_suppressed in zip(drafts, texts, suppressed, strict=True)
        # What a person is called or where they live stays a memory that they decide about by itself.
        if not is_suppressed and not field_of(draft.group.content, meaning=text.meaning)
    ]


def _draft(group: Group, sources: Sequence[Memory]) -> _Draft | None:
    """A group in its stored form; None when it breaks a rule for what is written for the person, or saves nothing.

    The wording of one of its sources stands already, in whatever person it is.
    """
    stands = any(memory.content == group.content for memory in sources)
    try:
        content = group.content if stands else writing.admitted_from_model(group.content)
        subject = writing.clean_subject(group.subject, own_word=False)
        writing.check_importance(group.importance)
    except (Gated, Refused) as error:
        log.info("merge_refused", reason=error.code)
        return None
    if any(memory.category != group.category for memory in sources):
        return None
    before = sum(memory.tokens for memory in sources)
    after = line_tokens(memory_line(_ANY_ID, timezone.now(), subject, content))
    if after >= before:
        return None
    return _Draft(replace(group, content=content, subject=subject), sources, before, after)


def _add_items(plan: MemoryPlan, drafts: Sequence[_Draft]) -> None:
    """Store what a strategy made, after what there is of the plan already."""
    begin = plan.items.count()
    items = [
        MemoryPlanItem(
            user_id=plan.user_id,
            plan=plan,
            position=position,
            kind=draft.sources[0].kind,
            category=draft.group.category,
            subject=draft.group.subject,
            topics=list(draft.group.topics),
            content=draft.group.content,
            importance=draft.group.importance,
            tokens_before=draft.tokens_before,
            tokens_after=draft.tokens_after,
        )
        for position, draft in enumerate(drafts, begin)
    ]
    MemoryPlanItem.objects.bulk_create(items)
    MemoryPlanSource.objects.bulk_create(
        MemoryPlanSource(
            user_id=plan.user_id, item=item, position=position, memory_id=memory.pk, version=memory.version
        )
        for item, draft in zip(items, drafts, strict=True)
        for position, memory in enumerate(draft.sources)
    )


def _let_be_seen(plan: MemoryPlan, memories: Sequence[Memory]) -> None:
    plan.state = State.PREVIEW
    plan.looked_at = [memory.pk for memory in memories]
    plan.save(update_fields=["state", "looked_at", "left_over"])


# --- Ending -----------------------------------------------------------------------------------------------------


def _end_alone(plan: MemoryPlan, state: str, now: datetime) -> bool:
    """End a plan in a transaction of its own, unless somebody has decided about it meanwhile."""
    try:
        with working_for(plan.user_id, "memories.tidy_plans") as job, ledger_write(job.actor, plan.user_id):
            still = MemoryPlan.objects.open().filter(pk=plan.pk).first()
            if still is None:
                return False
            _end(still, state, now)
    except NotFound:
        return False  # The person was erased meanwhile, with all that is theirs.
    return True


def _end(plan: MemoryPlan, state: str, now: datetime) -> None:
    """End an open plan: its text goes, and so does the work on it."""
    plan.items.all().delete()
    job = job_of(plan)
    if job is not None:
        cancel_job(job)
    plan.state, plan.decided_at = state, now
    plan.save(update_fields=["state", "decided_at"])

"""Create and discard merge plans. ``merging`` applies and reverts them.

A plan changes no memory, so it takes no revision. Models are called outside transactions. With many memories, or a
remote model, a job works in batches and stores each batch's result, so that a killed worker loses one batch at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
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

from ..models import Memory, MemoryPlan
from ..plans import JOB, find_plan, job_of, mergeable_memories, open_plan
from ..policy import writing
from ..policy.fields import field_of
from ..policy.labels import gives_what_it_is_filed_under
from ..strategies import MergeGroup, Strategy, batches, find_strategy
from .plan_items import Draft, plan_items_add

log = structlog.get_logger(__name__)

State = MemoryPlan.State
RUN_TASK = "memories.optimize"


def optimize_plan(
    principal: Principal, strategy: str = "summarise", categories: Sequence[str] = (), *, pinned: bool = False
) -> MemoryPlan:
    """Create a plan that merges memories of some categories, or of all if none is given.

    No memory is changed. The plan is ready (``preview``) if the strategy is quick and there are at most
    ``OPTIMIZE_AT_ONCE_MEMORIES``; else a job creates it (``making``). Pinned memories are excluded unless ``pinned``.
    The caller's open plan is discarded, unless it is being made with the same arguments.

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
        plan_items_add(plan, drafts)
        _let_be_seen(plan, memories)
        write.result("plan", plan.pk)
    return plan


def optimize_discard(principal: Principal, plan_id: UUID) -> MemoryPlan:
    """Discard an open plan and delete its text.

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
    """Work on a plan for one time slice, unless another worker does or the plan has ended.

    If the model is unavailable, the job is retried later from its position, until the plan expires.
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
            fail_job(job, "gone")  # The person was erased or blocked, or the strategy was removed.


def plans_tidy() -> int:
    """Expire plans and delete their text, delete old ones, and restart lost jobs.

    Returns the number of expired plans. A plan whose job staff cancelled is discarded.
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
    """Return the given categories, or those that the principal sees; None for all."""
    if names:
        return sorted({writing.must_file_under(principal, name) for name in names})
    return None if principal.categories is None else sorted(principal.categories)


def _have_made(principal: Principal, plan: MemoryPlan, count: int) -> MemoryPlan:
    """Create a job for the plan."""
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
    """Raise TooMany if the person has created too many plans with a model today."""
    day = MemoryPlan.objects.filter(user_id=user_id, created_at__gt=timezone.now() - timedelta(days=1))
    made = day.aggregate(count=Count("pk"), first_at=Min("created_at"))
    if made["count"] >= settings.OPTIMIZE_PLANS_PER_DAY:
        detail = _("There can be %(count)s plans a day. Try again later.") % {"count": settings.OPTIMIZE_PLANS_PER_DAY}
        raise TooMany(detail, first_at=made["first_at"])


def _begin(plan: MemoryPlan, *, instead_of: MemoryPlan | None) -> None:
    now = timezone.now()
    if instead_of is not None:
        _end(instead_of, State.DISCARDED, now)
    # An expired plan that is not tidied yet would violate the constraint on open plans.
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
            plan_items_add(plan, drafts)
            plan.looked_at += [memory.pk for memory in batch]
            plan.save(update_fields=["looked_at"])
        lease.check_turn()
    with _holding(lease, plan, principal, done=total, total=total):
        _let_be_seen(plan, [*left, *(memory for memory in chosen if memory.pk in known)])
        finish_job(lease.job, items=plan.items.count())


@contextmanager
def _holding(lease: Lease, plan: MemoryPlan, principal: Principal, *, done: int, total: int) -> Iterator[None]:
    """Transaction of a worker: checks that the plan is still being made, and renews the lease."""
    with ledger_write(principal.actor, plan.user_id):
        if not MemoryPlan.objects.filter(pk=plan.pk, state=State.MAKING).exists():
            raise LeaseLost
        lease.renew(done, total)
        yield


def _drafts(user_id: UUID, batch: Sequence[Memory], way: Strategy) -> list[Draft]:
    """Return the groups of a batch, without those that break a rule or resemble a rejected memory."""
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
    suppressed = Suppression.objects.matches(user_id, texts)
    return [
        draft
        for draft, text, is_suppressed in zip(drafts, texts, suppressed, strict=True)
        # A field (name, city, …) stays a memory of its own, which the person decides about.
        if not is_suppressed
        and not field_of(draft.group.content, meaning=text.meaning)
        and not gives_what_it_is_filed_under(draft.group.content, draft.group.subject, meaning=text.meaning)
    ]


def _draft(group: MergeGroup, sources: Sequence[Memory]) -> Draft | None:
    """Return a group in stored form, or None if it violates a rule for generated text or saves nothing.

    The wording of one of its sources is always allowed.
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
    draft = Draft(replace(group, content=content, subject=subject), sources)
    return draft if draft.tokens_after < draft.tokens_before else None


def _let_be_seen(plan: MemoryPlan, memories: Sequence[Memory]) -> None:
    plan.state = State.PREVIEW
    plan.looked_at = [memory.pk for memory in memories]
    plan.save(update_fields=["state", "looked_at", "left_over"])


# --- Ending -----------------------------------------------------------------------------------------------------


def _end_alone(plan: MemoryPlan, state: str, now: datetime) -> bool:
    """End a plan in its own transaction, unless it was decided meanwhile."""
    try:
        with working_for(plan.user_id, "memories.tidy_plans") as job, ledger_write(job.actor, plan.user_id):
            still = MemoryPlan.objects.open().filter(pk=plan.pk).first()
            if still is None:
                return False
            _end(still, state, now)
    except NotFound:
        return False  # The person was erased meanwhile.
    return True


def _end(plan: MemoryPlan, state: str, now: datetime) -> None:
    """End an open plan: delete its text and cancel its job."""
    plan.items.all().delete()
    job = job_of(plan)
    if job is not None:
        cancel_job(job)
    plan.state, plan.decided_at = state, now
    plan.save(update_fields=["state", "decided_at"])

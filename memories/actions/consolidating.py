"""Daily consolidation: merges a person's duplicate memories.

In stages, each of which a killed worker leaves whole: pairs are compared a batch at a time and what came of it is
stored, and then what says the same is merged, one transaction a merge. What is stored is neither compared nor merged
again. All merges of a run are one plan, which the person looks at and takes back as one that they made themselves.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import OuterRef
from django.utils import timezone

from accounts.principals import Principal
from accounts.upkeep import start_for_people, work_for_person
from journal.actions import LedgerWrite, count_use, ledger_write, tokens_used_today
from journal.leases import Lease, finish_job
from journal.models import Ledger
from journal.verdicts import compares_unlocked
from language.backends import get_model
from language.base import Comparison
from statements.wording import Embedded

from ..consolidation import JOB, DuplicatePair, candidate_pairs, mergeable_by_id, pairs_left_today
from ..models import ComparedPair, Memory, MemoryPlan, MemoryPlanItem, MemoryPlanSource
from ..plan_querysets import STRATEGY
from ..policy.alike import may_be_one, verdict_of_rules
from ..strategies import MergeGroup, topics_of
from .many import memories_relate
from .merging import Merging
from .plan_items import Draft, plan_items_add

TASK = "memories.consolidate"
PURPOSE = "consolidate"
UPKEEP_PURPOSES = (PURPOSE, "insights")
"""What the budget of the deployment is for."""

Verdict = ComparedPair.Verdict
Plan = MemoryPlan.State


@dataclass(frozen=True, slots=True)
class _Merge:
    """Memories with the same meaning; the first one's wording is kept."""

    sources: Sequence[Memory]
    pairs: Sequence[int]

    @property
    def draft(self) -> Draft:
        """What it makes of them."""
        kept = self.sources[0]
        group = MergeGroup(
            content=kept.content,
            category=kept.category,
            subject=next((memory.subject for memory in self.sources if memory.subject), ""),
            importance=max(memory.importance for memory in self.sources),
            topics=topics_of(self.sources),
            sources=tuple(memory.pk for memory in self.sources),
        )
        return Draft(group, self.sources)


def consolidations_due() -> int:
    """Start consolidation for people without a run in the last day, and resume lost runs.

    Returns how many were begun with: at most ``CONSOLIDATE_PEOPLE``, so that a deployment's people are spread over the
    hours of the day.
    """
    now = timezone.now()
    ComparedPair.objects.filter(at__lt=now - timedelta(days=settings.CONSOLIDATE_COMPARED_DAYS)).delete()
    several = Ledger.objects.filter(pk=OuterRef("pk"), memories__gt=1)
    return start_for_people(JOB, TASK, several, since=now - timedelta(days=1), most=settings.CONSOLIDATE_PEOPLE)


def memories_consolidate(job_id: UUID) -> None:
    """Consolidate one person's memories, unless another worker does.

    Stops, and leaves the rest for another day, at ``CONSOLIDATE_PAIRS_PER_DAY`` pairs, after ``CONSOLIDATE_MINUTES``,
    and when models have used ``UPKEEP_TOKENS_PER_DAY``. With the model away it is tried again later.
    """
    work_for_person(job_id, _work, task=TASK, lease_seconds=settings.CONSOLIDATE_LEASE_SECONDS)


def _work(lease: Lease, principal: Principal, user_id: UUID) -> None:
    if not principal.has_memory:
        finish_job(lease.job, stopped="memory_off")
        return
    stopped = _compare_all(lease, principal, user_id)
    merged, asked = _merge_all(lease, principal, user_id)
    finish_job(lease.job, merged=merged, asked=asked, stopped=stopped)


# --- Comparing --------------------------------------------------------------------------------------------------


def _compare_all(lease: Lease, principal: Principal, user_id: UUID) -> str:
    """Compare today's pairs. Returns the reason for stopping early, or ''."""
    ends = time.monotonic() + settings.CONSOLIDATE_MINUTES * 60
    pairs = candidate_pairs(principal, user_id, pairs_left_today(user_id))
    for at in range(0, len(pairs), settings.CONSOLIDATE_PAIRS_PER_CALL):
        if time.monotonic() > ends:
            return "minutes"
        batch = pairs[at : at + settings.CONSOLIDATE_PAIRS_PER_CALL]
        verdicts = _verdicts(batch)
        if verdicts is None:
            return "tokens"
        with ledger_write(principal.actor, user_id):
            lease.renew(at + len(batch), len(pairs))
            _store(user_id, batch, verdicts)
    return ""


def _verdicts(pairs: Sequence[DuplicatePair]) -> list[tuple[Comparison, bool]] | None:
    """Return the verdict for each pair, and whether a model gave it. None if the token budget is used up.

    A model is asked only where the rules let it say "same", or where figures are all that differs; and whatever it
    says, they stay two where a particular differs.
    """
    model = get_model()
    found: list[tuple[Comparison, bool]] = [(verdict_of_rules(*pair.statements), False) for pair in pairs]
    if model.offline:
        return found
    doubtful = [
        at
        for at, pair in enumerate(pairs)
        if found[at][0] != "same" and (may_be_one(*pair.statements) or found[at][0] != "different")
    ]
    if not doubtful:
        return found
    if tokens_used_today(*UPKEEP_PURPOSES) >= settings.UPKEEP_TOKENS_PER_DAY:
        return None
    compared = count_use(PURPOSE, model.same_fact, [pairs[at].texts for at in doubtful])
    for at, verdict in zip(doubtful, compared.verdicts, strict=True):
        is_apart = verdict == "same" and not may_be_one(*pairs[at].statements)
        found[at] = ("different" if is_apart else verdict), True
    return found


def _store(user_id: UUID, pairs: Sequence[DuplicatePair], verdicts: Sequence[tuple[Comparison, bool]]) -> None:
    """Store the verdicts. Pairs that a model finds contradictory are marked for the person to check."""
    ComparedPair.objects.bulk_create(
        (
            ComparedPair(
                user_id=user_id,
                kept_id=pair.kept.pk,
                dropped_id=pair.dropped.pk,
                kept_version=pair.kept.version,
                dropped_version=pair.dropped.version,
                score=pair.score,
                verdict=verdict,
                asked=asked,
            )
            for pair, (verdict, asked) in zip(pairs, verdicts, strict=True)
        ),
        ignore_conflicts=True,
    )
    at_odds = {
        max(pair.kept, pair.dropped, key=lambda memory: memory.created_at).pk
        for pair, (verdict, asked) in zip(pairs, verdicts, strict=True)
        if asked and verdict in {Verdict.REPLACES, Verdict.CONTRADICTS}
    }
    Memory.objects.active().filter(pk__in=at_odds).update(needs_check=True)


# --- Merging ----------------------------------------------------------------------------------------------------


def _merge_all(lease: Lease, principal: Principal, user_id: UUID) -> tuple[int, bool]:
    """Merge duplicates, or ask the person first. Returns the number of merges, and whether the person is asked."""
    merges = _merges(principal, user_id)
    if not merges:
        return _merged_before(lease.job.pk), False
    if _must_ask(lease.job.pk, principal, user_id, merges):
        _ask(lease, principal, user_id, merges)
        return _merged_before(lease.job.pk), True
    for merge in merges:
        _merge(lease, principal, user_id, merge)
    return _merged_before(lease.job.pk), False


def _merged_before(plan_id: UUID) -> int:
    return MemoryPlanItem.objects.filter(plan_id=plan_id, state=MemoryPlanItem.State.APPLIED).count()


def _merges(principal: Principal, user_id: UUID) -> list[_Merge]:
    """Return the merges whose memories are unchanged since the comparison. No memory is in two merges."""
    rows = list(ComparedPair.objects.filter(user_id=user_id, verdict=Verdict.SAME).order_by("-score", "pk"))
    memories = mergeable_by_id(principal, [pk for row in rows for pk in (row.kept_id, row.dropped_id)])
    stars: dict[str, list[ComparedPair]] = {}
    dropped: set[str] = set()
    for row in rows:
        kept, other = memories.get(row.kept_id), memories.get(row.dropped_id)
        if kept is None or other is None or {kept.pk, other.pk} & dropped or other.pk in stars:
            continue
        if (kept.version, other.version) == (row.kept_version, row.dropped_version):
            stars.setdefault(kept.pk, []).append(row)
            dropped.add(other.pk)
    return [
        _Merge([memories[kept], *(memories[row.dropped_id] for row in found)], [row.pk for row in found])
        for kept, found in stars.items()
    ]


def _must_ask(plan_id: UUID, principal: Principal, user_id: UUID, merges: Sequence[_Merge]) -> bool:
    """Whether the person must decide: they review before, or too large a part would be archived."""
    if principal.review == "before":
        return True
    merged = _merged_before(plan_id)
    gone = MemoryPlanSource.objects.filter(item__plan_id=plan_id, item__state=MemoryPlanItem.State.APPLIED).count()
    active = Ledger.objects.values_list("memories", flat=True).get(pk=user_id) + gone - merged
    going = gone + sum(len(merge.sources) for merge in merges)
    return going > active * settings.CONSOLIDATE_MOST_ARCHIVED


def _ask(lease: Lease, principal: Principal, user_id: UUID, merges: Sequence[_Merge]) -> None:
    """Create a plan for the person to decide. While another one waits for them, it is left for another day."""
    with ledger_write(principal.actor, user_id):
        lease.renew()
        if MemoryPlan.objects.open().filter(user_id=user_id, agent=None).exists():
            return
        now = timezone.now()
        plan = MemoryPlan.objects.create(
            user_id=user_id,
            strategy=STRATEGY,
            state=Plan.PREVIEW,
            looked_at=[memory.pk for merge in merges for memory in merge.sources],
            written_by=get_model().name[:80],
            created_at=now,
            expires_at=now + timedelta(days=settings.CONSOLIDATE_ASKED_DAYS),
        )
        _add_items(plan, merges)


def _plan(write: LedgerWrite, plan_id: UUID) -> MemoryPlan:
    """Return the applied plan of a run, to which each merge adds an item."""
    (user_id,) = write.ledgers
    now = timezone.now()
    defaults = {
        "user_id": user_id,
        "strategy": STRATEGY,
        "state": Plan.APPLIED,
        "applied_rev": write.ledgers[user_id].rev,
        "written_by": get_model().name[:80],
        "decided_at": now,
        "expires_at": now,
    }
    return MemoryPlan.objects.get_or_create(pk=plan_id, defaults=defaults)[0]


@compares_unlocked
def _merge(lease: Lease, principal: Principal, user_id: UUID, merge: _Merge) -> None:
    """Merge, or store why not. The kept wording has a vector already."""
    with ledger_write(principal.actor, user_id) as write:
        lease.renew()
        write.keeps_steps = False  # A plan has a way back of its own.
        plan = _plan(write, lease.job.pk)
        (item,) = _add_items(plan, [merge])
        text = {item.pk: Embedded.of_row(merge.sources[0])}
        merging = Merging.of(write, principal, plan, {item.pk: item}, text, looked_at=False)
        merging.merge_item(item)
        if item.merged_id:
            memories_relate(write, user_id, [item.merged_id])
        plan.looked_at += [memory.pk for memory in merge.sources]
        plan.save(update_fields=["looked_at"])


def _add_items(plan: MemoryPlan, merges: Sequence[_Merge]) -> list[MemoryPlanItem]:
    pairs = [pair for merge in merges for pair in merge.pairs]
    ComparedPair.objects.filter(pk__in=pairs).update(verdict=Verdict.SETTLED)
    return plan_items_add(plan, [merge.draft for merge in merges])

"""Template data of a merge plan: the sources beside the merged memory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from journal.models import JobRun
from memories.models import Kind, Memory, MemoryPlan, MemoryPlanItem, MemoryPlanSource
from memories.plans import job_of, why_it_asks
from memories.policy import writing
from statements.policy.naming import in_second_person

from ..diff import DiffPiece, merge_diff
from ..labels import category_label, label, writer_label

Item = MemoryPlanItem.State
Reason = MemoryPlanItem.Reason

LATEST = 5
_SKIPPED = {
    Reason.CHANGED: gettext_noop("Left as they are: one of them was changed after the plan was made."),
    Reason.GONE: gettext_noop("Left as they are: one of them was put away after the plan was made."),
    Reason.SIMILAR_EXISTS: gettext_noop("Left as they are: this is remembered elsewhere by now."),
    Reason.REJECTED_BEFORE: gettext_noop("Left as they are: you have rejected this."),
}
_KEPT = {
    Reason.MERGED_CHANGED: gettext_noop("Stays merged: it was changed or put away since."),
    Reason.GONE: gettext_noop("Stays merged: one of those that it was made of was deleted for good."),
    Reason.CHANGED: gettext_noop("Stays merged: one of those that it was made of was restored or changed since."),
    Reason.SIMILAR_EXISTS: gettext_noop("Stays merged: one of those that it was made of is remembered again."),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A source. Words missing in the merged memory are marked as removed."""

    memory_id: str
    subject: str
    at: datetime | None
    pieces: list[DiffPiece]


@dataclass(frozen=True, slots=True)
class Merge:
    """A merged memory. Words missing in all sources are marked as added; ``why``: why it was skipped."""

    item: MemoryPlanItem
    lines: list[Line]
    pieces: list[DiffPiece]
    category: str
    kind: str
    why: str

    @property
    def saved(self) -> int:
        """Saved tokens."""
        return self.item.tokens_before - self.item.tokens_after


@dataclass(frozen=True, slots=True)
class PlanDetail:
    """A plan with its page's data.

    ``before`` memories become ``after``, saving ``saved`` tokens per prompt; for an applied or reverted plan as of
    then.
    """

    plan: MemoryPlan
    merges: list[Merge]
    before: int
    after: int
    saved: int
    job: JobRun | None
    asked_because: str = ""

    @property
    def made_by(self) -> str:
        """The label of its model."""
        return writer_label(self.plan.written_by)

    @property
    def can_be_undone(self) -> bool:
        """Whether a merge can be undone."""
        return self.plan.state == MemoryPlan.State.APPLIED and self.after > 0


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """A category with its number of mergeable memories."""

    name: str
    label: str
    count: int


def _why_asked(plan: MemoryPlan, principal: Principal) -> str:
    """Return why the person is asked about merges that the daily job found, empty for other plans."""
    why = why_it_asks(plan, principal)
    if why == "review":
        return _("Keepsake found these by itself, and you look at everything before it is used.")
    told = _(
        "Keepsake found these by itself. It asks you first, since it would put away more than %(share)s%% of your "
        "memories at once."
    )
    return why and told % {"share": round(settings.CONSOLIDATE_MOST_ARCHIVED * 100)}


def make_plan_detail(plan: MemoryPlan, principal: Principal) -> PlanDetail:
    """Return the plan of ``memories.plans.show_plan``, with diffs."""
    merges = [_merge(item) for item in plan.items.all()]
    done = [merge for merge in merges if merge.item.state in _COUNTED]
    return PlanDetail(
        plan=plan,
        merges=merges,
        before=sum(len(merge.lines) for merge in done),
        after=len(done),
        saved=sum(merge.saved for merge in done if writing.is_in_block(merge.item.kind, merge.item.category)),
        job=job_of(plan) if plan.state == MemoryPlan.State.MAKING else None,
        asked_because=_why_asked(plan, principal),
    )


_COUNTED = {Item.WAITING, Item.APPLIED, Item.REVERTED}


def categories_to_merge(principal: Principal) -> list[CategoryCount]:
    """Return the categories with more than one mergeable memory."""
    rows = Memory.objects.visible_to(principal).mergeable(principal).order_by("category").values("category")
    counted = rows.annotate(count=Count("pk")).filter(count__gt=1).values_list("category", "count")
    return [CategoryCount(name, category_label(name), count) for name, count in counted]


def latest_plans(principal: Principal) -> list[MemoryPlan]:
    """Return the latest applied plans, reverted or not."""
    done = MemoryPlan.objects.visible_to(principal).filter(applied_rev__isnull=False)
    return list(done.order_by("-decided_at").defer("looked_at")[:LATEST])


def _merge(item: MemoryPlanItem) -> Merge:
    sources: Iterable[MemoryPlanSource] = item.sources.all()
    merged = item.merged.content if item.merged else ""
    said = [(source, _text(source, "content")) for source in sources]
    wordings = [*(content for _, content in said), item.content or merged]
    told = [in_second_person(each) for each in wordings]
    # Second person only if all texts can be converted; a mixture would look like differences.
    *before, after = told if all(a != b for a, b in zip(told, wordings, strict=True)) else wordings
    olds, new = merge_diff(before, after)
    return Merge(
        item=item,
        lines=[
            Line(source.memory_id or "", _text(source, "subject"), source.at, pieces)  # type: ignore[attr-defined]
            for (source, _), pieces in zip(said, olds, strict=True)
        ],
        pieces=new,
        category=category_label(item.category),
        kind="" if item.kind == Kind.SEMANTIC else label(Kind(item.kind).label),
        why=_why(item),
    )


def _text(source: MemoryPlanSource, name: str) -> str:
    """Return the text of a source, '' if it is gone."""
    return getattr(source, name) or ""


def _why(item: MemoryPlanItem) -> str:
    if not item.reason:
        return ""
    told = _SKIPPED if item.state == Item.SKIPPED else _KEPT
    return _(told[Reason(item.reason)])

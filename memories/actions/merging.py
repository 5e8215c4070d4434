"""Apply a merge plan, whole or in part, and revert it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Max, Prefetch, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, Refused
from journal.models import Change
from journal.verdicts import compares_unlocked
from statements.models import Suppression
from statements.wording import Embedded

from .. import queries
from ..models import (
    Memory,
    MemoryEvidence,
    MemoryPlan,
    MemoryPlanItem,
    MemoryPlanSource,
    MemoryUse,
    Relation,
)
from ..plans import find_plan
from ..policy.writing import State, Why
from ..records import Said
from .bulk import archive_many
from .inserting import InitialState, NewRow, memories_insert
from .insights import carry_insights
from .many import memories_relate
from .single import memory_changing

Plan = MemoryPlan.State
Item = MemoryPlanItem.State
Reason = MemoryPlanItem.Reason


@compares_unlocked
def optimize_apply(principal: Principal, plan_id: UUID, items: Collection[UUID] | None = None) -> MemoryPlan:
    """Apply a plan, or the named ``items``: each becomes a memory that replaces its sources.

    Merged memories count as reviewed. Sources are archived, and can be restored one by one or by ``optimize_revert``.
    An item is skipped, with a reason, if a source was changed or archived since, or if its statement exists elsewhere
    or was rejected. All in one transaction, which also deletes the plan's text.

    Raises NotYoursToDecide, NotAllowed (403 ``memory_off``), NotFound, Refused (400 ``bad_items``), Gated (422
    ``budget``), Conflict (409 ``wrong_state``).
    """
    user_id = accounts_policy.must_decide(principal)
    accounts_policy.must_remember(principal)
    wanted = _chosen(find_plan(principal, plan_id), items)
    texts = dict(zip(wanted, Embedded.of_each([item.content for item in wanted.values()]), strict=True))
    with ledger_write(principal.actor, user_id) as write:
        plan = _must_be(find_plan(principal, plan_id), Plan.PREVIEW)
        if items is not None and (not items or not wanted.keys() >= set(items)):
            raise Refused(_("Choose items of this plan, at least one."), code="bad_items")
        write.keeps_steps = False  # A plan has its own revert.
        merging = Merging.of(write, principal, plan, wanted, texts)
        for item in wanted.values():
            merging.merge_item(item)
        memories_relate(write, user_id, [item.merged_id for item in wanted.values() if item.merged_id])
        plan.items.filter(state=Item.WAITING).delete()
        plan.state, plan.decided_at, plan.applied_rev = Plan.APPLIED, timezone.now(), write.ledgers[user_id].rev
        plan.save(update_fields=["state", "decided_at", "applied_rev"])
        write.result("plan", plan.pk)
    return plan


def optimize_revert(principal: Principal, plan_id: UUID) -> MemoryPlan:
    """Revert an applied plan: restore the sources, and archive the merged memories.

    An item is kept, with a reason, if the merged memory was changed or archived since, if a source was purged, restored
    or changed, or if another memory has a source's words. Raises NotYoursToDecide, NotAllowed (403 ``memory_off``),
    NotFound, Gated (422 ``budget``), Conflict (409 ``wrong_state``; ``nothing_to_revert`` with ``reasons`` if every
    item would be kept; nothing is changed then).
    """
    user_id = accounts_policy.must_decide(principal)
    accounts_policy.must_remember(principal)
    with ledger_write(principal.actor, user_id) as write:
        plan = _must_be(find_plan(principal, plan_id), Plan.APPLIED)
        write.keeps_steps = False
        reverting = _Reverting.of(write, principal, plan)
        if not reverting.run():
            reasons = sorted({item.reason for item in reverting.items})
            raise Conflict(
                _("Nothing can be taken back: the memories were changed, fetched back or removed since."),
                code="nothing_to_revert",
                reasons=reasons,
            )
        plan.state, plan.decided_at = Plan.REVERTED, timezone.now()
        plan.save(update_fields=["state", "decided_at"])
        write.result("plan", plan.pk)
    return plan


def _must_be(plan: MemoryPlan, state: str) -> MemoryPlan:
    """Return the plan. Raises Conflict with its state if it is not the wanted one."""
    now = Plan.LAPSED if plan.is_late(timezone.now()) else plan.state
    if now != state:
        raise Conflict(_("This plan is %(now)s.") % {"now": _(now)}, code="wrong_state", state=now)
    return plan


def _chosen(plan: MemoryPlan, items: Collection[UUID] | None) -> dict[UUID, MemoryPlanItem]:
    """Return the chosen items in order."""
    sources = MemoryPlanSource.objects.order_by("position")
    rows = plan.items.filter(state=Item.WAITING).order_by("position").prefetch_related(Prefetch("sources", sources))
    return {item.pk: item for item in (rows if items is None else rows.filter(pk__in=set(items)))}


def _end(item: MemoryPlanItem, state: str, *, reason: str = "", merged: Memory | None = None) -> None:
    """Store the result of an item, and delete its text."""
    item.state, item.reason = state, reason
    item.content, item.subject, item.topics = "", "", []
    if merged is not None:
        item.merged = merged
    item.save(update_fields=["state", "reason", "content", "subject", "topics", "merged"])


# --- Applying ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Merging:
    """State of applying a plan: the current sources, and suppressions and duplicates of the new texts.

    ``looked_at``: the person saw the result, so it counts as reviewed; else it is reviewed if all sources are.
    """

    write: LedgerWrite
    principal: Principal
    plan: MemoryPlan
    memories: Mapping[str, Memory]
    mergeable: Collection[str]
    texts: Mapping[UUID, Embedded]
    suppressed: Collection[UUID]
    looked_at: bool = True

    @classmethod
    def of(
        cls,
        write: LedgerWrite,
        principal: Principal,
        plan: MemoryPlan,
        items: Mapping[UUID, MemoryPlanItem],
        texts: Mapping[UUID, Embedded],
        *,
        looked_at: bool = True,
    ) -> Merging:
        """Read it, in as many statements for many items as for one."""
        ids = [source.memory_id for item in items.values() for source in item.sources.all()]
        rows = Memory.objects.visible_to(principal).filter(pk__in=ids)
        suppressed = Suppression.objects.matches(plan.user_id, list(texts.values()))
        return cls(
            write,
            principal,
            plan,
            memories={memory.pk: memory for memory in rows.without_vectors()},
            mergeable=set(rows.mergeable(principal, pinned=plan.pinned).values_list("pk", flat=True)),
            texts=texts,
            suppressed={pk for pk, is_suppressed in zip(texts, suppressed, strict=True) if is_suppressed},
            looked_at=looked_at,
        )

    def merge_item(self, item: MemoryPlanItem) -> None:
        """Merge the sources of an item, or store why not."""
        reason = self.why_not(item)
        if reason:
            _end(item, Item.SKIPPED, reason=reason)
        else:
            sources = [self.memories[str(source.memory_id)] for source in item.sources.all()]
            _end(item, Item.APPLIED, merged=self.merge(item, sources, self.texts[item.pk]))

    def why_not(self, item: MemoryPlanItem) -> str:
        """Return the reason why an item can't be applied any more, or ''."""
        for source in item.sources.all():
            memory = self.memories.get(str(source.memory_id))
            if memory is None or memory.state != State.ACTIVE:
                return Reason.GONE
            filed = (memory.version, memory.category) == (source.version, item.category)
            if not filed or memory.pk not in self.mergeable:
                return Reason.CHANGED
        if item.pk in self.suppressed:
            return Reason.REJECTED_BEFORE
        twin = queries.same_words(self.principal, self.plan.user_id, item.kind, item.content, item.subject)
        own = {source.memory_id for source in item.sources.all()}
        return Reason.SIMILAR_EXISTS if twin is not None and twin.pk not in own else ""

    def merge(self, item: MemoryPlanItem, sources: Sequence[Memory], text: Embedded) -> Memory:
        """Archive the sources and create the merged memory with their evidence and uses."""
        # First, so that the block has room for the merged memory and they are not its neighbours.
        archive_many(self.write, self.plan.user_id, sources, Why.MERGED, event="MERGE", meta_of=self.by_plan)
        near = queries.neighbours(self.principal, self.plan.user_id, text, kind=item.kind, subject=item.subject)
        doubtful = any(each.similarity >= settings.MEMORY_FALLBACK_LOW_SIMILARITY for each in near)
        ids = [memory.pk for memory in sources]
        meta = {"plan": str(self.plan.pk), "sources": ids}
        reviewed = self.looked_at or all(memory.reviewed_at is not None for memory in sources)
        initial = InitialState(State.ACTIVE, "MERGE", reviewed=reviewed, said=_evidence(sources), meta=meta)
        wording = text.worded(self.principal, self.plan.user_id, item.subject)
        row = NewRow.of(self.new_memory(item, sources, doubtful=doubtful), wording, initial)
        row.memory.said_at = _last_said(sources)
        row.take_rev(self.write)
        row.relations = [(memory_id, Relation.Type.DERIVED_FROM, 1.0) for memory_id in ids]
        _note_gone(self.memories, memories_insert(self.write, [row]))
        carry_insights(row.memory, ids)
        used = MemoryUse.objects.filter(memory__in=ids).aggregate(uses=Sum("uses"), last=Max("last_used_at"))
        if used["uses"]:
            MemoryUse.objects.create(memory=row.memory, uses=used["uses"], last_used_at=used["last"])
        return row.memory

    def by_plan(self, memory: Memory) -> dict[str, Any]:
        """Log fields of each source. The plan's id lets undo find it."""
        return {"plan": str(self.plan.pk)}

    def new_memory(self, item: MemoryPlanItem, sources: Sequence[Memory], *, doubtful: bool) -> Memory:
        """Return the unsaved merged memory, with the attributes that all sources share."""
        begun = [memory.valid_from for memory in sources if memory.valid_from is not None]
        return Memory(
            user_id=self.plan.user_id,
            agent_id=self.principal.agent_id,
            kind=item.kind,
            category=item.category,
            subject=item.subject,
            topics=item.topics,
            importance=item.importance,
            pinned=any(memory.pinned for memory in sources),
            run_id=_shared(sources, "run_id") or "",
            actor_id=_shared(sources, "actor_id") or "",
            role=_shared(sources, "role") or "",
            # The whole is true since its last part is.
            valid_from=max(begun, default=None),
            written_by=next(
                (each.written_by for each in sources if each.content == item.content), self.plan.written_by
            ),
            source_conversation_id=_shared(sources, "source_conversation_id"),
            needs_check=doubtful,
        )


def _note_gone(memories: Mapping[str, Memory], evicted: Collection[str]) -> None:
    """Mark evicted memories as gone for the following items, so that they are not subtracted twice."""
    for memory_id in evicted:
        if memory_id in memories:
            memories[memory_id].state = State.ARCHIVED


def _last_said(sources: Sequence[Memory]) -> datetime | None:
    """Return the latest ``said_at``, or None if one of the memories has none."""
    moments = [memory.said_at for memory in sources if memory.said_at is not None]
    return max(moments) if len(moments) == len(sources) else None


def _shared(sources: Sequence[Memory], name: str) -> Any:
    values = {getattr(memory, name) for memory in sources}
    return values.pop() if len(values) == 1 else None


def _evidence(sources: Sequence[Memory]) -> list[Said]:
    """Return the evidence of the current wordings, each message once."""
    current = MemoryEvidence.objects.filter(version__memory__in=sources, version__recorded_to__isnull=True)
    said: dict[UUID, Said] = {}
    for message_id, quote, at in current.order_by("id").values_list("message_id", "quote", "message__at"):
        said.setdefault(message_id, Said(message_id, quote, at))
    return list(said.values())


# --- Reverting --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Reverting:
    """State of reverting a plan: the current sources and merged memories."""

    write: LedgerWrite
    plan: MemoryPlan
    items: Sequence[MemoryPlanItem]
    memories: Mapping[str, Memory]
    changed: Collection[str]
    said_again: Collection[str]

    @classmethod
    def of(cls, write: LedgerWrite, principal: Principal, plan: MemoryPlan) -> _Reverting:
        """Read it, in as many statements for many items as for one."""
        sources = MemoryPlanSource.objects.order_by("position")
        rows = plan.items.filter(state=Item.APPLIED).order_by("position").prefetch_related(Prefetch("sources", sources))
        items = list(rows)
        merged = {item.merged_id for item in items if item.merged_id}
        olds = {source.memory_id for item in items for source in item.sources.all() if source.memory_id}
        visible = Memory.objects.visible_to(principal).filter(pk__in=merged | olds).without_vectors()
        memories = {memory.pk: memory for memory in visible}
        log = Change.objects.of_owner(plan.user_id).filter(rev__gt=plan.applied_rev, event="UPDATE")
        changed = log.filter(object_type="memory", object_id__in=merged).values_list("object_id", flat=True)
        gone = [memories[pk] for pk in olds if pk in memories]
        return cls(write, plan, items, memories, set(changed), queries.said_by_others(plan.user_id, gone, merged))

    def run(self) -> int:
        """Revert every possible item, and store why not for the others. Returns the number of reverted items."""
        for item in self.items:
            reason = self.why_not(item)
            if reason:
                _end(item, Item.KEPT, reason=reason)
            else:
                self.put_back(item)
                _end(item, Item.REVERTED)
        return sum(item.state == Item.REVERTED for item in self.items)

    def why_not(self, item: MemoryPlanItem) -> str:
        """Return the reason why an item can't be reverted, or ''."""
        merged = self.memories.get(str(item.merged_id))
        if merged is None or merged.state != State.ACTIVE or merged.version != 1 or merged.pk in self.changed:
            return Reason.MERGED_CHANGED
        for source in item.sources.all():
            memory = self.memories.get(str(source.memory_id))
            if memory is None:
                return Reason.GONE
            as_merged = (memory.state, memory.deleted_why, memory.version)
            if as_merged != (State.ARCHIVED, Why.MERGED, source.version):
                return Reason.CHANGED
            if memory.pk in self.said_again:
                return Reason.SIMILAR_EXISTS
        return ""

    def put_back(self, item: MemoryPlanItem) -> None:
        """Archive the merged memory, and restore its sources."""
        archive_many(self.write, self.plan.user_id, [self.memories[str(item.merged_id)]], Why.REPLACED)
        for source in item.sources.all():
            with memory_changing(self.write, self.memories[str(source.memory_id)]) as change:
                change.activate(change.log("RESTORE", plan=str(self.plan.pk)), reviewed=False)
            _note_gone(self.memories, change.evicted)

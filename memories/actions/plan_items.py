"""The items of merge plans: each a wording, with the memories that it replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from ..lines import line_tokens, memory_line
from ..models import Memory, MemoryPlan, MemoryPlanItem, MemoryPlanSource
from ..strategies import MergeGroup

_ANY_ID = "xxxxxxxx"
"""What a line costs depends little on which id is in it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A merge group that passed every check, with its memories."""

    group: MergeGroup
    sources: Sequence[Memory]

    @property
    def tokens_before(self) -> int:
        """The tokens of the memories' lines."""
        return sum(memory.tokens for memory in self.sources)

    @property
    def tokens_after(self) -> int:
        """The tokens of the line that replaces them."""
        return line_tokens(memory_line(_ANY_ID, timezone.now(), self.group.subject, self.group.content))


def plan_items_add(plan: MemoryPlan, drafts: Sequence[Draft]) -> list[MemoryPlanItem]:
    """Append items to the plan, in three statements. Returns them in order."""
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
    return items

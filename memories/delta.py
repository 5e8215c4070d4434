"""The delta: at most three lines with the changes of a person's memory since a conversation's last query.

It is a notification; the lasting content of a prompt is the block with the net difference (``difference.py``).

Active memories are quoted, insights as guesses; removed ones and procedures are named by category and id only, since
steps are shown only to who asks for their category. Evictions are not mentioned, since those memories only left the
block. The lines are fenced, because clients put them into prompts unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.models import Change
from language.fencing import DELTA_FENCE, as_data, fenced

from .lines import told
from .models import Kind, Memory

BULLETS = 3
MOST_CHANGES = 1_000
"""Maximum changes that are read, the latest first; with more, the count of further ones is inexact."""
LONGEST_BULLET = 200
"""Characters of a memory that a line quotes."""

_TELLING = ("ADD", "UPDATE", "APPROVE", "RESTORE", "MERGE", "DELETE", "TTL", "REJECT", "QUARANTINE", "PROPOSE")
_BEGINNING = ("ADD", "APPROVE", "RESTORE", "MERGE")
_ENDING = {"DELETE": "archived", "TTL": "archived", "REJECT": "rejected"} | dict.fromkeys(
    ("QUARANTINE", "PROPOSE"), "held back"
)
_Events = dict[str, list[tuple[int, str, str | None]]]
"""By memory and in their order: the revision, the event, and the category that it took the memory out of."""

_SIGNS = {"created": "+", "restored": "+", "updated": "↑", "merged": "↔"}
_TOLD_OTHERWISE = (Memory.DeletedWhy.EVICTED, Memory.DeletedWhy.REPLACED, Memory.DeletedWhy.MERGED)
"""Reasons that are not reported: the replacing memory is, or nothing."""


@dataclass(frozen=True, slots=True)
class _News:
    importance: int
    rev: int
    line: str


def memory_delta(principal: Principal, since: int) -> str | None:
    """Return the delta after a revision, or None without changes.

    Most important first, then latest first. At most five statements; none if the revision is unchanged. Raises NotFound
    for a principal that acts for nobody.
    """
    user_id = must_act_for(principal)
    if principal.rev <= since or not principal.has_memory:
        return None
    changes = Change.objects.of_owner(user_id).filter(rev__gt=since, object_type="memory", event__in=_TELLING)
    events: _Events = {}
    latest = changes.order_by("-rev").values_list("object_id", "rev", "event", "meta__left")[:MOST_CHANGES]
    for object_id, rev, event, left in reversed(latest):
        events.setdefault(object_id, []).append((rev, event, left))
    if not events:
        return None
    news = [*_remembered(principal, since, events), *_gone(principal, events), *_withdrawn(principal, events)]
    news.sort(key=lambda each: (-each.importance, -each.rev))
    lines = [each.line for each in news]
    if len(lines) > BULLETS:
        lines = [*lines[: BULLETS - 1], f"+{len(lines) - BULLETS + 1} more"]
    if not lines:
        return None
    return fenced(DELTA_FENCE, [f"Memory updates since rev {since}:", *(f"- {line}" for line in lines)])


def _remembered(principal: Principal, since: int, events: _Events) -> list[_News]:
    """Return the active memories that were added, reworded, recategorised, merged or restored."""
    now = timezone.now()
    rows = Memory.objects.visible_to(principal).in_use(principal).unexpired(now).filter(pk__in=list(events))
    rows = rows.exclude(valid_from__gt=now)
    found = rows.filter(versions__recorded_to__isnull=True).values_list(
        "pk", "kind", "category", "content", "importance", "active_rev", "versions__recorded_from_rev"
    )
    news = []
    for pk, kind, category, content, importance, active_rev, worded_rev in found:
        happened = [event for _, event, _ in events[pk]]
        is_new = (active_rev or 0) > since or (principal.review == "before" and "APPROVE" in happened)
        # Restored since: a source of a reverted merge.
        if next((event for event in reversed(happened) if event in {"MERGE", "RESTORE"}), "") == "MERGE":
            verb = "merged"
        elif is_new:
            verb = "restored" if "RESTORE" in happened and "ADD" not in happened else "created"
        elif worded_rev > since or "UPDATE" in happened:
            verb = "updated"
        else:
            continue
        quoted = "" if kind == Kind.PROCEDURAL else f" {as_data(_cut(told(kind, content)))}"
        line = f"{_SIGNS[verb]}{verb}: [{as_data(category)}] [id:{pk}]{quoted} (imp={importance})"
        news.append(_News(importance, events[pk][-1][0], line))
    return news


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_BULLET else f"{text[: LONGEST_BULLET - 1]}…"


def _gone(principal: Principal, events: _Events) -> list[_News]:
    """Return memories of the principal's categories that are not active any more, visible or not."""
    left = [pk for pk, happened in events.items() if any(event in _ENDING for _, event, _ in happened)]
    rows = Memory.objects.filter(user_id=must_act_for(principal), pk__in=left).exclude(state=Memory.State.ACTIVE)
    rows = rows.exclude(deleted_why__in=_TOLD_OTHERWISE)
    if principal.categories is not None:
        rows = rows.filter(category__in=sorted(principal.categories))
    known = set(_ever_counted(left)) if left else set()
    news = []
    for pk, category, importance in rows.values_list("pk", "category", "importance"):
        rev, event = max(each[:2] for each in events[pk] if each[1] in _ENDING)
        if pk in known:
            news.append(_News(importance, rev, f"−{_ENDING[event]}: [{as_data(category)}] id:{pk}"))
    return news


def _withdrawn(principal: Principal, events: _Events) -> list[_News]:
    """Return memories moved to a category that the principal may not see."""
    known = principal.categories
    if known is None:
        return []
    left = {pk: (rev, was) for pk, happened in events.items() for rev, _, was in happened if was in known}
    if not left:
        return []
    rows = Memory.objects.filter(user_id=must_act_for(principal), pk__in=left, state__in=["active", "archived"])
    rows = rows.exclude(category__in=sorted(known))
    return [
        _News(importance, left[pk][0], f"−withdrawn: [{as_data(left[pk][1])}] id:{pk}")
        for pk, importance in rows.values_list("pk", "importance")
    ]


def _ever_counted(ids: Sequence[str]) -> list[str]:
    """Return those that were active once; memories only proposed were never announced."""
    begun = Change.objects.filter(object_type="memory", object_id__in=ids, event__in=_BEGINNING)
    return list(begun.order_by().values_list("object_id", flat=True).distinct())

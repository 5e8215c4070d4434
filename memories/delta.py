"""The delta header: in at most three lines, what changed in a person's memory since a conversation last looked.

It notifies once; what a prompt says lastingly is its block with the net difference (``difference.py``).

What is remembered now is quoted; what was taken away is named by its category and its id alone. That room was made in
the memory block is never told: those memories are only out of the prompt, and come back by themselves. The lines stand
in a fence, since clients put them into prompts as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.models import Change
from language.fencing import DELTA_FENCE, as_data, fenced

from .models import Memory

BULLETS = 3
MOST_CHANGES = 1_000
"""Of very many changes the latest are told; how many more there were is then no longer exact."""
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
"""What took their place is told instead, or nothing."""


@dataclass(frozen=True, slots=True)
class _News:
    importance: int
    rev: int
    line: str


def memory_delta(principal: Principal, since: int) -> str | None:
    """What the principal has to be told of that changed after a revision, or None when that is nothing.

    The most important first, of equally important ones the latest. Five statements at most; none when the person has
    the same revision still. Raises NotFound for a principal that acts for nobody.
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
    """What counts now and was added, reworded, recategorised, merged or restored."""
    now = timezone.now()
    rows = Memory.objects.visible_to(principal).in_use(principal).unexpired(now).filter(pk__in=list(events))
    rows = rows.exclude(valid_from__gt=now)
    found = rows.filter(versions__recorded_to__isnull=True).values_list(
        "pk", "category", "content", "importance", "active_rev", "versions__recorded_from_rev"
    )
    news = []
    for pk, category, content, importance, active_rev, worded_rev in found:
        happened = [event for _, event, _ in events[pk]]
        is_new = (active_rev or 0) > since or (principal.review == "before" and "APPROVE" in happened)
        # Restored since, it is one of what had been merged.
        if next((event for event in reversed(happened) if event in {"MERGE", "RESTORE"}), "") == "MERGE":
            verb = "merged"
        elif is_new:
            verb = "restored" if "RESTORE" in happened and "ADD" not in happened else "created"
        elif worded_rev > since or "UPDATE" in happened:
            verb = "updated"
        else:
            continue
        quoted = content if len(content) <= LONGEST_BULLET else f"{content[: LONGEST_BULLET - 1]}…"
        line = f"{_SIGNS[verb]}{verb}: [{as_data(category)}] [id:{pk}] {as_data(quoted)} (imp={importance})"
        news.append(_News(importance, events[pk][-1][0], line))
    return news


def _gone(principal: Principal, events: _Events) -> list[_News]:
    """What counted once and does not any more; of the principal's categories, whether or not it is seen still."""
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
    """What is filed under a category by now that the principal may not see, and was not before."""
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
    """Those that were in use at some time: what was only proposed, nobody was told of."""
    begun = Change.objects.filter(object_type="memory", object_id__in=ids, event__in=_BEGINNING)
    return list(begun.order_by().values_list("object_id", flat=True).distinct())

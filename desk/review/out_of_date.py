"""What a fact or a memory rests on that has changed since it was decided about."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse

from accounts.principals import Principal
from facts.models import FactVersion, LegacyFact
from journal.models import Change
from language.second_person import second_person
from memories.models import Memory, MemoryVersion
from statements.models import Doubt

from ..cards import Other, diff_of_memories
from ..diff import word_diff

_WITHHELD = ("words that it rests on", "Withheld")


def what_changed(principal: Principal, object_type: str, object_id: str) -> list[Other]:
    """What a fact or a memory rests on that has changed since it was decided about; empty when nothing did."""
    rows = Doubt.objects.open_of(principal.user_id, object_type).filter(object_id=object_id)
    rev = rows.values_list("rev", flat=True).first()
    if rev is None or principal.user_id is None:
        return []
    change = Change.objects.of_owner(principal.user_id).filter(rev=rev).first()
    if change is not None and change.event == Change.Event.ERASE:
        return [Other(reverse("home"), "something that it rests on", "Erased")]
    if change is None or change.object_type not in {"memory", "fact"} or change.event not in {"UPDATE", "APPROVE"}:
        return [Other(reverse("withheld-list"), *_WITHHELD)]
    return list(_corrected(principal, change))


def _corrected(principal: Principal, change: Change) -> list[Other]:
    numbers = [change.old_version, change.new_version]
    if change.object_type == "memory":
        own = Memory.objects.visible_to(principal).filter(pk=change.object_id)
        versions = MemoryVersion.objects.filter(memory__in=own, number__in=numbers)
        was = dict(versions.values_list("number", "content"))
        address = reverse("memory-page", args=[change.object_id])
        now, compare = own.values_list("content", flat=True).first(), diff_of_memories
    else:
        facts = LegacyFact.objects.mine(principal).filter(pk=UUID(change.object_id))
        was = dict(FactVersion.objects.filter(fact__in=facts, number__in=numbers).values_list("number", "content"))
        address = reverse("fact-page", args=[change.object_id])
        now, compare = facts.values_list("content", flat=True).first(), word_diff
    if now is None:
        return [Other(reverse("home"), "something that it rests on", "Not there any more")]
    old, new = (was.get(number or 0, now) for number in numbers)
    shown = second_person(now) if change.object_type == "memory" else now
    return [Other(address, shown, "Corrected", pieces=compare(old, new), diffed="From then to now")]

"""Bulk decisions about facts or memories: selected on a list, confirmed with counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext
from django.views.decorators.http import require_POST

from accounts.models import Legacy
from accounts.principals import Principal
from facts.actions import MOST_AT_ONCE, facts_decide, facts_preview
from facts.models import LegacyFact
from facts.querysets import FactQuerySet
from journal.exceptions import Refused
from journal.records import BulkResult
from memories.actions import memories_decide, memories_preview
from memories.models import Memory
from memories.querysets import MemoryQuerySet
from statements.policy.naming import fact_in_words, in_second_person

from .legacies.listing import FactView
from .memories.listing import MemoryView
from .outcomes import Done
from .page import PageRequest, came_from, for_person, origin_of
from .review.session import ReviewSession

DONE = {
    "approve": gettext_noop("Approved"),
    "reject": gettext_noop("Rejected"),
    "share": gettext_noop("Shared"),
    "unshare": gettext_noop("Unshared"),
    "delete": gettext_noop("Put away"),
    "archive": gettext_noop("Put away"),
    "restore": gettext_noop("Restored"),
    "pin": gettext_noop("Pinned"),
    "unpin": gettext_noop("Unpinned"),
}
WHY_SKIPPED = {
    "not_there": gettext_noop("not there any more, or not yours to decide"),
    "changed": gettext_noop("changed since you saw them"),
    "nothing_to_do": gettext_noop("already so"),
    "wrong_state": gettext_noop("in a state that does not allow it"),
    "not_a_member": gettext_noop("about a legacy that you have left"),
    "erasure_waits": gettext_noop("waiting for their erasure"),
    "similar_exists": gettext_noop("already there in the same words"),
    "field_exists": gettext_noop("in a field that another memory has now"),
}


@dataclass(frozen=True, slots=True)
class BulkKind:
    """What bulk decisions about facts, or about memories, differ in.

    ``noun``: its name in forms. ``…_route``: URL names. ``own``: the rows that the person may decide about, in order.
    ``matching``: those on all pages of the list at an address. ``parse_id`` raises ValueError. ``preview`` and
    ``decide``: the actions for that. ``shown``: a wording as the page shows it.
    """

    noun: str
    list_route: str
    apply_route: str
    title: str
    nothing_selected: str
    counted: Callable[[int], str]
    own: Callable[[Principal], QuerySet[Any]]
    matching: Callable[[Principal, str], QuerySet[Any]]
    parse_id: Callable[[str], Any]
    preview: Callable[[Principal, Mapping[Any, int | None], str], BulkResult[Any]]
    decide: Callable[[Principal, Mapping[Any, int | None], str], BulkResult[Any]]
    shown: Callable[[str], str]

    def parse(self, chosen: Sequence[str]) -> dict[Any, int | None]:
        """Parse ``id:version`` entries; malformed ones are ignored."""
        found: dict[Any, int | None] = {}
        for each in chosen:
            written, _colon, version = each.partition(":")
            try:
                found[self.parse_id(written)] = int(version)
            except ValueError:
                continue
        return found


def _facts_at(principal: Principal, back: str) -> FactQuerySet:
    legacy_id = origin_of(back, reverse("fact-list")).kwargs.get("legacy_id")
    rows = LegacyFact.objects.mine(principal)
    rows = rows.filter(legacy_id=legacy_id) if legacy_id else rows
    return FactView.of(QueryDict(urlsplit(back).query)).select(rows, principal)


def _memories_at(principal: Principal, back: str) -> MemoryQuerySet:
    return MemoryView.of(QueryDict(urlsplit(back).query)).select(Memory.objects.visible_to(principal))


FACTS = BulkKind(
    noun="fact",
    list_route="fact-list",
    apply_route="bulk-apply",
    title=gettext_noop("%(verb)s several facts"),
    nothing_selected=gettext_noop("Nothing was selected. Select the facts first."),
    counted=lambda count: ngettext("%(count)s fact", "%(count)s facts", count) % {"count": intcomma(count)},
    own=lambda principal: LegacyFact.objects.mine(principal).order_by("extracted_at", "id"),
    matching=_facts_at,
    parse_id=UUID,
    preview=facts_preview,
    decide=facts_decide,
    shown=fact_in_words,
)
MEMORIES = BulkKind(
    noun="memory",
    list_route="memory-list",
    apply_route="memory-bulk-apply",
    title=gettext_noop("%(verb)s several memories"),
    nothing_selected=gettext_noop("Nothing was selected. Select the memories first."),
    counted=lambda count: ngettext("%(count)s memory", "%(count)s memories", count) % {"count": intcomma(count)},
    own=lambda principal: Memory.objects.visible_to(principal).order_by("created_at", "id"),
    matching=_memories_at,
    parse_id=str,
    preview=memories_preview,
    decide=memories_decide,
    shown=in_second_person,
)


@require_POST
@for_person
def confirm(request: PageRequest, principal: Principal, kind: BulkKind) -> HttpResponse:
    """Preview a bulk decision, and ask for confirmation."""
    decision, back = request.POST.get("decision", ""), came_from(request, reverse(kind.list_route))
    chosen, matching = kind.parse(request.POST.getlist(kind.noun)), 0
    if request.POST.get("all") == "yes":
        rows = kind.matching(principal, back)
        chosen, matching = dict(rows.values_list("pk", "version")[:MOST_AT_ONCE]), rows.count()
    if not chosen:
        messages.error(request, _(kind.nothing_selected))
        return redirect(back)
    try:
        result = kind.preview(principal, chosen, decision)
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    examples = kind.own(principal).filter(pk__in=result.ids[:5]).values_list("content", flat=True)
    context = {
        "principal": principal,
        "apply_bulk": reverse(kind.apply_route),
        "decision": decision,
        "title": _(kind.title) % {"verb": _verb(decision)},
        "done": result.done,
        "asked": _("%(verb)s %(counted)s") % {"verb": _verb(decision), "counted": kind.counted(result.done)},
        "nothing": _("Nothing to %(verb)s") % {"verb": _verb(decision, after_to=True)},
        "skipped": _reasons(result.skipped),
        "chosen": " ".join(f"{each}:{chosen[each]}" for each in result.ids),
        "examples": [kind.shown(content) for content in examples],
        "left_over": max(0, matching - len(chosen)),
        "readers": _readers(principal, result.ids) if decision == "share" else [],
        "next": back,
    }
    return render(request, "desk/bulk.html", context)


def _readers(principal: Principal, ids: Sequence[UUID]) -> list[str]:
    """Return the other members of the facts' legacies, who would see these if shared."""
    legacies = LegacyFact.objects.mine(principal).filter(pk__in=ids).order_by().values("legacy_id").distinct()
    kept = Legacy.objects.visible_to(principal).filter(pk__in=legacies).prefetch_related("memberships__user")
    people = {member.user for legacy in kept for member in legacy.memberships.all()}
    return sorted(person.get_full_name() for person in people if person.pk != principal.user_id)


@require_POST
@for_person
def apply_bulk(request: PageRequest, principal: Principal, kind: BulkKind) -> HttpResponse:
    """Execute a confirmed bulk decision."""
    decision, back = request.POST.get("decision", ""), came_from(request, reverse(kind.list_route))
    try:
        result = kind.decide(principal, kind.parse(request.POST.get("chosen", "").split()), decision)
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    told = _("%(done)s %(counted)s.") % {"done": _participle(decision), "counted": kind.counted(result.done)}
    undo = reverse("undo", args=[[(result.first_rev, result.last_rev)]]) if result.done else ""
    done = Done(DONE[decision], _told(told, result.skipped), undo)
    ReviewSession(request.session).note(done, count=result.done, noun=kind.noun)
    messages.success(request, done.text, extra_tags=undo)
    return redirect(back)


def _reasons(skipped: Mapping[str, int]) -> list[tuple[int, str]]:
    return [(count, _(WHY_SKIPPED[code])) for code, count in skipped.items()]


def _verb(decision: str, *, after_to: bool = False) -> str:
    """Return a decision's verb for a sentence, translatable."""
    verbs = {
        "approve": pgettext("of several", "Approve"),
        "reject": pgettext("of several", "Reject"),
        "share": pgettext("of several", "Share"),
        "unshare": pgettext("of several", "Unshare"),
        "delete": pgettext("of several", "Put away"),
        "archive": pgettext("of several", "Put away"),
        "restore": pgettext("of several", "Restore"),
        "pin": pgettext("of several", "Pin"),
        "unpin": pgettext("of several", "Unpin"),
    }
    return verbs[decision].lower() if after_to else verbs[decision]


def _participle(decision: str) -> str:
    return {
        "approve": pgettext("of several", "Approved"),
        "reject": pgettext("of several", "Rejected"),
        "share": pgettext("of several", "Shared"),
        "unshare": pgettext("of several", "Unshared"),
        "delete": pgettext("of several, done", "Put away"),
        "archive": pgettext("of several, done", "Put away"),
        "restore": pgettext("of several", "Restored"),
        "pin": pgettext("of several", "Pinned"),
        "unpin": pgettext("of several", "Unpinned"),
    }[decision]


def _told(sentence: str, skipped: Mapping[str, int]) -> str:
    """Describe what was done, and what was skipped and why."""
    why = "; ".join(f"{intcomma(count)} {reason}" for count, reason in _reasons(skipped))
    return f"{sentence} {_('Left as they were: %(why)s.') % {'why': why}}" if why else sentence


_FACTS, _MEMORIES = {"kind": FACTS}, {"kind": MEMORIES}
urlpatterns = [
    path("facts/bulk/", confirm, _FACTS, name="bulk-confirm"),
    path("facts/bulk/carry-out/", apply_bulk, _FACTS, name="bulk-apply"),
    path("memories/bulk/", confirm, _MEMORIES, name="memory-bulk-confirm"),
    path("memories/bulk/carry-out/", apply_bulk, _MEMORIES, name="memory-bulk-apply"),
]

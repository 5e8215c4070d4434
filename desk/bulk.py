"""Bulk decisions about facts or memories: selected on a list, confirmed with counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.contrib.humanize.templatetags.humanize import intcomma
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, pgettext
from django.views.decorators.http import require_POST

from accounts.models import Legacy
from accounts.principals import Principal
from facts import actions as facts
from facts.models import LegacyFact
from journal.exceptions import Refused
from journal.records import BulkResult, Id
from language.second_person import second_person
from memories import actions as memories
from memories.models import Memory

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
    "similar_exists": gettext_noop("already there in the same words"),
    "field_exists": gettext_noop("in a field that another memory has now"),
}


class Many(ABC, Generic[Id]):
    """Base of bulk decisions on one kind of statement.

    ``one``: its name in forms; ``routes``: URL names of its list and of the pages here.
    """

    one: ClassVar[str]
    routes: ClassVar[Mapping[str, str]]

    @abstractmethod
    def counted(self, count: int) -> str:
        """Return the number in words."""

    @abstractmethod
    def nothing_selected(self) -> str:
        """Return the message for an empty selection."""

    @abstractmethod
    def title(self, decision: str) -> str:
        """Return the title of the confirmation page."""

    @abstractmethod
    def matching(self, principal: Principal, back: str) -> tuple[dict[Id, int | None], int]:
        """Return the ids on all pages of a list, up to the limit, and their total number."""

    @abstractmethod
    def read_id(self, written: str) -> Id:
        """Parse an id. Raises ValueError."""

    @abstractmethod
    def preview(self, principal: Principal, wanted: Mapping[Id, int | None], decision: str) -> BulkResult[Id]:
        """Count what a decision would change."""

    @abstractmethod
    def decide(self, principal: Principal, wanted: Mapping[Id, int | None], decision: str) -> BulkResult[Id]:
        """Execute a decision."""

    @abstractmethod
    def contents(self, principal: Principal, ids: Sequence[Id]) -> list[str]:
        """Return the wordings, in the given order."""

    def readers(self, principal: Principal, ids: Sequence[Id]) -> list[str]:
        """Return who else would see these if shared."""
        return []

    def read(self, chosen: Sequence[str]) -> dict[Id, int | None]:
        """Parse ``id:version`` entries; malformed ones are ignored."""
        found: dict[Id, int | None] = {}
        for each in chosen:
            written, _colon, version = each.partition(":")
            try:
                found[self.read_id(written)] = int(version)
            except ValueError:
                continue
        return found


class ManyFacts(Many[UUID]):
    """Facts, of one legacy or of all."""

    one = "fact"
    routes = {"list": "fact-list", "apply_bulk": "bulk-apply"}

    def counted(self, count: int) -> str:
        """Return the number of facts in words."""
        return ngettext("%(count)s fact", "%(count)s facts", count) % {"count": intcomma(count)}

    def nothing_selected(self) -> str:
        """Return the message for no selected fact."""
        return _("Nothing was selected. Select the facts first.")

    def title(self, decision: str) -> str:
        """Return the title for facts."""
        return _("%(verb)s several facts") % {"verb": _verb(decision)}

    def matching(self, principal: Principal, back: str) -> tuple[dict[UUID, int | None], int]:
        """Return the matching facts."""
        rows = LegacyFact.objects.mine(principal)
        legacy_id = origin_of(back, reverse(self.routes["list"])).kwargs.get("legacy_id")
        rows = rows.filter(legacy_id=legacy_id) if legacy_id else rows
        rows = FactView.of(QueryDict(urlsplit(back).query)).select(rows, principal)
        return dict(rows.values_list("pk", "version")[: facts.MOST_AT_ONCE]), rows.count()

    def read_id(self, written: str) -> UUID:
        """Parse a UUID. Raises ValueError."""
        return UUID(written)

    def preview(self, principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> BulkResult[UUID]:
        """Count with ``facts_weigh``."""
        return facts.facts_weigh(principal, wanted, decision)

    def decide(self, principal: Principal, wanted: Mapping[UUID, int | None], decision: str) -> BulkResult[UUID]:
        """Execute with ``facts_decide``."""
        return facts.facts_decide(principal, wanted, decision)

    def contents(self, principal: Principal, ids: Sequence[UUID]) -> list[str]:
        """Return the wordings of the facts."""
        rows = LegacyFact.objects.mine(principal).filter(pk__in=ids).order_by("extracted_at", "id")
        return list(rows.values_list("content", flat=True))

    def readers(self, principal: Principal, ids: Sequence[UUID]) -> list[str]:
        """Return the other members of the facts' legacies."""
        legacies = LegacyFact.objects.mine(principal).filter(pk__in=ids).order_by().values("legacy_id").distinct()
        kept = Legacy.objects.visible_to(principal).filter(pk__in=legacies).prefetch_related("memberships__user")
        people = {member.user for legacy in kept for member in legacy.memberships.all()}
        return sorted(person.get_full_name() for person in people if person.pk != principal.user_id)


class ManyMemories(Many[str]):
    """Memories of the person."""

    one = "memory"
    routes = {"list": "memory-list", "apply_bulk": "memory-bulk-apply"}

    def counted(self, count: int) -> str:
        """Return the number of memories in words."""
        return ngettext("%(count)s memory", "%(count)s memories", count) % {"count": intcomma(count)}

    def nothing_selected(self) -> str:
        """Return the message for no selected memory."""
        return _("Nothing was selected. Select the memories first.")

    def title(self, decision: str) -> str:
        """Return the title for memories."""
        return _("%(verb)s several memories") % {"verb": _verb(decision)}

    def matching(self, principal: Principal, back: str) -> tuple[dict[str, int | None], int]:
        """Return the matching memories."""
        view = MemoryView.of(QueryDict(urlsplit(back).query))
        rows = view.select(Memory.objects.visible_to(principal))
        return dict(rows.values_list("pk", "version")[: memories.MOST_AT_ONCE]), rows.count()

    def read_id(self, written: str) -> str:
        """Accept any word: an unknown id matches no memory."""
        return written.replace("\x00", "")

    def preview(self, principal: Principal, wanted: Mapping[str, int | None], decision: str) -> BulkResult[str]:
        """Count with ``memories_weigh``."""
        return memories.memories_weigh(principal, wanted, decision)

    def decide(self, principal: Principal, wanted: Mapping[str, int | None], decision: str) -> BulkResult[str]:
        """Execute with ``memories_decide``."""
        return memories.memories_decide(principal, wanted, decision)

    def contents(self, principal: Principal, ids: Sequence[str]) -> list[str]:
        """Return the wordings of the memories."""
        rows = Memory.objects.visible_to(principal).filter(pk__in=ids).order_by("created_at", "id")
        return [second_person(content) for content in rows.values_list("content", flat=True)]


@require_POST
@for_person
def confirm(request: PageRequest, principal: Principal, many: Many[Any]) -> HttpResponse:
    """Preview a bulk decision, and ask for confirmation."""
    decision, back = request.POST.get("decision", ""), came_from(request, reverse(many.routes["list"]))
    everything = request.POST.get("all") == "yes"
    chosen, matching = many.matching(principal, back) if everything else (many.read(request.POST.getlist(many.one)), 0)
    if not chosen:
        messages.error(request, many.nothing_selected())
        return redirect(back)
    try:
        result = many.preview(principal, chosen, decision)
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    context = {
        "principal": principal,
        "apply_bulk": reverse(many.routes["apply_bulk"]),
        "decision": decision,
        "title": many.title(decision),
        "done": result.done,
        "asked": _("%(verb)s %(counted)s") % {"verb": _verb(decision), "counted": many.counted(result.done)},
        "nothing": _("Nothing to %(verb)s") % {"verb": _verb(decision, after_to=True)},
        "skipped": _reasons(result.skipped),
        "chosen": " ".join(f"{each}:{chosen[each]}" for each in result.ids),
        "examples": many.contents(principal, result.ids[:5]),
        "left_over": max(0, matching - len(chosen)),
        "readers": many.readers(principal, result.ids) if decision == "share" else [],
        "next": back,
    }
    return render(request, "desk/bulk.html", context)


@require_POST
@for_person
def apply_bulk(request: PageRequest, principal: Principal, many: Many[Any]) -> HttpResponse:
    """Execute a confirmed bulk decision."""
    decision, back = request.POST.get("decision", ""), came_from(request, reverse(many.routes["list"]))
    chosen = many.read(request.POST.get("chosen", "").split())
    try:
        result = many.decide(principal, chosen, decision)
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    told = _("%(done)s %(counted)s.") % {"done": _participle(decision), "counted": many.counted(result.done)}
    undo = reverse("undo", args=[[(result.first_rev, result.last_rev)]]) if result.done else ""
    done = Done(_(DONE[decision]), _told(told, result.skipped), undo)
    ReviewSession(request.session).note(done, count=result.done, noun=many.one)
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


_FACTS, _MEMORIES = {"many": ManyFacts()}, {"many": ManyMemories()}
urlpatterns = [
    path("facts/bulk/", confirm, _FACTS, name="bulk-confirm"),
    path("facts/bulk/carry-out/", apply_bulk, _FACTS, name="bulk-apply"),
    path("memories/bulk/", confirm, _MEMORIES, name="memory-bulk-confirm"),
    path("memories/bulk/carry-out/", apply_bulk, _MEMORIES, name="memory-bulk-apply"),
]

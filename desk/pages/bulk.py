"""One decision about many facts: chosen on a list, confirmed with its counts, taken back in one."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import Resolver404, path, resolve, reverse
from django.views.decorators.http import require_POST

from accounts.models import Legacy
from accounts.principals import Principal
from facts import actions
from facts.models import LegacyFact
from journal.exceptions import Refused

from ..outcomes import Done
from ..sittings import Sitting
from ..views import View
from .frame import PageRequest, came_from, for_person

WORDS = {
    "approve": ("Approve", "Approved"),
    "reject": ("Reject", "Rejected"),
    "share": ("Share", "Shared"),
    "unshare": ("Unshare", "Unshared"),
    "delete": ("Delete", "Deleted"),
}
WHY_SKIPPED = {
    "not_there": "not there any more, or not yours to decide",
    "changed": "changed since you saw them",
    "nothing_to_do": "already so",
    "wrong_state": "in a state that does not allow it",
    "not_a_member": "about a legacy that you have left",
    "similar_exists": "there again in the same words",
}


@require_POST
@for_person
def confirm(request: PageRequest, principal: Principal) -> HttpResponse:
    """Say what a decision about the chosen facts would come to, and ask."""
    decision, back = request.POST.get("decision", ""), came_from(request, reverse("fact-list"))
    everything = request.POST.get("all") == "yes"
    chosen, matching = _matching(principal, back) if everything else (_read(request.POST.getlist("fact")), 0)
    if not chosen:
        messages.error(request, "Nothing was chosen. Tick the facts that you mean first.")
        return redirect(back)
    try:
        result = actions.facts_weigh(principal, chosen, decision)
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    context = {
        "principal": principal,
        "decision": decision,
        "verb": WORDS[decision][0],
        "done": result.done,
        "skipped": _reasons(result.skipped),
        "facts": " ".join(f"{fact_id}:{chosen[fact_id]}" for fact_id, why in result.outcomes.items() if why == "done"),
        "examples": _examples(principal, result),
        "left_over": max(0, matching - len(chosen)),
        "readers": _readers(principal, result) if decision == "share" else [],
        "next": back,
    }
    return render(request, "desk/bulk.html", context)


@require_POST
@for_person
def carry_out(request: PageRequest, principal: Principal) -> HttpResponse:
    """Carry out what was confirmed."""
    decision, back = request.POST.get("decision", ""), came_from(request, reverse("fact-list"))
    chosen = _read(request.POST.get("facts", "").split())
    try:
        result = actions.facts_decide(principal, chosen, decision, reason=request.POST.get("reason", "").strip())
    except Refused as error:
        messages.error(request, error.detail)
        return redirect(back)
    word = WORDS[decision][1]
    undo = reverse("bulk-undo", args=[result.first_rev, result.last_rev]) if result.done else ""
    done = Done(word, _told(f"{word} {_facts(result.done)}.", result.skipped), undo)
    Sitting(request.session).note(done, count=result.done)
    messages.success(request, done.text, extra_tags=undo)
    return redirect(back)


@require_POST
@for_person
def undo(request: PageRequest, principal: Principal, first: int, last: int) -> HttpResponse:
    """Take a decision about many facts back."""
    back = came_from(request, reverse("fact-list"))
    result = actions.facts_undo(principal, first, last)
    Sitting(request.session).forget(request.path)
    messages.success(request, _told(f"Undone for {_facts(result.done)}.", result.skipped))
    return redirect(back)


def _matching(principal: Principal, back: str) -> tuple[dict[UUID, int | None], int]:
    """The facts of the list at an address, on all its pages, up to as many as go at once; and how many there are."""
    place = urlsplit(back)
    facts = LegacyFact.objects.mine(principal)
    try:
        legacy_id = resolve(place.path).kwargs.get("legacy_id")
    except Resolver404:
        legacy_id = None
    rows = View.of(QueryDict(place.query)).select(facts.filter(legacy_id=legacy_id) if legacy_id else facts, principal)
    return dict(rows.values_list("pk", "version")[: actions.MOST_AT_ONCE]), rows.count()


def _read(chosen: list[str]) -> dict[UUID, int | None]:
    """Facts and the versions that were seen, written ``id:version``; what is not written so is nobody's choice."""
    found: dict[UUID, int | None] = {}
    for each in chosen:
        fact_id, _, version = each.partition(":")
        try:
            found[UUID(fact_id)] = int(version)
        except ValueError:
            continue
    return found


def _examples(principal: Principal, result: actions.BulkResult) -> list[LegacyFact]:
    """The first few facts that the decision would be carried out for."""
    wanted = [fact_id for fact_id, why in result.outcomes.items() if why == actions.DONE][:5]
    rows = LegacyFact.objects.mine(principal).filter(pk__in=wanted).order_by("extracted_at", "id")
    return list(rows.only("content"))


def _readers(principal: Principal, result: actions.BulkResult) -> list[str]:
    """Who else keeps the legacies that something would be shared in."""
    wanted = [fact_id for fact_id, why in result.outcomes.items() if why == actions.DONE]
    legacies = LegacyFact.objects.mine(principal).filter(pk__in=wanted).order_by().values("legacy_id").distinct()
    kept = Legacy.objects.visible_to(principal).filter(pk__in=legacies).prefetch_related("memberships__user")
    people = {member.user for legacy in kept for member in legacy.memberships.all()}
    return sorted(person.get_full_name() for person in people if person.pk != principal.user_id)


def _reasons(skipped: Mapping[str, int]) -> list[tuple[int, str]]:
    return [(count, WHY_SKIPPED[code]) for code, count in skipped.items()]


def _facts(count: int) -> str:
    return "1 fact" if count == 1 else f"{count:,} facts"


def _told(sentence: str, skipped: Mapping[str, int]) -> str:
    """What was done, and what was left as it was and why."""
    why = "; ".join(f"{count:,} {reason}" for count, reason in _reasons(skipped))
    return f"{sentence} Left as they were: {why}." if why else sentence


urlpatterns = [
    path("facts/bulk/", confirm, name="bulk-confirm"),
    path("facts/bulk/carry-out/", carry_out, name="bulk-carry-out"),
    path("facts/bulk/undo/<int:first>/<int:last>/", undo, name="bulk-undo"),
]

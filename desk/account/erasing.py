"""Erasing one object permanently, with a preview of what is erased with it; receipts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.db.models import Model, QuerySet
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.decorators.http import require_http_methods

from accounts.policy import must_act_for
from accounts.principals import Principal, shape_for
from assistant.erasure.actions import erasure_request
from conversations.models import Message
from facts.models import FactEvidence, LegacyFact
from journal.exceptions import NotFound, Refused, must_find
from journal.models import Erasure
from memories.models import MemoryEvidence, Place
from memories.queries import visible
from retrieval.prepared import PLACEHOLDER_ROW, Shaped, read, read_objects
from statements.policy.naming import fact_in_words, in_second_person

from ..erasures import Wanted, show_erasure
from ..page import PageRequest, for_person
from ..quotations import Quotation, messages_behind, quote

LATEST = 20
MOST_MESSAGES = 50
NAMES = {
    "memory": gettext_noop("A memory"),
    "fact": gettext_noop("A fact"),
    "place": gettext_noop("A place"),
    "message": gettext_noop("A message"),
    "conversation": gettext_noop("A conversation"),
    "import": gettext_noop("The record of an import"),
    "membership": gettext_noop("All about a legacy"),
    "everything": gettext_noop("Everything"),
}


SCOPES = {
    "memory": gettext_noop("memory"),
    "fact": gettext_noop("fact"),
    "place": gettext_noop("place"),
    "message": gettext_noop("message"),
    "conversation": gettext_noop("conversation"),
    "import": gettext_noop("record of an import"),
    "membership": gettext_noop("membership"),
    "everything": gettext_noop("everything"),
}
COUNTED = {
    **dict.fromkeys(("memories", "memory"), gettext_noop("memories")),
    "memoryversion": gettext_noop("wordings of memories"),
    **dict.fromkeys(("facts", "legacyfact"), gettext_noop("facts")),
    "factversion": gettext_noop("wordings of facts"),
    "place": gettext_noop("places"),
    **dict.fromkeys(("messages", "message"), gettext_noop("messages")),
    "chunks": gettext_noop("summaries"),
    **dict.fromkeys(("conversations", "conversation"), gettext_noop("conversations")),
    "withheld": gettext_noop("withheld passages"),
    "conversationimport": gettext_noop("records of imports"),
}
"""What a receipt counts most of, by the names that it counts by."""
OTHER_ROWS = gettext_noop("entries that go with them")


_Noun = Literal["memory", "fact", "place"]


@dataclass(frozen=True, slots=True)
class ReceiptLine:
    """An erasure, and the name of what it erases."""

    erasure: Erasure
    what: str


@dataclass(frozen=True, slots=True)
class Erasable:
    """A memory, fact or place to erase, its page, and its evidence."""

    noun: _Noun
    key: str
    content: str
    address: str
    said: list[Quotation]
    messages: list[Message]


def receipts(principal: Principal) -> list[ReceiptLine]:
    """Return the person's latest erasures, newest first."""
    rows = Erasure.objects.filter(user_id=must_act_for(principal)).order_by("-at")[:LATEST]
    return [ReceiptLine(each, _(NAMES.get(each.scope, each.scope))) for each in rows]


def erasure_of_everything(principal: Principal) -> Erasure | None:
    """Return the waiting erasure of everything, which can be cancelled."""

    def build(who: Principal) -> QuerySet[Erasure]:
        return Erasure.objects.waiting("everything").filter(user_id=must_act_for(who))

    waiting = read_objects(Erasure, shape_for(principal, "erasure", build), part=slice(0, 1))
    return waiting[0] if waiting else None


def removed_in_words(erasure: Erasure) -> dict[str, int]:
    """Return the removed rows in words; kinds without a name are summed up at the end."""
    counts: dict[str, int] = {}
    for kind in sorted(erasure.removed, key=lambda kind: [*COUNTED, kind].index(kind)):
        name = _(COUNTED.get(kind, OTHER_ROWS))
        counts[name] = counts.get(name, 0) + erasure.removed[kind]
    return counts


@require_http_methods(["GET", "HEAD", "POST"])
@for_person
def erase_one(
    request: PageRequest,
    principal: Principal,
    memory_id: str = "",
    fact_id: UUID | None = None,
    place_id: UUID | None = None,
) -> HttpResponse:
    """Preview the erasure of a memory, fact or place, or request it."""
    if place_id:
        found = _find_place(principal, place_id)
    else:
        found = _find(principal, "fact", str(fact_id)) if fact_id else _find(principal, "memory", memory_id)
    if request.method != "POST":
        return _show(request, principal, found)
    at_once = request.POST.get("at_once") == "yes"
    hours = 0 if at_once else settings.ERASE_GRACE_HOURS
    also = request.POST.getlist("also")
    wanted: list[tuple[str, str, list[str]]] = [(found.noun, found.key, also)]
    if request.POST.get("messages") == "yes":
        wanted += [("message", str(each.pk), []) for each in found.messages]
    try:
        made = [
            erasure_request(principal, scope, object_id, grace_hours=hours, also=along)[0]
            for scope, object_id, along in wanted
        ]
    except NotFound:
        raise
    except Refused as error:
        return _show(request, principal, found, error)
    if at_once and len(made) == 1:
        return redirect("receipt-page", made[0].pk)
    told = _("It is erased in %(hours)s hours. Until then you can keep it.") % {"hours": hours}
    messages.success(request, _("It is being erased.") if at_once else told)
    return redirect(reverse("my-data") + "#receipts")


def _find(principal: Principal, noun: Literal["memory", "fact"], key: str) -> Erasable:
    evidence: list[MemoryEvidence] | list[FactEvidence]
    if noun == "memory":
        rows, of_it = visible(principal), {"version__memory": PLACEHOLDER_ROW}
        evidence = read_objects(MemoryEvidence, _evidence(MemoryEvidence, of_it, key), part=slice(0, MOST_MESSAGES))
    else:
        rows, of_it = shape_for(principal, "facts", LegacyFact.objects.mine), {"fact": PLACEHOLDER_ROW}
        evidence = read_objects(FactEvidence, _evidence(FactEvidence, of_it, key), part=slice(0, MOST_MESSAGES))
    if not (found := read(rows.one(key), ("content",))):
        raise NotFound(f"There is no such {noun}.")
    content = found[0][0]
    behind = messages_behind(principal, evidence)
    said = list({(each.conversation_id, each.number): each for each in quote(evidence, behind)}.values())
    shown = in_second_person(content) if noun == "memory" else fact_in_words(content)
    return Erasable(noun, key, shown, reverse(f"{noun}-page", args=[key]), said, list(behind.values()))


def _evidence(model: type[Model], of_it: Mapping[str, UUID], key: str) -> Shaped:
    ids = {PLACEHOLDER_ROW: key, str(PLACEHOLDER_ROW): key}
    return Shaped(("evidence", model), lambda: model._default_manager.filter(**of_it).order_by("id"), ids)


def _find_place(principal: Principal, place_id: UUID) -> Erasable:
    """The messages that name a place are not what it was learned from: they stay."""
    place = must_find(Place.objects.visible_to(principal).filter(pk=place_id).first(), "place")
    return Erasable("place", str(place.pk), place.name, reverse("place-page", args=[place.pk]), [], [])


def _show(request: PageRequest, principal: Principal, found: Erasable, refused: Refused | None = None) -> HttpResponse:
    behind = {f"message-{each.pk}" for each in found.messages}  # They have a checkbox of their own.
    wanted = Wanted(found.noun, found.key, but=behind)
    return show_erasure(request, principal, wanted, refused, template="desk/erase_one.html", context={"found": found})


urlpatterns = [
    path("memories/<slug:memory_id>/erase/", erase_one, name="memory-erase"),
    path("facts/<uuid:fact_id>/erase/", erase_one, name="fact-erase"),
    path("places/<uuid:place_id>/erase/", erase_one, name="place-erase"),
]

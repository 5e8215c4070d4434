"""What a page shows before an erasure: what goes along at once, and what else says the same once that is looked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from accounts.policy import must_act_for
from accounts.principals import Principal
from assistant.erasure.extent import Extent
from assistant.erasure.preview import ErasurePreview
from facts.models import LegacyFact
from journal.exceptions import Refused
from memories.models import Memory, Place
from statements.policy.naming import fact_in_words, in_second_person

from .cards import Link
from .elsewhere import places_in_words, said_elsewhere
from .page import PageRequest

NAMED = 12


@dataclass(frozen=True, slots=True)
class AlsoErased:
    """What is erased with it: memories, facts and places without other evidence, and summaries."""

    memories: Sequence[Link]
    facts: Sequence[Link]
    places: Sequence[Link]
    more: int
    summaries: int

    def __bool__(self) -> bool:
        return bool(self.memories or self.facts or self.places or self.summaries)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be erased, the summaries that this reaches, and the keys of what is offered in another way."""

    scope: str
    object_id: str
    summaries: int = 0
    but: Collection[str] = ()


def show_erasure(
    request: PageRequest,
    principal: Principal,
    wanted: Wanted,
    refused: Refused | None,
    *,
    template: str,
    context: Mapping[str, Any],
) -> HttpResponse:
    """Render the page before an erasure, with the refusal of one that was tried. The object exists.

    What else says the same takes long to find. So it is looked for with ``?elsewhere=yes``: the page requests that part
    itself, and links to it where there is no JavaScript.
    """
    looked = request.GET.get("elsewhere") == "yes"
    preview = ErasurePreview.of(principal, must_act_for(principal), wanted.scope, wanted.object_id, elsewhere=looked)
    also = said_elsewhere(principal, [each for each in preview.also if each.key not in wanted.but])
    surely = [each for each in also if each[0].surely]
    found = {
        "scope": wanted.scope,
        "looked": looked,
        "also": surely,
        "perhaps": [each for each in also if not each[0].surely],
        "where": places_in_words(len(surely)),
    }
    if looked and request.htmx:
        return render(request, "desk/_elsewhere.html", found)
    shown = {
        "principal": principal,
        "along": _also_erased(principal, preview.extent, wanted),
        "grace_hours": settings.ERASE_GRACE_HOURS,
        "refused": refused.detail if refused else "",
    }
    return render(request, template, {**context, **found, **shown}, status=refused.status if refused else 200)


def _also_erased(principal: Principal, extent: Extent, wanted: Wanted) -> AlsoErased:
    """Name what an erasure includes beside its object, in a constant number of statements."""
    # Without the object itself.
    with_memories = {pk for pk in extent.memories if pk != wanted.object_id}
    with_facts = {pk for pk in extent.facts if str(pk) != wanted.object_id}
    if not (with_memories or with_facts or extent.places):
        return AlsoErased([], [], [], 0, wanted.summaries)
    memories = Memory.objects.visible_to(principal).filter(pk__in=with_memories, state__in=["active", "proposed"])
    facts = LegacyFact.objects.mine(principal).filter(pk__in=with_facts, state__in=["active", "proposed"])
    places = Place.objects.visible_to(principal).present().filter(pk__in=extent.places)
    named = (
        [
            Link(reverse("memory-page", args=[pk]), in_second_person(content))
            for pk, content in memories.order_by("created_at", "pk").values_list("pk", "content")
        ],
        [
            Link(reverse("fact-page", args=[pk]), fact_in_words(content))
            for pk, content in facts.order_by("extracted_at", "pk").values_list("pk", "content")
        ],
        [
            Link(reverse("place-page", args=[pk]), name)
            for pk, name in places.order_by("name", "pk").values_list("pk", "name")
        ],
    )
    more = sum(max(0, len(links) - NAMED) for links in named)
    said, told, cared_about = (links[:NAMED] for links in named)
    return AlsoErased(said, told, cared_about, more, wanted.summaries)

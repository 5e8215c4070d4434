"""The filters of lists of facts, for REST and pages."""

from __future__ import annotations

from django_filters import rest_framework as filters

from accounts.authentication import principal_of
from web.pagination import BooleanFilter, FiltersByState

from .models import LegacyFact
from .querysets import WAITING, FactQuerySet

OWN_WORDS = "me"


class FactFilters(FiltersByState):
    """What a list of facts is narrowed to. Without ``state`` only active ones are listed."""

    usual = LegacyFact.State.ACTIVE
    category = filters.ChoiceFilter(choices=LegacyFact.Category.choices, label="What it is about.")
    visibility = filters.ChoiceFilter(choices=LegacyFact.Visibility.choices, label="Who sees it.")
    state = filters.ChoiceFilter(
        choices=[*LegacyFact.State.choices, ("all", "All")], method="in_state", label="Active unless it is named."
    )
    mine = BooleanFilter(method="of_whom", label="Only the person's own, or only those of others.")
    waiting = BooleanFilter(method="undecided", label="Only what its author has not decided about, or not.")
    written_by = filters.CharFilter(
        method="worded_by", label='The model, rules or agent whose wording it is; "me" for its author\'s own.'
    )
    search = filters.CharFilter(method="saying", label="Words that the fact holds, or their beginnings.")

    def of_whom(self, queryset: FactQuerySet, _name: str, value: bool) -> FactQuerySet:
        """Filter by the person's own facts, or those shared by others."""
        principal = principal_of(self.request)
        return queryset.mine(principal) if value else queryset.of_others(principal)

    def undecided(self, queryset: FactQuerySet, _name: str, value: bool) -> FactQuerySet:
        """Filter by whether facts wait for their author's decision."""
        return queryset.filter(WAITING if value else ~WAITING)

    def worded_by(self, queryset: FactQuerySet, _name: str, value: str) -> FactQuerySet:
        """Filter by who worded the facts."""
        return queryset.filter(written_by="" if value == OWN_WORDS else value)

    def saying(self, queryset: FactQuerySet, _name: str, value: str) -> FactQuerySet:
        """Filter by words in the facts."""
        return queryset.saying(value)

"""Filters of lists of memories, proposals and places, shared by REST and pages."""

from __future__ import annotations

from uuid import UUID

import orjson
from django.utils import timezone
from django_filters import rest_framework as filters

from accounts.authentication import principal_of
from journal.exceptions import Refused
from web.json import decoded
from web.pagination import BooleanFilter, FiltersByState

from .conditions import memory_condition, q_of
from .models import Kind, Memory, Proposal, Relation
from .policy import writing
from .querysets import MemoryQuerySet, PlaceQuerySet

SORTED_BY = ("created_at", "updated_at", "importance", "category", "subject", "kind")


class _Names(filters.BaseInFilter, filters.CharFilter):
    """Names separated by commas."""


class MemoryFilters(FiltersByState):
    """Filters and order of a list of memories.

    Default: active ones, latest change first.
    """

    usual = Memory.State.ACTIVE
    search = filters.CharFilter(method="saying", label="Words that the memory holds, or their beginnings.")
    topics = _Names(method="about", label="Topics that it has, all of them.")
    category = _Names(method="filed_under", label="Categories or aliases, any of them.")
    kind = filters.ChoiceFilter(choices=Kind.choices, label="What sort of memory.")
    state = filters.ChoiceFilter(
        choices=[*Memory.State.choices, ("all", "All")], method="in_state", label="Active unless it is named."
    )
    subject = filters.CharFilter(lookup_expr="iexact", label="Whom or what it is about, whatever the case.")
    agent = filters.UUIDFilter(method="by_agent", label="The agent that added it, or that it was said to.")
    pinned = BooleanFilter(label="Only what is pinned, or what is not.")
    reviewed = BooleanFilter(
        field_name="reviewed_at",
        lookup_expr="isnull",
        exclude=True,
        label="Only what the person has reviewed, or what they have not.",
    )
    sort_by = filters.ChoiceFilter(
        choices=[(name, name) for name in SORTED_BY], method="unchanged", label="updated_at unless it is named."
    )
    sort_order = filters.ChoiceFilter(
        choices=[("asc", "asc"), ("desc", "desc")], method="unchanged", label="desc unless it is named."
    )
    filters = filters.CharFilter(
        method="where", label="A filter as JSON, with AND, OR, NOT and operators: docs/memories.md names them."
    )

    def filter_queryset(self, queryset: MemoryQuerySet) -> MemoryQuerySet:
        """Apply the filters and the order."""
        found: MemoryQuerySet = super().filter_queryset(queryset)
        chosen = self.form.cleaned_data
        down = "" if chosen["sort_order"] == "asc" else "-"
        return found.order_by(f"{down}{chosen['sort_by'] or 'updated_at'}", "id")

    def saying(self, queryset: MemoryQuerySet, _name: str, value: str) -> MemoryQuerySet:
        """Search in the words."""
        return queryset.saying(value)

    def about(self, queryset: MemoryQuerySet, _name: str, value: list[str]) -> MemoryQuerySet:
        """Memories with every one of the topics."""
        return queryset.filter(topics__contains=[topic.strip() for topic in value if topic.strip()])

    def by_agent(self, queryset: MemoryQuerySet, _name: str, value: UUID) -> MemoryQuerySet:
        """Filter by agent."""
        return queryset.by_agent(value)

    def filed_under(self, queryset: MemoryQuerySet, _name: str, value: list[str]) -> MemoryQuerySet:
        """Filter by categories. Raises Refused and NotAllowed like ``writing.must_file_under``."""
        principal = principal_of(self.request)
        return queryset.filter(category__in=[writing.must_file_under(principal, name) for name in value])

    def where(self, queryset: MemoryQuerySet, _name: str, value: str) -> MemoryQuerySet:
        """Filter by a condition. Raises Refused and NotAllowed like ``memory_condition``."""
        try:
            sent = decoded(value)
        except orjson.JSONDecodeError as error:
            raise Refused("filters is not JSON.", code="bad_filter") from error
        return queryset.filter(q_of(memory_condition(principal_of(self.request), sent)))

    def in_state(self, queryset: MemoryQuerySet, name: str, value: str) -> MemoryQuerySet:
        """Filter by state, unless it is ``all``."""
        return queryset if value == "all" else queryset.in_state(value, timezone.now())

    def unchanged(self, queryset: MemoryQuerySet, _name: str, _value: str) -> MemoryQuerySet:
        """Do nothing here: the order is applied once, at the end."""
        return queryset


class ProposalFilters(FiltersByState):
    """Filters of a list of proposals. Default: waiting ones."""

    usual = Proposal.State.WAITING
    kind = filters.ChoiceFilter(choices=Proposal.Kind.choices, label="What it would do.")
    state = filters.ChoiceFilter(
        choices=[*Proposal.State.choices, ("all", "All")], method="in_state", label="Waiting unless it is named."
    )


class RelationFilters(filters.FilterSet):
    """Filters of a memory's relations."""

    type = filters.ChoiceFilter(choices=Relation.Type.choices, label="How they are related.")


class PlaceFilters(FiltersByState):
    """Filters of a list of places. Default: present ones."""

    usual = "present"
    place_id = filters.CharFilter(label="The id that whoever named it first uses for it.")
    state = filters.ChoiceFilter(
        choices=[("present", "Present"), ("removed", "Removed"), ("all", "All")],
        method="in_state",
        label="Present unless it is named.",
    )

    def in_state(self, queryset: PlaceQuerySet, _name: str, value: str) -> PlaceQuerySet:
        """Filter by state: present, removed, or all."""
        if value == "all":
            return queryset
        return queryset.present() if value == "present" else queryset.filter(deleted_at__isnull=False)

"""Rows that belong to a person, and perhaps to a legacy: who acts on them, and how they are found."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.db.models import Q
from django.http import HttpRequest

from web.admin import RecordAdmin, link_to, linked

from ..models import Legacy, User
from ..principals import Principal
from ..queries import principal_for_staff
from ..scope import enter

NAMED_ALIKE = 100


def moderator(request: HttpRequest) -> Principal:
    """The principal of the signed-in moderator, under whose name actions are logged."""
    return enter(principal_for_staff(cast(User, request.user)))


class OwnedAdmin(RecordAdmin):
    """Rows found by ids, and by the names of their person and their legacy.

    Names are looked up first, in tables of people and legacies, so that no search reads through the rows themselves.
    ``user_field`` and ``legacy_field`` are the columns that hold their ids; empty, when the rows have none.
    """

    id_fields: tuple[str, ...] = ("pk", "user_id", "legacy_id")
    user_field = "user_id"
    legacy_field = "legacy_id"
    search_fields = ["id"]
    search_help_text = "An id, or part of the name of a person or a legacy"

    def found_by_name(self, term: str) -> Q:
        """Rows of the people and of the legacies whose names hold the text."""
        found = Q(pk__in=[])
        if self.user_field:
            people = User.objects.filter(Q(username__icontains=term) | Q(display_name__icontains=term))
            found |= Q(**{f"{self.user_field}__in": list(people.order_by().values_list("pk", flat=True)[:NAMED_ALIKE])})
        if self.legacy_field:
            legacies = Legacy.objects.filter(name__icontains=term).values_list("pk", flat=True)
            found |= Q(**{f"{self.legacy_field}__in": list(legacies[:NAMED_ALIKE])})
        return found

    person = linked(User, "user_id", "person", name="user.username")

    @admin.display(description="legacy")
    def about(self, row: Any) -> Any:
        """Whom it is about, with a link."""
        return "-" if row.legacy_id is None else link_to(Legacy, row.legacy_id, row.legacy.name)

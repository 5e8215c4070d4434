"""How rows about memories are found: by the memory's short id too."""

from __future__ import annotations

import re

from django.db.models import Q

from accounts.admin import OwnedAdmin

_MEMORY_ID = re.compile(r"[A-Za-z0-9]{8}")


class OfPersonAdmin(OwnedAdmin):
    """What belongs to a person alone, and perhaps to a memory: ``memory_fields`` are the columns that hold its id."""

    id_fields: tuple[str, ...] = ("user_id",)
    legacy_field = ""
    memory_fields: tuple[str, ...] = ()
    search_help_text = "An id, or part of the name of a person"
    list_display_links = ["id"]
    ordering = ["-id"]

    def found_by_name(self, term: str) -> Q:
        """Rows of people with that name, and of the memory with that id."""
        found = super().found_by_name(term)
        if _MEMORY_ID.fullmatch(term):
            for name in self.memory_fields:
                found |= Q(**{name: term})
        return found

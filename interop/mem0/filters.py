"""Translate mem0's filters to Keepsake's conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from accounts.principals import Principal
from journal.exceptions import Refused
from memories.conditions import Condition, memory_condition

from .formatting import ENTITY_KEYS

_SAME_NAMES = {"run_id", "created_at", "updated_at", "metadata"}
_NEW_NAMES = {"memory_ids": "id", "keywords": "content", "categories": "category", "expiration_date": "expires_at"}
_OPERATORS = {"contains": "eq", "icontains": "eq"}
"""A memory has one category here, so "contains" means equality."""


def condition_of(principal: Principal, filters: Any) -> Condition | None:
    """Return the condition of mem0's filters on a person's memories, None for all. Raises Refused (400), NotAllowed."""
    sent = conditions(filters)
    return memory_condition(principal, sent) if sent else None


def conditions(filters: Any) -> dict[str, Any]:
    """Translate mem0's filters to the form of Keepsake's own filters. ``user_id`` is dropped: it is true of all rows.

    Raises Refused (400 ``bad_filter``).
    """
    if filters in (None, {}):
        return {}
    if not isinstance(filters, Mapping):
        raise Refused("filters is an object.", code="bad_filter")
    metadata: dict[str, Any] = {}
    told: dict[str, Any] = {}
    for name, wanted in filters.items():
        if name == "user_id":
            continue
        if name in {"AND", "OR", "NOT"}:
            parts = [conditions(each) for each in (wanted if isinstance(wanted, list) else [wanted])]
            kept = [each for each in parts if each]
            if name == "NOT" and len(kept) < len(parts):
                raise Refused("NOT can't be about the user_id.", code="bad_filter")
            # A part with user_id only is true, and so is an OR with such a part.
            if kept and (name != "OR" or len(kept) == len(parts)):
                told[name] = kept
        elif name in ENTITY_KEYS:
            metadata[ENTITY_KEYS[name]] = wanted
        elif name == "metadata" and isinstance(wanted, Mapping):
            metadata |= wanted
        elif name in _SAME_NAMES:
            told[name] = wanted
        elif name in _NEW_NAMES:
            told[_NEW_NAMES[name]] = _rename_operators(wanted) if name == "categories" else wanted
        else:
            raise Refused(f"There is no filter {str(name)[:50]!r}.", code="bad_filter")
    return {**told, "metadata": metadata} if metadata else told


def _rename_operators(wanted: Any) -> Any:
    if not isinstance(wanted, Mapping):
        return wanted
    return {_OPERATORS.get(operator, operator): operand for operator, operand in wanted.items()}

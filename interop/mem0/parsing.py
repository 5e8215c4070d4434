"""Parse requests of mem0's clients. All functions raise Refused (400) for bad input."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, time
from typing import Any

from django.utils.dateparse import parse_date, parse_datetime
from rest_framework.request import Request

from journal.exceptions import NotFound, Refused

from .formatting import ENTITY_KEYS
from .people import ENTITIES

MOST_AT_ONCE = 1_000


def body_of(request: Request) -> Mapping[str, Any]:
    """Return the body, which must be an object."""
    if not isinstance(request.data, Mapping):
        raise Refused("Send an object.", code="bad_body")
    return request.data


def reject_top_level_entities(sent: Mapping[str, Any], strict: bool) -> None:
    """Raise Refused for user, agent, app and run outside the filters if the version is ``strict``."""
    if strict and any(sent.get(name) is not None for name in ENTITIES):
        raise Refused("Put user_id, agent_id, app_id and run_id into filters.", code="bad_filter")


def merge_filters(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filters, merged with the filters that older clients send at the top level."""
    filters = sent.get("filters") or {}
    if isinstance(filters, list):
        filters = {"AND": filters}
    beside = {name: sent[name] for name in ENTITIES if sent.get(name) is not None}
    if sent.get("categories"):
        beside["categories"] = sent["categories"]
    if isinstance(sent.get("metadata"), Mapping):
        beside["metadata"] = sent["metadata"]
    dates = {sign: sent[name] for name, sign in {"start_date": "gte", "end_date": "lte"}.items() if sent.get(name)}
    if dates:
        beside["created_at"] = dates
    if not beside:
        return object_of(filters)
    return {"AND": [beside, filters]} if filters else beside


def metadata_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata to store: the client's own, and its names of agent and app."""
    entities = {key: text_of(sent, name) for name, key in ENTITY_KEYS.items() if sent.get(name) is not None}
    return {**object_of(sent.get("metadata") or {}), **entities}


def object_of(value: Any) -> dict[str, Any]:
    """Return a value that must be an object."""
    if not isinstance(value, Mapping):
        raise Refused("filters and metadata are objects.", code="bad_body")
    return dict(value)


def text_of(sent: Mapping[str, Any], name: str) -> str:
    """Return a string, '' when missing; integers are converted."""
    value = sent.get(name)
    if value is not None and (not isinstance(value, str | int) or "\x00" in str(value)):
        raise Refused(f"{name} is a text.", code="bad_body")
    return "" if value is None else str(value)


def positive_int(value: Any, otherwise: int, most: int) -> int:
    """Return a positive integer, at most ``most``; ``otherwise`` when it is missing."""
    if value is None:
        return otherwise
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 10 and int(text) >= 1):
        raise Refused("A number of results or pages is a whole number from 1 on.", code="bad_page")
    return min(int(text), most)


def day_of(value: Any) -> datetime:
    """Parse a date to the end of that day in UTC, or a date and time as it is."""
    read: Sequence[Callable[[str], Any]] = (parse_date, parse_datetime)
    for reading in read:
        try:
            found = reading(str(value))
        except ValueError:
            break
        if isinstance(found, datetime):
            return found if found.tzinfo else found.replace(tzinfo=UTC)
        if found is not None:
            return datetime.combine(found, time.max, UTC)
    raise Refused("expiration_date is a day: YYYY-MM-DD.", code="bad_expiry")


def id_of(sent: Mapping[str, Any]) -> str:
    """Return the memory id, or ''. Raises NotFound for an id that can't exist."""
    named = str(sent.get("memory_id", ""))
    if "\x00" in named:
        raise NotFound("There is no such memory.")
    return named


def memories_named(sent: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the listed memories, each of which must have an id."""
    listed = sent.get("memories")
    if not isinstance(listed, list) or not 1 <= len(listed) <= MOST_AT_ONCE:
        raise Refused(f"memories is a list of 1 to {MOST_AT_ONCE:,}.", code="bad_body")
    named = [dict(each) for each in listed if isinstance(each, Mapping) and isinstance(each.get("memory_id"), str)]
    for each in named:
        id_of(each)
    if len(named) < len(listed):
        raise Refused("Each of the memories has a memory_id.", code="bad_body")
    return named

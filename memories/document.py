"""All memories and places of a person as one document, including archived ones.

For agents that expect one document per user.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from accounts.models import User
from accounts.policy import may_see_sources, must_act_for, must_read
from accounts.principals import Principal

from .cache import CachedValue, Family, read_through
from .lines import told
from .models import Memory, MemoryEvidence, Place, PlaceMention
from .policy import writing

SCHEMA_VERSION = "1.0"


def memory_document(principal: Principal) -> dict[str, Any]:
    """Return what the principal may see, as plain JSON types: ``facts``, ``placer_user_datapoints`` and ``metadata``.

    Facts are active and archived memories, oldest first, without proposed and rejected ones. If the person reviews
    before, unreviewed ones are not active. Insights are marked as guesses. ``mentioned_in`` has ``[message, at]`` of
    each mention by conversation. Sources are left out for principals that may not read them. ``token_count`` is that of
    the memory block.

    Raises NotFound for a principal that acts for nobody, NotAllowed without the scope read.
    """
    must_read(principal)
    user_id = must_act_for(principal)
    return read_through(
        principal, Family.LIST, lambda: _read(principal, user_id), of=("document", may_see_sources(principal))
    )


def _read(principal: Principal, user_id: UUID) -> CachedValue[dict[str, Any]]:
    now = timezone.now()
    first = MemoryEvidence.objects.filter(version__memory=OuterRef("pk")).order_by("version__number", "id")
    memories = (
        Memory.objects.visible_to(principal)
        .filter(state__in=[Memory.State.ACTIVE, Memory.State.ARCHIVED])
        .annotate(source_message=Subquery(first.values("message_id")[:1]))
        .order_by("created_at", "id")
        .values(
            "id",
            "kind",
            "content",
            "state",
            "reviewed_at",
            "in_block",
            "tokens",
            "expires_at",
            "source_conversation_id",
            "source_message",
            "created_at",
            "updated_at",
        )
    )
    places = Place.objects.visible_to(principal).present().order_by("added_at", "id")
    mentions = _mentions(principal)
    shows_sources = may_see_sources(principal)
    facts: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    changed: list[datetime] = []
    tokens = 0
    for memory in memories:
        used = writing.is_used(memory["state"], memory["reviewed_at"], principal.review)
        active = used and not _is_past(memory["expires_at"], now)
        facts.append(
            {
                "id": memory["id"],
                "content": told(memory["kind"], memory["content"]),
                "added_at": _iso(memory["created_at"]),
                "source_conversation_id": _text(memory["source_conversation_id"]) if shows_sources else None,
                "source_message_id": _text(memory["source_message"]) if shows_sources else None,
                "is_active": active,
            }
        )
        changed.append(memory["updated_at"])
        tokens += memory["tokens"] if active and memory["in_block"] else 0
    for place in places:
        points.append(
            {
                "place_id": place.place_id,
                "place_name": place.name,
                "notes": place.notes or None,
                "mentioned_in": mentions.get(place.pk, {}),
                "added_at": _iso(place.added_at),
            }
        )
        changed.append(place.updated_at)
        tokens += place.tokens
    last_updated = max(changed, default=None) or _joined(user_id) or now
    metadata = {
        "last_updated": _iso(last_updated),
        "total_facts": len(facts),
        "total_active_facts": sum(fact["is_active"] for fact in facts),
        "total_pois": len(points),
        "token_count": tokens,
        "schema_version": SCHEMA_VERSION,
    }
    document = {"facts": facts, "placer_user_datapoints": points, "metadata": metadata}
    return CachedValue(document, Memory.objects.visible_to(principal).next_expiry(now))


def _joined(user_id: UUID) -> datetime | None:
    return User.objects.values_list("date_joined", flat=True).filter(pk=user_id).first()


def _mentions(principal: Principal) -> dict[UUID, dict[str, list[list[str]]]]:
    """Return by place, then by conversation, the messages that name it, in order of storage."""
    found: dict[UUID, dict[str, list[list[str]]]] = {}
    if not may_see_sources(principal):
        return found
    rows = PlaceMention.objects.filter(place__in=Place.objects.visible_to(principal)).order_by("rev", "id")
    for place, conversation, message, at in rows.values_list(
        "place_id", "message__conversation_id", "message_id", "at"
    ):
        found.setdefault(place, {}).setdefault(str(conversation), []).append([str(message), _iso(at)])
    return found


def _is_past(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now


def _iso(moment: datetime) -> str:
    """Format a time as in the REST API."""
    return moment.isoformat().replace("+00:00", "Z")


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)

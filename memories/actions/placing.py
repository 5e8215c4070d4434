"""Writes of one place under the person's lock: wording, tokens of the block, suppressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.policy import sees_everything
from accounts.policy.names import spelled_out
from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.exceptions import Gated
from statements.actions import repeats_rejected, suppression_add, suppression_remove, told_beside
from statements.actions.single import archived_until
from statements.models import Suppression
from statements.policy.resembling import RESEMBLES
from statements.wording import Embedded

from ..lines import line_tokens, place_line
from ..models import Place, PlaceMention, PlaceVersion
from ..records import Said
from .budget import block_evict


def _marks(values: Mapping[str, Any]) -> list[Embedded]:
    """Return the two suppression keys of a place: its id, and its id with name and notes."""
    as_such = f"place {values['place_id']}"
    texts = [as_such, f"{as_such} {values['name']} {values['notes']}"] if "name" in values else [as_such]
    return [Embedded(text, None, "") for text in texts]


def place_check(principal: Principal, user_id: UUID, values: Mapping[str, Any], read: Sequence[Embedded]) -> str:
    """Raise Gated (422 ``rejected_before``) if the place is suppressed, or its id, name or notes say what was rejected.

    A place that the person removed stays suppressed under any id. To a principal that does not see everything, it
    returns the reason to wait instead, and to all if what is ``read`` of name and notes resembles it; otherwise "".
    """
    matches = Suppression.objects.matches(user_id, _marks(values), near=False)
    labels = [label for label in (spelled_out(values["place_id"]),) if len(label.split()) > 2]
    if any(matches) or repeats_rejected(user_id, [values.get("name", ""), values.get("notes", ""), *labels]):
        if not sees_everything(principal):
            return RESEMBLES
        raise Gated(_("The person removed or refused this place. Only they can bring it back."), code="rejected_before")
    return RESEMBLES if any(Suppression.objects.matches(user_id, read)) else ""


def suppress_place(write: LedgerWrite, user_id: UUID, values: Mapping[str, Any], *, object_id: UUID) -> None:
    """Suppress a place, or only this place with the name and notes in ``values``."""
    suppression_add(write, user_id, _marks(values)[-1], object_id)


def unsuppress_place(write: LedgerWrite, user_id: UUID, values: Mapping[str, Any], place: Place | None = None) -> None:
    """Remove the suppressions of a place, of what its notes say, and of all notes of a stored one."""
    said = [mark.content for mark in _marks(values)] + told_beside([values["notes"]])
    suppression_remove(write, user_id, texts=said, object_id="" if place is None else place.pk)


def noted(place: UUID) -> list[Embedded]:
    """Read what all notes of a place say, for ``suppress_noted``. Call it before the transaction."""
    read = Embedded.of_each(told_beside(_notes_of(place)))
    for text in read:
        _ = text.saying.features  # Parsed here: its traces are kept under the lock.
    return read


def suppress_noted(write: LedgerWrite, place: Place, read: Sequence[Embedded]) -> None:
    """Suppress what the notes of a place say. What was noted since ``read`` is suppressed by its words."""
    texts = {text.content: text for text in read}
    for said in told_beside(_notes_of(place.pk)):
        suppression_add(write, place.user_id, texts.get(said) or Embedded(said, None, ""), place.pk, is_stored=False)


def _notes_of(place: UUID) -> QuerySet[PlaceVersion, str]:
    return PlaceVersion.objects.filter(place=place).order_by("-number").values_list("notes", flat=True)


def store_place(
    write: LedgerWrite,
    place: Place | None,
    user_id: UUID,
    values: Mapping[str, Any],
    *,
    written_by: str | None,
    conversation_id: UUID | None = None,
    withholds: bool = False,
    **meta: Any,
) -> Place:
    """Insert, update or restore a place with these values; ``written_by`` is the author of another wording.

    If it ``withholds`` words, the place leaves pinned blocks, which show it as it was.
    """
    now = timezone.now()
    if place is None:
        place = Place(user_id=user_id, place_id=values["place_id"], version=0, tokens=0, added_at=now)
    before, restored = (place.version, place.deleted_at is not None)
    event = "ADD" if not before else "RESTORE" if restored else "UPDATE"
    reworded = (place.name, place.notes) != (values["name"], values["notes"])
    place.name, place.notes = values["name"], values["notes"]
    place.version += reworded
    rev = write.change(
        user_id,
        event,
        "place",
        place.pk,
        old_version=before or None,
        new_version=place.version,
        conversation_id=conversation_id,
        **meta,
    )
    write.keep_undo_step(
        user_id, "place", place.pk, {"version": before, "present": not restored} if before else {"created": True}
    )
    cost = 0 if restored else place.tokens
    if event != "UPDATE" or withholds:
        place.active_rev = rev
    place.deleted_at = place.purge_at = None
    place.updated_at = now
    _settle(write, place, cost)
    if reworded:
        PlaceVersion.objects.filter(place=place, recorded_to_rev=None).update(recorded_to_rev=rev)
        PlaceVersion.objects.create(
            place=place,
            number=place.version,
            name=place.name,
            notes=place.notes,
            written_by=written_by,
            recorded_from_rev=rev,
        )
    return place


def take_away(write: LedgerWrite, place: Place, **meta: Any) -> None:
    """Mark a place as removed."""
    write.change(place.user_id, "DELETE", "place", place.pk, old_version=place.version, **meta)
    write.keep_undo_step(place.user_id, "place", place.pk, {"version": place.version, "present": True})
    place.active_rev = None
    place.deleted_at = place.updated_at = timezone.now()
    place.purge_at = archived_until(place.deleted_at)
    _settle(write, place, place.tokens)


def mention(write: LedgerWrite, place: Place, said: Sequence[Said]) -> bool:
    """Store mentions of a place, each message once. Returns whether any was new."""
    known = set(place.mentions.filter(message__in=[each.message_id for each in said]).values_list("message", flat=True))
    new = [each.message_id for each in said if each.message_id not in known]
    for message_id in new:
        rev = write.change(place.user_id, "MENTION", "place", place.pk, old_version=place.version)
        PlaceMention.objects.create(place=place, message_id=message_id, rev=rev)
    if new:
        _settle(write, place, place.tokens)
    return bool(new)


def _settle(write: LedgerWrite, place: Place, cost_before: int) -> None:
    """Save a place, update the ledger's tokens, and evict if the block exceeds its budget."""
    conversations = place.mentions.values("message__conversation").distinct().count()
    place.tokens = line_tokens(place_line(place.name, place.notes, conversations))
    place.save()
    longer = (0 if place.deleted_at else place.tokens) - cost_before
    write.count(place.user_id, block_tokens=longer)
    if longer > 0:
        block_evict(write, place.user_id)

"""Places that a person cares about: adding, changing and removing one, and noting where it came up.

They stand in the memory block and count for its budget, but nothing evicts them. Agents see them with the category
``context`` and need it to write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from conversations.models import Message
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, Gated, NotFound, Refused
from journal.records import Actor

from .. import queries
from ..lines import line_tokens, place_line
from ..models import Place, PlaceMention, PlaceVersion, Proposal, Tombstone
from ..policy import writing
from ..querysets import PLACES_CATEGORY, PlaceQuerySet
from ..records import PlaceAdded, PlaceChanged, Said
from .budget import block_evict
from .proposing import end, propose_place
from .single import author
from .tombstones import tombstone_lay, tombstone_lift

LONGEST_NAME = 200
LONGEST_NOTES = 500
PURGE_BATCH = 500


def place_add(
    principal: Principal,
    place_id: str,
    name: str,
    notes: str = "",
    *,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> PlaceAdded:
    """Keep a place under the caller's own id for it. One that is known takes the name, and the notes if there are any.

    The message that names it, or else the newest of the conversation, becomes a mention. An agent's place waits while
    the person reviews before, and what the person removed or refused stays away until they add it themselves. Raises
    NotAllowed (403 ``category_not_allowed``, ``memory_off``), NotFound (conversation or message), Refused (400
    ``bad_place_id``, ``bad_name``, ``bad_notes``), Gated (422, also ``budget`` and ``rejected_before``).
    """
    user_id = _must_keep(principal)
    own_word = writing.speaks_as_person(principal)
    place_id = _clean_id(place_id)
    name, notes = _clean_name(name, own_word=own_word), _clean_notes(notes, own_word=own_word)
    source = _source(principal, conversation_id, message_id)
    written_by = author(principal)
    with ledger_write(principal.actor, user_id) as write:
        place = _places(user_id).filter(place_id=place_id).first()
        present = place is not None and place.deleted_at is None
        values = {"place_id": place_id, "name": name, "notes": notes or (place.notes if place and present else "")}
        if place is not None and present and (place.name, place.notes) == (name, values["notes"]):
            _mention(write, place, source.said)
            write.result("place", place.pk)
            return PlaceAdded(place, created=False)
        if own_word:
            _lift(write, user_id, values)
        else:
            _must_be_welcome(user_id, values)
        if writing.waits(principal, ""):
            if place is not None and present:
                _mention(write, place, source.said)
            proposal = propose_place(
                write,
                principal,
                user_id,
                values,
                written_by=written_by,
                conversation_id=source.conversation_id,
                said=source.said,
            )
            write.result("proposal", proposal.pk, status_code=202)
            return PlaceAdded(place if present else None, created=False, proposal=proposal)
        stored = _store(write, place, user_id, values, source.conversation_id)
        _mention(write, stored, source.said)
        write.result("place", stored.pk, status_code=200 if present else 201)
    return PlaceAdded(stored, created=not present)


def place_edit(
    principal: Principal,
    place: UUID,
    *,
    name: str | None = None,
    notes: str | None = None,
    version: int | None = None,
) -> PlaceChanged:
    """Give a place, named by its row's id, another name or other notes; what is None stays.

    ``version`` is the one that the caller saw. An agent's change waits while the person reviews before. Raises
    NotAllowed, NotFound, Refused (400), Gated (422), Conflict (409 ``version_conflict`` with the current one,
    ``wrong_state``).
    """
    user_id = _must_keep(principal)
    own_word = writing.speaks_as_person(principal)
    given = {} if name is None else {"name": _clean_name(name, own_word=own_word)}
    given |= {} if notes is None else {"notes": _clean_notes(notes, own_word=own_word)}
    written_by = author(principal)
    with ledger_write(principal.actor, user_id) as write:
        row = _present(Place.objects.visible_to(principal), place, version)
        values = {"place_id": row.place_id, "name": row.name, "notes": row.notes, **given}
        if (row.name, row.notes) == (values["name"], values["notes"]):
            write.result("place", row.pk)
            return PlaceChanged(row)
        if not own_word:
            _must_be_welcome(user_id, values)
        if writing.waits(principal, ""):
            proposal = propose_place(write, principal, user_id, values, written_by=written_by)
            write.result("proposal", proposal.pk, status_code=202)
            return PlaceChanged(row, proposal)
        row = _store(write, row, user_id, values)
        write.result("place", row.pk)
    return PlaceChanged(row)


def place_remove(principal: Principal, place: UUID, *, version: int | None = None) -> PlaceChanged:
    """Take a place away. It can be restored for 30 days, then it is purged.

    What the person takes away themselves no agent adds again. An agent's removal waits while the person reviews before.
    Raises NotAllowed, NotFound, Conflict (409 ``version_conflict``, ``wrong_state``).
    """
    user_id = _must_keep(principal)
    written_by = author(principal)
    with ledger_write(principal.actor, user_id) as write:
        row = _present(Place.objects.visible_to(principal), place, version)
        if writing.waits(principal, ""):
            values = {"place_id": row.place_id, "removed": True}
            proposal = propose_place(write, principal, user_id, values, written_by=written_by)
            write.result("proposal", proposal.pk, status_code=202)
            return PlaceChanged(row, proposal)
        if writing.speaks_as_person(principal):
            _bury(write, user_id, {"place_id": row.place_id}, object_id=row.pk)
        _take_away(write, row)
        write.result("place", row.pk)
    return PlaceChanged(row)


def place_restore(principal: Principal, place: UUID) -> Place:
    """Fetch a place back that was taken away. That is for the person.

    Raises NotYoursToDecide, NotAllowed, NotFound (also after the purge), Gated (422 ``budget``), Conflict (409
    ``wrong_state``).
    """
    user_id = accounts_policy.must_decide(principal)
    _must_keep(principal)
    with ledger_write(principal.actor, user_id) as write:
        row = _places(user_id).filter(pk=place).first()
        if row is None:
            raise NotFound("There is no such place.")
        if row.deleted_at is None:
            raise Conflict("This place was not removed.", code="wrong_state", state="present")
        _lift(write, user_id, {"place_id": row.place_id, "name": row.name, "notes": row.notes})
        row = _store(write, row, user_id, {"name": row.name, "notes": row.notes})
        write.result("place", row.pk)
    return row


def place_mention(principal: Principal, place: UUID, message_id: UUID) -> bool:
    """Note that a message names a place. False when that was noted before.

    Raises NotAllowed, NotFound for a place that is not there or removed, or a message that is not the person's.
    """
    user_id = _must_keep(principal)
    source = queries.read_source(principal, None, message_id)
    with ledger_write(principal.actor, user_id) as write:
        row = Place.objects.visible_to(principal).present().filter(pk=place).first()
        if row is None:
            raise NotFound("There is no such place.")
        noted = _mention(write, row, source.said)
        write.result("place", row.pk, status_code=201 if noted else 200)
    return noted


def place_approve(write: LedgerWrite, proposal: Proposal, given: Mapping[str, Any]) -> None:
    """Do what a proposal about a place says, with another name or other notes if they are given, and end it.

    Inside the person's decision. Raises Refused (400), Gated (422), NotFound (a removal of what is gone).
    """
    user_id = proposal.user_id
    row = _places(user_id).filter(place_id=proposal.values["place_id"]).first()
    if proposal.values.get("removed"):
        if row is None or row.deleted_at is not None:
            raise NotFound("This place is gone already.")
        _take_away(write, row, proposal=str(proposal.pk))
    else:
        values = {**proposal.values}
        if "name" in given:
            values["name"] = _clean_name(given["name"], own_word=True)
        if "notes" in given:
            values["notes"] = _clean_notes(given["notes"], own_word=True)
        _lift(write, user_id, values)
        stored = _store(write, row, user_id, values, proposal.source_conversation_id, proposal=str(proposal.pk))
        _mention(write, stored, [Said(each.message_id, each.quote) for each in proposal.evidence.all()])
    end(proposal, Proposal.State.APPROVED, timezone.now())


def place_refuse(write: LedgerWrite, proposal: Proposal) -> None:
    """Keep what a proposal about a place would add from being proposed again, inside the person's decision."""
    if not proposal.values.get("removed"):
        _bury(write, proposal.user_id, proposal.values, object_id=proposal.pk)


def places_purge() -> int:
    """Delete places whose time after removal is over, with a PURGE in the log for each. Returns how many.

    Each batch is a transaction of one person.
    """
    purged = 0
    due = Place.objects.due_for_purge(timezone.now())
    for user_id in list(due.order_by("user_id").values_list("user_id", flat=True).distinct()):
        while done := _purge_batch(user_id):
            purged += done
    return purged


def _purge_batch(user_id: UUID) -> int:
    try:
        with ledger_write(Actor("job", "memories.purge"), user_id) as write:
            due = Place.objects.due_for_purge(timezone.now()).filter(user_id=user_id).order_by("purge_at", "pk")
            places = list(due.values_list("pk", "version")[:PURGE_BATCH])
            Place.objects.filter(pk__in=[pk for pk, _ in places]).delete()
            for pk, version in places:
                write.change(user_id, "PURGE", "place", pk, old_version=version)
    except NotFound:
        return 0  # The person was erased meanwhile, with all that is theirs.
    return len(places)


# --- Checks -----------------------------------------------------------------------------------------------------


def _must_keep(principal: Principal) -> UUID:
    """The person's id. Raises NotAllowed unless the principal may write, remember, and see places."""
    user_id = accounts_policy.must_remember(principal)
    writing.must_file_under(principal, PLACES_CATEGORY)
    return user_id


def _clean_id(place_id: str) -> str:
    """The caller's own id of a place. It stands in no prompt, and looks like anything, so no gate reads it."""
    place_id = place_id.strip()
    if not 1 <= len(place_id) <= LONGEST_NAME or not place_id.isprintable():
        raise Refused(f"A place_id has 1 to {LONGEST_NAME} visible characters.", code="bad_place_id")
    return place_id


def _clean_name(name: str, *, own_word: bool) -> str:
    name = writing.clean_label("name", name, LONGEST_NAME, own_word=own_word)
    if not name:
        raise Refused("A place has a name.", code="bad_name")
    return name


def _clean_notes(notes: str, *, own_word: bool) -> str:
    return writing.clean_label("notes", notes, LONGEST_NOTES, own_word=own_word)


def _source(principal: Principal, conversation_id: UUID | None, message_id: UUID | None) -> queries.Source:
    """Where a place came up: the message that is named, or the newest of the conversation."""
    source = queries.read_source(principal, conversation_id, message_id)
    if source.conversation_id is None or source.said:
        return source
    said = Message.objects.visible_to(principal).filter(conversation_id=source.conversation_id)
    newest = said.order_by("-index").values_list("pk", flat=True).first()
    return queries.read_source(principal, source.conversation_id, newest)


def _places(user_id: UUID) -> PlaceQuerySet:
    """All of a person's, whether present or removed: an id that was used stays taken until the purge."""
    return Place.objects.filter(user_id=user_id)


def _present(rows: PlaceQuerySet, place: UUID, version: int | None) -> Place:
    row = rows.filter(pk=place).first()
    if row is None:
        raise NotFound("There is no such place.")
    if version is not None and version != row.version:
        raise Conflict("Somebody changed this place meanwhile.", code="version_conflict", current=row.version)
    if row.deleted_at is not None:
        raise Conflict("This place was removed.", code="wrong_state", state="removed")
    return row


# --- What must not come back ------------------------------------------------------------------------------------


def _marks(values: Mapping[str, Any]) -> list[str]:
    """What tombstones stand for: the place as such, and the place with this name and these notes."""
    as_such = f"place {values['place_id']}"
    return [as_such, f"{as_such} {values['name']} {values['notes']}"] if "name" in values else [as_such]


def _must_be_welcome(user_id: UUID, values: Mapping[str, Any]) -> None:
    if any(Tombstone.objects.matching(user_id, None, [(mark, None) for mark in _marks(values)], "")):
        raise Gated("The person removed or refused this place. Only they can bring it back.", code="rejected_before")


def _bury(write: LedgerWrite, user_id: UUID, values: Mapping[str, Any], *, object_id: UUID) -> None:
    tombstone_lay(
        write,
        user_id=user_id,
        legacy_id=None,
        object_id=object_id,
        text=_marks(values)[-1],
        embedding=None,
        embedding_model="",
    )


def _lift(write: LedgerWrite, user_id: UUID, values: Mapping[str, Any]) -> None:
    tombstone_lift(write, user_id=user_id, legacy_id=None, texts=_marks(values))


# --- One place under the lock -----------------------------------------------------------------------------------


def _store(
    write: LedgerWrite,
    place: Place | None,
    user_id: UUID,
    values: Mapping[str, Any],
    conversation_id: UUID | None = None,
    **meta: Any,
) -> Place:
    """Add a place, reword it, or fetch it back with these values."""
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
    cost = 0 if restored else place.tokens
    if event != "UPDATE":
        place.active_rev = rev
    place.deleted_at = place.purge_at = None
    place.updated_at = now
    _settle(write, place, cost)
    if reworded:
        PlaceVersion.objects.filter(place=place, recorded_to_rev=None).update(recorded_to_rev=rev)
        PlaceVersion.objects.create(
            place=place, number=place.version, name=place.name, notes=place.notes, recorded_from_rev=rev
        )
    return place


def _take_away(write: LedgerWrite, place: Place, **meta: Any) -> None:
    write.change(place.user_id, "DELETE", "place", place.pk, old_version=place.version, **meta)
    place.active_rev = None
    place.deleted_at = place.updated_at = timezone.now()
    place.purge_at = place.deleted_at + timedelta(days=settings.ARCHIVE_DAYS)
    _settle(write, place, place.tokens)


def _mention(write: LedgerWrite, place: Place, said: Sequence[Said]) -> bool:
    """Note messages that name a place, each once. Whether any was new."""
    known = set(place.mentions.filter(message__in=[each.message_id for each in said]).values_list("message", flat=True))
    new = [each.message_id for each in said if each.message_id not in known]
    for message_id in new:
        rev = write.change(place.user_id, "MENTION", "place", place.pk, old_version=place.version)
        PlaceMention.objects.create(place=place, message_id=message_id, rev=rev)
    if new:
        _settle(write, place, place.tokens)
    return bool(new)


def _settle(write: LedgerWrite, place: Place, cost_before: int) -> None:
    """Store a place, and bring the ledger in line with what its line costs now and the block within its budget."""
    conversations = place.mentions.values("message__conversation").distinct().count()
    place.tokens = line_tokens(place_line(place.name, place.notes, conversations))
    place.save()
    longer = (0 if place.deleted_at else place.tokens) - cost_before
    write.count(place.user_id, block_tokens=longer)
    if longer > 0:
        block_evict(write, place.user_id)

"""Places of a person: adding, editing, removing, restoring, and mentions in messages.

Places are part of the memory block and its budget, but are never evicted. Agents need the category ``context`` to read
and write them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from accounts.upkeep import work_in_batches
from conversations.models import Message
from conversations.passages import Original
from journal.actions import LedgerWrite, delete_undo_steps, ledger_write
from journal.exceptions import Conflict, NotFound, Refused, must_find
from journal.models import Erasure
from journal.verdicts import compares_unlocked
from statements.actions import read_beside
from statements.models import ERASURE_WAITS

from .. import queries
from ..models import Place, Proposal
from ..policy import writing
from ..policy.beside import reason_for_place
from ..querysets import PLACES_CATEGORY, PlaceQuerySet
from ..records import KEPT, PlaceAdded, PlaceChanged
from .placing import (
    mention,
    noted,
    place_check,
    store_place,
    suppress_noted,
    suppress_place,
    take_away,
    unsuppress_place,
)
from .proposing import end, propose_place, quoted
from .single import author
from .telling_fields import reason_by_meaning

LONGEST_NAME = 200
LONGEST_NOTES = 500
PURGE_BATCH = 500


@compares_unlocked
def place_add(
    principal: Principal,
    place_id: str,
    name: str,
    notes: str = "",
    *,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> PlaceAdded:
    """Add a place under the caller's id, or update the name (and notes, if given) of an existing one.

    The given message, or the newest of the conversation, becomes a mention. An agent's place becomes a proposal if the
    person reviews before, or worded the existing one. Places that the person removed or rejected can be added by the
    person only. Raises NotAllowed (403 ``category_not_allowed``, ``memory_off``), NotFound (conversation or message),
    Refused (400 ``bad_place_id``, ``bad_name``, ``bad_notes``), Gated (422, also ``budget`` and ``rejected_before``).
    """
    user_id = _must_keep(principal)
    own_word = principal.speaks_as_person
    place_id = _clean_id(place_id)
    name, notes = _clean_name(name, own_word=own_word), _clean_notes(notes, own_word=own_word)
    source = _source(principal, conversation_id, message_id)
    written_by = author(principal)
    read = [] if own_word else read_beside(user_id, [name, notes])
    tells = reason_by_meaning(principal, [name, notes])
    with ledger_write(principal.actor, user_id) as write:
        place = _places(user_id).filter(place_id=place_id).first()
        present = place is not None and place.deleted_at is None
        values = {"place_id": place_id, "name": name, "notes": notes or (place.notes if place and present else "")}
        if place is not None and present and (place.name, place.notes) == (name, values["notes"]):
            mention(write, place, source.said)
            write.result("place", place.pk)
            return PlaceAdded(place, created=False)
        if own_word:
            unsuppress_place(write, user_id, values, place)
        repeats = "" if own_word else place_check(principal, user_id, values, read)
        reason = reason_for_place(principal, name, values["notes"], place_id) or tells or repeats
        reason = reason or (_reason_to_keep(principal, place) if place and present else "")
        if reason or writing.waits(principal, ""):
            if place is not None and present:
                mention(write, place, source.said)
            proposal = propose_place(
                write,
                principal,
                user_id,
                values,
                written_by=written_by,
                conversation_id=source.conversation_id,
                said=source.said,
                reason=reason,
            )
            write.result("proposal", proposal.pk, status_code=202)
            return PlaceAdded(place if present else None, created=False, proposal=proposal)
        stored = store_place(
            write, place, user_id, values, written_by=written_by, conversation_id=source.conversation_id
        )
        mention(write, stored, source.said)
        write.result("place", stored.pk, status_code=200 if present else 201)
    return PlaceAdded(stored, created=not present)


@compares_unlocked
def place_edit(
    principal: Principal,
    place: UUID,
    *,
    name: str | None = None,
    notes: str | None = None,
    version: int | None = None,
    withholds: bool = False,
) -> PlaceChanged:
    """Change the name or notes of the place with this row id; None leaves a value unchanged.

    ``version`` is the one that the caller saw. ``withholds``: pinned blocks don't show the earlier text either. An
    agent's change becomes a proposal if the person reviews before, or worded the place. Raises NotAllowed, NotFound,
    Refused (400), Gated (422), Conflict (409 ``version_conflict`` with the current version, ``wrong_state``).
    """
    user_id = _must_keep(principal)
    own_word = principal.speaks_as_person
    given = {} if name is None else {"name": _clean_name(name, own_word=own_word)}
    given |= {} if notes is None else {"notes": _clean_notes(notes, own_word=own_word)}
    written_by = author(principal)
    read = [] if own_word else read_beside(user_id, given.values())
    tells = reason_by_meaning(principal, given.values())
    with ledger_write(principal.actor, user_id) as write:
        row = _present(Place.objects.visible_to(principal), place, version)
        values = {"place_id": row.place_id, "name": row.name, "notes": row.notes, **given}
        if (row.name, row.notes) == (values["name"], values["notes"]):
            write.result("place", row.pk)
            return PlaceChanged(row)
        repeats = "" if own_word else place_check(principal, user_id, values, read)
        reason = reason_for_place(principal, values["name"], values["notes"], values["place_id"])
        reason = reason or tells or repeats
        reason = reason or _reason_to_keep(principal, row)
        if reason or writing.waits(principal, ""):
            proposal = propose_place(write, principal, user_id, values, written_by=written_by, reason=reason)
            write.result("proposal", proposal.pk, status_code=202)
            return PlaceChanged(row, proposal)
        row = store_place(write, row, user_id, values, written_by=written_by, withholds=withholds)
        write.result("place", row.pk)
    return PlaceChanged(row)


def place_withhold(principal: Principal, place: UUID, quote: str) -> PlaceChanged:
    """Remove sentences with a quotation from a place's notes, or the place if its name contains it.

    Raises as editing and removing do.
    """
    row = _present(Place.objects.visible_to(principal), place, None)
    if row.name.casefold() in quote.casefold():
        return place_remove(principal, place, version=row.version)
    notes = Original(row.notes)
    spans = [span for span in notes.sentences() if notes.words(span) in quote]
    left = " ".join(piece.strip() for piece in notes.pieces(spans))
    return place_edit(principal, place, notes=left.strip(), version=row.version, withholds=True)


def place_remove(principal: Principal, place: UUID, *, version: int | None = None) -> PlaceChanged:
    """Remove a place. It can be restored for 30 days, then it is purged.

    If the person removes it, agents can't add it again, nor state what its notes say. An agent's removal becomes a
    proposal if the person reviews before, or worded the place. Raises NotAllowed, NotFound, Conflict (409
    ``version_conflict``, ``wrong_state``).
    """
    user_id = _must_keep(principal)
    written_by, own_word = author(principal), principal.speaks_as_person
    read = noted(place) if own_word else []
    with ledger_write(principal.actor, user_id) as write:
        row = _present(Place.objects.visible_to(principal), place, version)
        reason = _reason_to_keep(principal, row)
        if reason or writing.waits(principal, ""):
            values = {"place_id": row.place_id, "removed": True}
            proposal = propose_place(write, principal, user_id, values, written_by=written_by, reason=reason)
            write.result("proposal", proposal.pk, status_code=202)
            return PlaceChanged(row, proposal)
        if own_word:
            suppress_place(write, user_id, {"place_id": row.place_id}, object_id=row.pk)
            suppress_noted(write, row, read)
        take_away(write, row)
        write.result("place", row.pk)
    return PlaceChanged(row)


def place_restore(principal: Principal, place: UUID) -> Place:
    """Restore a removed place. Only the person may.

    Raises NotYoursToDecide, NotAllowed, NotFound (also after the purge), Gated (422 ``budget``), Conflict (409
    ``wrong_state``, ``erasure_waits``).
    """
    user_id = accounts_policy.must_decide(principal)
    _must_keep(principal)
    with ledger_write(principal.actor, user_id) as write:
        row = must_find(_places(user_id).filter(pk=place).first(), "place")
        if row.deleted_at is None:
            raise Conflict(_("This place was not removed."), code="wrong_state", state="present")
        named = Q(scope="place", object_id=str(place)) | Q(also__contains=[["place", str(place)]])
        waiting = Erasure.objects.filter(named, user_id=user_id, state=Erasure.State.WAITING)
        if waiting.exists() or Erasure.objects.keeping_away(user_id, "place", [str(place)]):
            raise Conflict(_(ERASURE_WAITS), code="erasure_waits")
        unsuppress_place(write, user_id, {"place_id": row.place_id, "name": row.name, "notes": row.notes}, row)
        row = store_place(write, row, user_id, {"name": row.name, "notes": row.notes}, written_by="")
        write.result("place", row.pk)
    return row


def place_mention(principal: Principal, place: UUID, message_id: UUID) -> bool:
    """Store a mention of a place in a message. Returns False if it existed.

    Raises NotAllowed, NotFound for a place that is not there or removed, or a message that is not the person's.
    """
    user_id = _must_keep(principal)
    source = queries.read_source(principal, None, message_id)
    with ledger_write(principal.actor, user_id) as write:
        row = must_find(Place.objects.visible_to(principal).present().filter(pk=place).first(), "place")
        noted = mention(write, row, source.said)
        write.result("place", row.pk, status_code=201 if noted else 200)
    return noted


def place_approve(
    write: LedgerWrite, principal: Principal, proposal: Proposal, given: Mapping[str, Any], version: int | None
) -> None:
    """Apply a proposal about a place, optionally with another name or notes, and close it.

    Inside the person's decision. Raises NotAllowed (403 ``category_not_allowed``), Refused (400), Gated (422), NotFound
    (a removal of what is gone), Conflict (409 ``version_conflict``).
    """
    writing.must_file_under(principal, PLACES_CATEGORY)
    user_id, by = proposal.user_id, str(proposal.pk)
    write.touch("proposals", (proposal.pk, proposal.state))
    row = _places(user_id).filter(place_id=proposal.values["place_id"]).first()
    if row is not None:
        _check_version(row, version)
    if proposal.values.get("removed"):
        if row is None or row.deleted_at is not None:
            raise NotFound("This place is gone already.")
        take_away(write, row, proposal=by)
        stored = row
    else:
        values, own_word = {**proposal.values}, principal.speaks_as_person
        if "name" in given:
            values["name"] = _clean_name(given["name"], own_word=own_word)
        if "notes" in given:
            values["notes"] = _clean_notes(given["notes"], own_word=own_word)
        unsuppress_place(write, user_id, values, row)
        stored = store_place(
            write,
            row,
            user_id,
            values,
            written_by=proposal.written_by if values == proposal.values else author(principal),
            conversation_id=proposal.source_conversation_id,
            proposal=by,
        )
        mention(write, stored, quoted(proposal))
    end(proposal, Proposal.State.APPROVED, timezone.now())


def place_refuse(write: LedgerWrite, proposal: Proposal) -> None:
    """Suppress what a rejected proposal about a place would add. Called inside the decision."""
    if not proposal.values.get("removed"):
        suppress_place(write, proposal.user_id, proposal.values, object_id=proposal.pk)


def places_purge() -> int:
    """Delete expired removed places, each with a PURGE in the log. Returns how many."""
    return work_in_batches("memories.purge", Place.objects.due_for_purge(timezone.now()), _purge_batch)


def _purge_batch(write: LedgerWrite, user_id: UUID) -> int:
    due = Place.objects.due_for_purge(timezone.now()).filter(user_id=user_id).order_by("purge_at", "pk")
    places = list(due.values_list("pk", "version")[:PURGE_BATCH])
    Place.objects.filter(pk__in=[pk for pk, _ in places]).delete()
    delete_undo_steps("place", [pk for pk, _ in places])
    for pk, version in places:
        write.change(user_id, "PURGE", "place", pk, old_version=version)
    return len(places)


# --- Checks -----------------------------------------------------------------------------------------------------


def _must_keep(principal: Principal) -> UUID:
    """Return the person's id. Raises NotAllowed unless the principal may write memories and see places."""
    user_id = accounts_policy.must_remember(principal)
    writing.must_file_under(principal, PLACES_CATEGORY)
    return user_id


def _clean_id(place_id: str) -> str:
    """Normalise the caller's id of a place. It is never part of a prompt, so no gate applies."""
    place_id = place_id.strip()
    if not 1 <= len(place_id) <= LONGEST_NAME or not place_id.isprintable():
        raise Refused(
            _("A place_id has 1 to %(longest_name)s visible characters.") % {"longest_name": LONGEST_NAME},
            code="bad_place_id",
        )
    return place_id


def _clean_name(name: str, *, own_word: bool) -> str:
    name = writing.clean_label("name", name, LONGEST_NAME, own_word=own_word)
    if not name:
        raise Refused(_("A place has a name."), code="bad_name")
    return name


def _clean_notes(notes: str, *, own_word: bool) -> str:
    return writing.clean_label("notes", notes, LONGEST_NOTES, own_word=own_word)


def _source(principal: Principal, conversation_id: UUID | None, message_id: UUID | None) -> queries.EvidenceSource:
    """Return the source of a mention: the given message, or the newest of the conversation."""
    source = queries.read_source(principal, conversation_id, message_id)
    if source.conversation_id is None or source.said:
        return source
    said = Message.objects.visible_to(principal).filter(conversation_id=source.conversation_id)
    newest = said.order_by("-index").values_list("pk", flat=True).first()
    return queries.read_source(principal, source.conversation_id, newest)


def _places(user_id: UUID) -> PlaceQuerySet:
    """Return a person's present and removed places. A removed one's id stays taken until the purge."""
    return Place.objects.filter(user_id=user_id)


def _present(rows: PlaceQuerySet, place: UUID, version: int | None) -> Place:
    row = must_find(rows.filter(pk=place).first(), "place")
    _check_version(row, version)
    if row.deleted_at is not None:
        raise Conflict(_("This place was removed."), code="wrong_state", state="removed")
    return row


def _reason_to_keep(principal: Principal, row: Place) -> str:
    """Return why a change of a place waits in every review mode: its person worded it once. Otherwise ''.

    A wording of which nobody knows who wrote it counts as the person's.
    """
    if principal.speaks_as_person or principal.kind != "agent":
        return ""
    theirs = row.versions.filter(Q(written_by="") | Q(written_by=None))
    return KEPT if theirs.exists() else ""


def _check_version(row: Place, expected: int | None) -> None:
    if expected is not None and expected != row.version:
        raise Conflict(_("Somebody changed this place meanwhile."), code="version_conflict", current=row.version)

"""Undo for places and proposals, and the revert of plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.exceptions import Conflict, Refused
from journal.steps import UndoTarget
from statements.actions.suppressions import suppressions_undo

from ..models import Memory, Place, PlaceVersion, Proposal
from ..policy import writing
from ..querysets import PLACES_CATEGORY
from .merging import optimize_revert
from .placing import store_place, take_away
from .proposing import log_proposal


def places_undo(write: LedgerWrite, principal: Principal, wanted: Sequence[UndoTarget]) -> Mapping[str, str]:
    """Restore places. Returns an error code by id for those not restored."""
    user_id = accounts_policy.must_remember(principal)
    writing.must_file_under(principal, PLACES_CATEGORY)
    ids = [UUID(each.object_id) for each in wanted]
    places = {str(place.pk): place for place in Place.objects.filter(user_id=user_id, pk__in=ids)}
    numbers = {each.before.get("version", 0) for each in wanted}
    versions = PlaceVersion.objects.filter(place__in=ids, number__in=numbers)
    wordings = {(str(each.place_id), each.number): each for each in versions}
    left: dict[str, str] = {}
    for each in wanted:
        place = places.get(each.object_id)
        if place is None:
            left[each.object_id] = "not_there"
            continue
        wording = wordings.get((each.object_id, each.before.get("version", 0)))
        stands = bool(each.before.get("present"))
        room = settings.MEMORY_BLOCK_TOKENS - write.ledgers[user_id].block_tokens
        if stands and place.deleted_at is not None and place.tokens > room:
            left[each.object_id] = "budget"
            continue
        _suppress_again(write, user_id, each)
        # The proposal that this change decided is restored with the place.
        _wait_again(write, each)
        values = {} if wording is None else {"name": wording.name, "notes": wording.notes}
        reads_so = not values or (place.name, place.notes) == (values["name"], values["notes"])
        if not reads_so or (stands and place.deleted_at is not None):
            author = None if wording is None else wording.written_by
            place = store_place(write, place, user_id, values, written_by=author, undo=True)
        if not stands and place.deleted_at is None:
            take_away(write, place, undo=True)
        if write.touched:
            # The place is unchanged, but its side effects are not.
            write.change(user_id, "UPDATE", "place", place.pk, old_version=place.version, undo=True)
            write.keep_undo_step(user_id, "place", place.pk, {"version": place.version, "present": stands})
    return left


def proposals_undo(write: LedgerWrite, principal: Principal, wanted: Sequence[UndoTarget]) -> Mapping[str, str]:
    """Reopen proposals, or delete those that did not exist. Returns an error code by id for the others."""
    accounts_policy.must_remember(principal)
    now = timezone.now()
    found = Proposal.objects.visible_to(principal).filter(pk__in=[each.object_id for each in wanted])
    proposals = {str(proposal.pk): proposal for proposal in found}
    left: dict[str, str] = {}
    for each in wanted:
        proposal = proposals.get(each.object_id)
        if proposal is None or proposal.expires_at <= now or proposal.state == Proposal.State.LAPSED:
            left[each.object_id] = "not_there" if proposal is None else "wrong_state"
            continue
        stood = proposal.state
        # The approval is logged on what it changed, so no later change of the proposal was found.
        if each.before.get("created") and stood == Proposal.State.APPROVED:
            left[each.object_id] = "built_on"
            continue
        state = Proposal.State.REJECTED if each.before.get("created") else each.before["state"]
        _suppress_again(write, proposal.user_id, each)
        if state == stood and not write.touched:
            continue
        proposal.state = state
        proposal.decided_at = None if state == Proposal.State.WAITING else now
        proposal.save(update_fields=["state", "decided_at"])
        log_proposal(write, "RESTORE" if state == Proposal.State.WAITING else "REJECT", proposal)
        write.keep_undo_step(proposal.user_id, "proposal", proposal.pk, {"state": stood})
    return left


def plan_revert(principal: Principal, plan_id: str) -> str:
    """Revert an applied plan. Returns an error code, or '' on success."""
    try:
        optimize_revert(principal, UUID(plan_id))
    except Conflict as error:
        return "built_on" if error.code == "nothing_to_revert" else "not_undoable"
    except Refused as error:
        return error.code
    return ""


def _suppress_again(write: LedgerWrite, user_id: UUID, each: UndoTarget) -> None:
    # Places and proposals have no vector: their suppressions hold by words only.
    stood = suppressions_undo(Memory, user_id, {each.object_id: each.before.get("suppressions", [])})
    for pair in stood.get(each.object_id, []):
        write.touch("suppressions", pair)


def _wait_again(write: LedgerWrite, each: UndoTarget) -> None:
    now = timezone.now()
    for proposal_id, state in each.before.get("proposals", []):
        proposal = Proposal.objects.filter(pk=proposal_id, expires_at__gt=now).first()
        if proposal is not None and proposal.state != state:
            write.touch("proposals", (proposal_id, proposal.state))
            proposal.state = state
            proposal.decided_at = None if state == Proposal.State.WAITING else now
            proposal.save(update_fields=["state", "decided_at"])

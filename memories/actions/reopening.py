"""Taking a decision about a proposal back: what it changed is as it was, and the proposal waits again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, NotFound

from ..models import Memory, MemoryVersion, Proposal
from ..policy import writing
from ..policy.writing import State
from ..wording import Embedded
from .editing import refile
from .moving import bring_back
from .places import place_reopen
from .proposing import log_proposal, moment
from .single import MemoryWrite, memory_under_lock, relink
from .tombstones import tombstone_lift, tombstone_pass

_DECIDED = (Proposal.State.APPROVED, Proposal.State.REJECTED)


def proposal_reopen(principal: Principal, proposal_id: UUID) -> Proposal:
    """Take the person's decision about an update, an archive or a place back, while its days last.

    A rejection leaves no tombstone then; after an approval the memory or the place is as it was before, with its
    wording as a new version. ``memory_reopen`` does that for a new memory. Raises NotYoursToDecide, NotFound, Gated
    (422 ``budget``), Conflict (409 ``wrong_state``, ``version_conflict`` when it was changed since,
    ``similar_exists``, ``field_exists``).
    """
    user_id = accounts_policy.must_decide(principal)
    text = _earlier(_read(principal, proposal_id))
    with ledger_write(principal.actor, user_id) as write:
        proposal = _read(principal, proposal_id)
        if proposal.kind == Proposal.Kind.CREATE or proposal.state not in _DECIDED:
            raise Conflict(f"This proposal is {proposal.state}.", code="wrong_state", state=proposal.state)
        if proposal.expires_at <= timezone.now():
            raise Conflict("The days of this proposal are over.", code="wrong_state", state=Proposal.State.LAPSED)
        if proposal.state == Proposal.State.REJECTED:
            tombstone_lift(write, user_id=user_id, legacy_id=None, object_id=proposal.pk)
        elif proposal.kind == Proposal.Kind.PLACE:
            place_reopen(write, proposal)
        else:
            _undo_change(write, principal, proposal, text)
        proposal.state, proposal.decided_at, proposal.before = Proposal.State.WAITING, None, {}
        proposal.save(update_fields=["state", "decided_at", "before"])
        log_proposal(write, "RESTORE", proposal)
        write.result("proposal", proposal.pk)
    return proposal


def _read(principal: Principal, proposal_id: UUID) -> Proposal:
    proposal = Proposal.objects.visible_to(principal).filter(pk=proposal_id).first()
    if proposal is None:
        raise NotFound("There is no such proposal.")
    return proposal


def _earlier(proposal: Proposal) -> Embedded | None:
    """The wording that an approval replaced; None when it replaced none."""
    was = proposal.before
    if was.get("version") == was.get("now"):
        return None
    versions = MemoryVersion.objects.filter(memory=proposal.memory_id, number=was.get("version"))
    content = versions.values_list("content", flat=True).first()
    return None if content is None else Embedded.of(content)


def _undo_change(write: LedgerWrite, principal: Principal, proposal: Proposal, text: Embedded | None) -> None:
    rows = Memory.objects.visible_to(principal)
    with memory_under_lock(write, rows, str(proposal.memory_id)) as change:
        if proposal.kind == Proposal.Kind.ARCHIVE:
            writing.check_state(change.memory, State.ARCHIVED)
            bring_back(change, principal, reviewed=False)
        else:
            writing.check_state(change.memory, State.ACTIVE)
            writing.check_version(change.memory, proposal.before["now"])
            _word_as_before(change, principal, proposal, text)


def _word_as_before(change: MemoryWrite, principal: Principal, proposal: Proposal, text: Embedded | None) -> None:
    memory, was, by = change.memory, proposal.before, str(proposal.pk)
    filing: dict[str, Any] = dict(was["filing"])
    if "expires_at" in filing:
        filing["expires_at"] = moment(filing["expires_at"])
    if filing:
        refile(change, principal, filing, proposal=by, undo=True)
    if text is not None:
        versions = MemoryVersion.objects.filter(memory=memory, number=was["version"])
        tombstone_pass(change.write, memory.user_id, text, own_word=True)
        memory.valid_from, memory.valid_to = moment(was["valid_from"]), moment(was["valid_to"])
        change.reword(
            text.worded(principal, memory.user_id, memory.subject),
            "UPDATE",
            written_by=versions.values_list("written_by", flat=True).get(),
            correction=True,
            reverted_to=was["version"],
            proposal=by,
        )
        relink(change, principal, text)
    memory.reviewed_at = moment(was["reviewed_at"])

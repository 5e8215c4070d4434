"""Decisions about proposals: approving, rejecting, and expiry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from accounts.upkeep import work_in_batches
from conversations.actions import Cause, original_quotes, plan_withholding, words_withhold
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, Refused, must_find
from journal.verdicts import compares_unlocked
from statements.actions import check_state, check_version, erase, suppression_add, suppression_check, suppression_lift
from statements.models import RejectionReason
from statements.wording import Embedded

from .. import queries
from ..models import MEMORY, Memory, Proposal, ProposalEvidence
from ..policy import writing
from ..policy.writing import State, Why
from ..records import RELAYED
from .denying import Rewording
from .editing import refile
from .many import withheld_ahead, words_behind
from .places import place_approve, place_refuse
from .proposing import end, log_proposal, moment, quoted
from .single import MemoryWrite, author, memory_under_lock, relink
from .transitions import approve_so, archive, displace, refuse

_APPROVED: dict[str, set[str]] = {
    Proposal.Kind.CREATE: {"content", "category", "subject"},
    Proposal.Kind.UPDATE: {
        "content", "correction", "valid_from", "subject", "topics", "category", "importance", "expires_at", "metadata",
    },
    Proposal.Kind.ARCHIVE: set(),
    Proposal.Kind.PLACE: {"name", "notes"},
}  # fmt: skip
"""What the person may say otherwise when they approve."""

LAPSE_BATCH = 500


@dataclass(frozen=True, slots=True)
class _Patch:
    """The change of an approved proposal. ``content`` is None if the wording stays."""

    content: str | None = None
    verbatim: bool = False
    correction: bool = False
    valid_from: datetime | None = None
    filing: dict[str, Any] = field(default_factory=dict)


@compares_unlocked
def proposal_approve(
    principal: Principal, proposal_id: UUID, *, values: Mapping[str, Any] | None = None, version: int | None = None
) -> Proposal:
    """Apply a proposal, optionally with other ``values``, which count as the caller's words.

    What an approved wording denies or replaces is archived. A refusal that an agent relayed is then the person's own:
    the memory is suppressed and its source words withheld.

    Possible values: ``content``, ``category`` and ``subject`` of a new memory; all fields of an update; ``name`` and
    ``notes`` of a place. A service's values pass the gates for agents. ``version`` is the memory's or place's version
    that the caller saw; the change is applied to it, even if it was proposed for an older one. Raises NotYoursToDecide,
    NotFound, Refused (400), Gated (422), Conflict (409 ``wrong_state``; ``version_conflict`` with the current version;
    without ``version`` ``stale_proposal`` with ``memory`` and ``proposed`` if the memory changed meanwhile).
    """
    accounts_policy.must_decide(principal)
    seen = _read(principal, proposal_id)
    given = dict(values or {})
    if not given.keys() <= _APPROVED.get(seen.kind, set()):
        raise Refused(_("These values are not of this kind of proposal."), code="bad_values")
    if seen.kind == Proposal.Kind.PLACE:
        with _deciding(principal, proposal_id) as (write, proposal):
            place_approve(write, principal, proposal, given, version)
        return proposal
    filed = queries.filed_as(principal, str(seen.memory_id))
    patch = _patch(principal, filed.kind, {"verbatim": filed.verbatim, **seen.values, **given})
    text = None if patch.content is None else Embedded.of(patch.content)
    rewording = None
    if text is not None and seen.kind == Proposal.Kind.UPDATE and not patch.verbatim:
        new = replace(filed, content=text.content)
        rewording = Rewording.of(principal, seen.user_id, str(seen.memory_id), new, text, compare=True)
    # An agent relayed that the person wants it put away, and now they say so themselves.
    is_refusal = seen.kind == Proposal.Kind.ARCHIVE and seen.reason == RELAYED
    refused = [str(seen.memory_id)] if is_refusal else []
    with (
        withheld_ahead(seen.user_id, refused),
        _deciding(principal, proposal_id) as (write, proposal),
        memory_under_lock(write, str(proposal.memory_id), principal) as change,
    ):
        if proposal.kind == Proposal.Kind.CREATE:
            check_version(change.memory, version)
            check_state(change.memory, State.PROPOSED)
            approve_so(change, principal, patch.filing, text)
            proposal.refresh_from_db()
        else:
            _check_fresh(change.memory, proposal, version)
            if proposal.kind == Proposal.Kind.UPDATE:
                denied = rewording.at_odds(rewording.around(write)) if rewording else []
                _apply(change, principal, proposal, patch, text)
                _end(change, denied)
            else:
                archive(change, Why.PERSON if is_refusal else Why.AGENT, proposal=str(proposal.pk))
            write.touch("proposals", (proposal.pk, proposal.state))
            end(proposal, Proposal.State.APPROVED, change.now)
    return proposal


def proposal_reject(principal: Principal, proposal_id: UUID, reason: str = RejectionReason.NOT_TRUE) -> Proposal:
    """Reject a proposal, and suppress the proposed words.

    With the reason ``dont_keep`` the source words are withheld. Raises NotYoursToDecide, NotFound, Conflict (409
    ``wrong_state``).
    """
    refusal = RejectionReason(reason)
    accounts_policy.must_decide(principal)
    seen = _read(principal, proposal_id)
    text = Embedded.of(seen.values["content"]) if "content" in seen.values else None
    ahead = {}
    if refusal == RejectionReason.DONT_KEEP:
        ahead = dict([_words_behind(proposal_id), *words_behind([str(seen.memory_id)])])
    with plan_withholding(seen.user_id, ahead), _deciding(principal, proposal_id) as (write, proposal):
        if proposal.kind == Proposal.Kind.CREATE:
            with memory_under_lock(write, str(proposal.memory_id), principal) as change:
                refuse(change, refusal)
            proposal.refresh_from_db()
        else:
            if text is not None:
                suppression_add(write, proposal.user_id, text, proposal.pk, is_stored=False)
            if proposal.kind == Proposal.Kind.PLACE:
                place_refuse(write, proposal)
            log_proposal(write, "REJECT", proposal)
            write.keep_undo_step(proposal.user_id, "proposal", proposal.pk, {"state": proposal.state})
            end(proposal, Proposal.State.REJECTED, timezone.now())
            if refusal == RejectionReason.DONT_KEEP:
                words_withhold(write, proposal.user_id, *_words_behind(proposal_id))
    return proposal


def _words_behind(proposal_id: UUID) -> tuple[Cause, list[tuple[UUID, str]]]:
    return Cause("proposal", str(proposal_id)), original_quotes(ProposalEvidence.objects.filter(proposal=proposal_id))


def proposals_lapse() -> int:
    """Expire undecided proposals and delete their text. Returns how many.

    A memory that was only proposed is deleted, without a suppression. The text of decided proposals is deleted after
    the same time.
    """
    due = Proposal.objects.waiting().filter(expires_at__lte=timezone.now())
    lapsed = work_in_batches("memories.lapse", due, _lapse_batch)
    while _forget_batch():
        pass
    return lapsed


def _lapse_batch(write: LedgerWrite, user_id: UUID) -> int:
    now = timezone.now()
    due = Proposal.objects.waiting().filter(user_id=user_id, expires_at__lte=now).order_by("expires_at", "pk")
    proposals = list(due.select_related("memory")[:LAPSE_BATCH])
    unborn = []
    for proposal in proposals:
        memory = proposal.memory
        if proposal.kind == Proposal.Kind.CREATE and memory is not None:
            write.change(user_id, "LAPSE", "memory", memory.pk, old_version=memory.version)
            unborn.append(memory.pk)
        else:
            log_proposal(write, "LAPSE", proposal)
            end(proposal, Proposal.State.LAPSED, now)
    erase(MEMORY, unborn)
    return len(proposals)


def _forget_batch() -> int:
    """Delete the text of decided proposals whose undo period is over. Returns how many."""
    with transaction.atomic():
        due = Proposal.objects.to_forget(timezone.now()).order_by("expires_at").values_list("pk", flat=True)
        # Rows locked by a concurrent undo are skipped until the next run.
        ended = list(due.select_for_update(skip_locked=True)[:LAPSE_BATCH])
        ProposalEvidence.objects.filter(proposal__in=ended).delete()
        return Proposal.objects.filter(pk__in=ended).update(values={})


def _read(principal: Principal, proposal_id: UUID) -> Proposal:
    return must_find(Proposal.objects.visible_to(principal).filter(pk=proposal_id).first(), "proposal")


@contextmanager
def _deciding(principal: Principal, proposal_id: UUID) -> Iterator[tuple[LedgerWrite, Proposal]]:
    """Transaction of a decision about a waiting proposal."""
    user_id = accounts_policy.must_decide(principal)
    with ledger_write(principal.actor, user_id) as write:
        proposal = _read(principal, proposal_id)
        lapsed = proposal.state == Proposal.State.WAITING and proposal.expires_at <= timezone.now()
        state = Proposal.State.LAPSED if lapsed else proposal.state
        if state != Proposal.State.WAITING:
            raise Conflict(_("This proposal is %(state)s.") % {"state": _(state)}, code="wrong_state", state=state)
        yield write, proposal
        write.result("proposal", proposal.pk)


def _check_fresh(memory: Memory, proposal: Proposal, seen: int | None) -> None:
    """Raise Conflict if the memory's version is not the one that the caller saw, or that the proposal is for."""
    check_state(memory, State.ACTIVE)
    check_version(memory, seen)
    if seen is None and memory.version != proposal.memory_version:
        raise Conflict(
            _("The memory was changed after this was proposed."),
            code="stale_proposal",
            memory=writing.brief(memory),
            proposed=proposal.values,
        )


def _patch(principal: Principal, kind: str, values: Mapping[str, Any]) -> _Patch:
    """Return the proposed or given values in stored form. Raises Refused (400), Gated (422)."""
    own_word = principal.speaks_as_person
    filing: dict[str, Any] = {}
    if "subject" in values:
        filing["subject"] = writing.clean_subject(values["subject"], own_word=own_word)
    if "topics" in values:
        filing["topics"] = list(writing.clean_topics(values["topics"], own_word=own_word))
    if "category" in values:
        filing["category"] = writing.must_file_under(principal, values["category"])
    if "importance" in values:
        writing.check_importance(values["importance"])
        filing["importance"] = values["importance"]
    if "expires_at" in values:
        filing["expires_at"] = moment(values["expires_at"])
        writing.check_expiry(filing["expires_at"], timezone.now())
    if "metadata" in values:
        filing["metadata"] = writing.clean_metadata(values["metadata"], own_word=own_word)
    return _Patch(
        content=writing.admitted(values["content"], kind, own_word=own_word, verbatim=values["verbatim"])
        if "content" in values
        else None,
        verbatim=values["verbatim"],
        correction=bool(values.get("correction", False)),
        valid_from=moment(values.get("valid_from")),
        filing=filing,
    )


def _end(change: MemoryWrite, denied: Iterable[Memory]) -> None:
    """Archive the active memories that an approved wording denies or replaces."""
    for other in denied:
        if other.state == State.ACTIVE:
            change.supersede(other.pk)
            displace(change.write, other)


def _apply(change: MemoryWrite, principal: Principal, proposal: Proposal, patch: _Patch, text: Embedded | None) -> None:
    """Update a memory as proposed, and mark it as reviewed."""
    memory, by = change.memory, str(proposal.pk)
    memory.verbatim = patch.verbatim
    filing = {name: value for name, value in patch.filing.items() if getattr(memory, name) != value}
    if filing:
        refile(change, principal, filing, proposal=by)
    if text is not None:
        as_proposed = text.content == proposal.values.get("content")
        if as_proposed:
            suppression_lift(change.write, memory.user_id, text)
        else:
            suppression_check(change.write, memory.user_id, text, own_word=principal.speaks_as_person)
        change.reword(
            change.worded(principal, text),
            "UPDATE",
            written_by=proposal.written_by if as_proposed else author(principal),
            conversation_id=proposal.source_conversation_id,
            said=quoted(proposal),
            valid_from=patch.valid_from,
            correction=patch.correction,
            proposal=by,
        )
        relink(change, principal, text)
    memory.reviewed_at = change.now

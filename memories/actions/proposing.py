"""Create proposals inside the action that would make the change, and close them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.principals import Principal
from journal.actions import LedgerWrite
from journal.exceptions import NotYoursToDecide
from statements.policy import fingerprints
from statements.wording import Embedded

from .. import queries
from ..models import FieldSignal, Memory, Proposal, ProposalEvidence
from ..policy import beside, writing
from ..policy.bands import AGREED, value_of
from ..policy.writing import State
from ..queries import EvidenceSource
from ..querysets import ProposalQuerySet
from ..records import KEPT, Candidate, Said, WritePolicy
from .single import MemoryWrite, author

_READ_TOGETHER = frozenset({"content", "subject", "topics", "metadata"})


def reason_to_keep(principal: Principal, memories: Iterable[Memory], policy: WritePolicy | None = None) -> str:
    """Return why a write that changes these memories waits in every review mode, or ''."""
    return KEPT if queries.kept_by_person(principal, memories, policy) else ""


def propose_create(change: MemoryWrite) -> Proposal:
    """Create the proposal of a memory with the state proposed. The memory's own change is its log entry."""
    return propose_creates([change.memory], change.now)[0]


def propose_creates(
    memories: Sequence[Memory], now: datetime, lapses: Mapping[str, datetime] = MappingProxyType({})
) -> list[Proposal]:
    """Like ``propose_create``, for many in one statement. ``lapses``: when some expire, by memory id."""
    return Proposal.objects.bulk_create(
        Proposal(
            user_id=memory.user_id,
            agent_id=memory.agent_id,
            kind=Proposal.Kind.CREATE,
            memory=memory,
            memory_version=memory.version,
            written_by=memory.written_by,
            source_conversation_id=memory.source_conversation_id,
            reason=memory.state_reason,
            created_at=now,
            expires_at=lapses.get(memory.pk) or _lapses(now),
        )
        for memory in memories
    )


def quoted(proposal: Proposal) -> list[Said]:
    """Return the quoted evidence of a proposal."""
    evidence = proposal.evidence.values_list("message_id", "quote", "message__at")
    return [Said(*each) for each in evidence]


def propose_change(
    write: LedgerWrite,
    principal: Principal,
    kind: str,
    memory: Memory,
    values: Mapping[str, Any],
    *,
    written_by: str,
    conversation_id: UUID | None = None,
    said: Sequence[Said] = (),
    reason: str = "",
) -> Proposal:
    """Create a proposal to update or archive a memory, or return an equal waiting one.

    ``reason`` says why it waits, unless it is the review preference.
    """
    what = {
        "kind": kind,
        "user_id": memory.user_id,
        "memory": memory,
        "memory_version": memory.version,
        "values": dict(values),
    }
    return _propose(
        write, principal, what, written_by=written_by, conversation_id=conversation_id, said=said, reason=reason
    )


def propose_instead(
    change: MemoryWrite,
    principal: Principal,
    kind: str,
    values: Mapping[str, Any],
    source: EvidenceSource | None = None,
    *,
    text: Embedded | None = None,
    reason: str = "",
) -> Proposal | None:
    """Create a proposal instead of changing an active memory, if the person must decide; else return None.

    With a ``reason`` the person must always decide, and about what they worded or pinned. ``text`` is the content in
    ``values``. Raises NotYoursToDecide if they worded or pinned a memory that is itself only proposed.
    """
    memory, said_at = change.memory, source or EvidenceSource()
    kept = reason_to_keep(principal, [memory])
    if kept and memory.state != State.ACTIVE:
        raise NotYoursToDecide
    reason = reason or kept
    if not reason and _READ_TOGETHER & values.keys():
        filed = {name: values.get(name, getattr(memory, name)) for name in _READ_TOGETHER}
        reason = beside.reason_filed(principal, filed["content"], filed, None if text is None else text.statement)
    field = memory.field
    if text is not None and not field:
        field = writing.said_field(principal, text.content, memory.kind, memory.subject, text.statement)
    if memory.state != State.ACTIVE or not (reason or writing.waits(principal, field)):
        return None
    proposal = propose_change(
        change.write,
        principal,
        kind,
        memory,
        values,
        written_by=author(principal),
        conversation_id=said_at.conversation_id,
        said=said_at.said,
        reason=reason,
    )
    change.write.result("proposal", proposal.pk, status_code=202)
    return proposal


def propose_place(
    write: LedgerWrite,
    principal: Principal,
    user_id: UUID,
    values: Mapping[str, Any],
    *,
    written_by: str,
    conversation_id: UUID | None = None,
    said: Sequence[Said] = (),
    reason: str = "",
) -> Proposal:
    """Create a proposal about a place: ``values`` are its id with its name and notes, or with ``removed``."""
    what = {"kind": Proposal.Kind.PLACE, "user_id": user_id, "values": dict(values)}
    return _propose(
        write, principal, what, written_by=written_by, conversation_id=conversation_id, said=said, reason=reason
    )


def _propose(
    write: LedgerWrite,
    principal: Principal,
    what: Mapping[str, Any],
    *,
    written_by: str,
    conversation_id: UUID | None,
    said: Sequence[Said],
    reason: str = "",
) -> Proposal:
    now = timezone.now()
    # There can be two: one reopened by undo, and one created meanwhile.
    waiting = _waiting_of(principal, what["kind"]).filter(**what).order_by("created_at", "pk").first()
    proposal = waiting or Proposal.objects.create(
        **what,
        agent_id=principal.agent_id,
        written_by=written_by[:80],
        source_conversation_id=conversation_id,
        reason=reason,
        created_at=now,
        expires_at=_lapses(now),
    )
    made = waiting is None
    known = set() if made else set(proposal.evidence.values_list("message_id", flat=True))
    ProposalEvidence.objects.bulk_create(
        ProposalEvidence(proposal=proposal, message_id=each.message_id, quote=each.quote)
        for each in said
        if each.message_id not in known
    )
    if made:
        log_proposal(write, "PROPOSE", proposal, conversation_id=conversation_id)
        write.keep_undo_step(proposal.user_id, "proposal", proposal.pk, {"created": True})
    return proposal


def propose_archives(
    write: LedgerWrite, principal: Principal, memories: Sequence[Memory], *, kept: Collection[str], written_by: str
) -> list[Proposal]:
    """Create proposals to archive many memories, in a constant number of statements. Returns the new ones.

    ``kept``: ids of those that the person worded or pinned.
    """
    now = timezone.now()
    waiting = _waiting_of(principal, Proposal.Kind.ARCHIVE).filter(memory__in=memories)
    known = set(waiting.values_list("memory_id", "memory_version"))
    made = Proposal.objects.bulk_create(
        Proposal(
            user_id=memory.user_id,
            agent_id=principal.agent_id,
            kind=Proposal.Kind.ARCHIVE,
            memory=memory,
            memory_version=memory.version,
            written_by=written_by,
            reason=KEPT if memory.pk in kept else "",
            created_at=now,
            expires_at=_lapses(now),
        )
        for memory in memories
        if (memory.pk, memory.version) not in known
    )
    for proposal in made:
        log_proposal(write, "PROPOSE", proposal)
        write.keep_undo_step(proposal.user_id, "proposal", proposal.pk, {"created": True})
    return made


def end_create(change: MemoryWrite, state: str) -> None:
    """Close the waiting proposal of a memory, if there is one."""
    Proposal.objects.filter(memory=change.memory, kind=Proposal.Kind.CREATE).waiting().update(
        state=state, decided_at=change.now
    )


def end(proposal: Proposal, state: str, now: datetime) -> None:
    """Close a proposal. Expiry deletes its text at once; after a decision it is kept for undo until then."""
    proposal.state, proposal.decided_at = state, now
    if state == Proposal.State.LAPSED:
        proposal.evidence.all().delete()
        proposal.values = {}
    proposal.save(update_fields=["state", "decided_at", "values"])


def log_proposal(write: LedgerWrite, event: str, proposal: Proposal, *, conversation_id: UUID | None = None) -> None:
    """Log an event of a proposal with the person's next revision."""
    write.change(
        proposal.user_id,
        event,
        "proposal",
        proposal.pk,
        conversation_id=conversation_id,
        kind=proposal.kind,
        memory=proposal.memory_id,
    )


def _waiting_of(principal: Principal, kind: str) -> ProposalQuerySet:
    """Return waiting proposals of one kind by the same agent or job."""
    rows = Proposal.objects.waiting().filter(kind=kind)
    return rows.filter(agent_id=principal.agent_id) if principal.agent_id else rows.filter(agent__isnull=True)


def _lapses(now: datetime) -> datetime:
    return now + timedelta(days=settings.PROPOSAL_DAYS)


def as_json(value: Any) -> Any:
    """Convert a column's value to JSON for a proposal."""
    return value.isoformat() if isinstance(value, datetime) else value


def moment(value: datetime | str | None) -> datetime | None:
    """Parse a time stored by ``as_json``."""
    return parse_datetime(value) if isinstance(value, str) else value


# --- Signals ----------------------------------------------------------------------------------------------------


def signal_agrees(principal: Principal, user_id: UUID, candidate: Candidate) -> bool:
    """Store the signal of a candidate with a tone or a goal. Returns whether an earlier conversation gave the same.

    Signals are not used if the person reviews before, or asks for it explicitly.
    """
    new, conversation_id = candidate.prepared.new, candidate.conversation_id
    policy = candidate.policy
    asked = writing.is_settled(principal, policy.consent, policy.relayed, new.field)
    settled = policy.own_word or asked or principal.review == "before"
    if new.field not in AGREED or conversation_id is None or settled or candidate.prepared.held_back:
        return False
    if not candidate.said:  # Without the person's words as evidence it is only the agent's own statement.
        return False
    digest, *others = _digests(user_id, new.field, new.content)
    signals = FieldSignal.objects.filter(user_id=user_id, field=new.field, digest__in=[digest, *others])
    agrees = signals.exclude(conversation_id=conversation_id).exists()
    given = FieldSignal(user_id=user_id, field=new.field, digest=digest, conversation_id=conversation_id)
    FieldSignal.objects.bulk_create([given], ignore_conflicts=True)
    return agrees


def signals_forget(user_id: UUID, memories: Iterable[Memory]) -> None:
    """Delete the signals of rejected tones and goals."""
    digests = [
        digest
        for memory in memories
        if memory.field in AGREED
        for digest in _digests(user_id, memory.field, memory.content)
    ]
    if digests:
        FieldSignal.objects.filter(user_id=user_id, digest__in=digests).delete()


def _digests(user_id: UUID, field: str, content: str) -> list[str]:
    return fingerprints(user_id, f"{field} {value_of(content)}")

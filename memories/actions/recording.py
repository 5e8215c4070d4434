"""Updates and deletions of memories found by extraction, executed inside its transaction."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite
from statements.actions import check_state, check_version, doubt_statement, suppression_check
from statements.wording import Embedded

from ..models import Proposal
from ..policy import beside, writing
from ..policy.writing import State, Why
from ..records import RELAYED, Changed, Said, Updated, WritePolicy
from .proposing import propose_change, reason_to_keep
from .single import memory_under_lock, relink
from .transitions import archive


def record_update(
    write: LedgerWrite,
    principal: Principal,
    memory_id: str,
    text: Embedded,
    policy: WritePolicy,
    *,
    version: int,
    correction: bool,
    written_by: str,
    conversation_id: UUID,
    said: Sequence[Said],
) -> Updated:
    """Change a memory's wording, in a transaction that holds the person's ledger lock.

    For a verbatim memory the change becomes a proposal.

    ``text`` has passed the gates that need no database. ``version`` is the version that the model saw. Of ``policy``,
    what the person said of it counts.

    Raises NotFound, Gated (422 ``rejected_before``, ``budget``), Conflict (409 ``version_conflict``, ``wrong_state``).
    """
    user_id = accounts_policy.must_act_for(principal)
    with memory_under_lock(write, memory_id, principal) as change:
        memory = change.memory
        check_version(memory, version)
        check_state(memory, State.ACTIVE)
        previous = memory.content, memory.version
        consent, relayed = policy.consent, policy.relayed
        reason = suppression_check(write, user_id, text, own_word=consent and not relayed) or policy.waiting_reason
        reason = reason or reason_to_keep(principal, [memory], policy)
        if not (reason or consent):
            filed = {"subject": memory.subject, "topics": memory.topics, "metadata": memory.metadata}
            reason = beside.reason_filed(principal, text.content, filed, text.statement)
        field = memory.field or writing.said_field(principal, text.content, memory.kind, memory.subject, text.statement)
        field = "" if writing.keeps_value(memory.content, text.content) else field
        if (
            reason
            or memory.verbatim
            or (not writing.is_settled(principal, consent, relayed, field) and writing.waits(principal, field))
        ):
            proposal = propose_change(
                write,
                principal,
                Proposal.Kind.UPDATE,
                memory,
                {"content": text.content, **({"correction": True} if correction else {})},
                written_by=written_by[:80],
                conversation_id=conversation_id,
                said=said,
                reason=reason,
            )
            return Updated(memory, *previous, proposal)
        change.reword(
            change.worded(principal, text),
            "UPDATE",
            written_by=written_by[:80],
            conversation_id=conversation_id,
            said=said,
            correction=correction,
        )
        memory.reviewed_at = change.now if policy.settles_review else None
        relink(change, principal, text)
    return Updated(memory, *previous)


def record_archive(
    write: LedgerWrite,
    principal: Principal,
    memory_id: str,
    policy: WritePolicy,
    *,
    version: int,
    written_by: str,
    conversation_id: UUID,
    agent_id: UUID | None,
    said: Sequence[Said],
) -> Changed:
    """Archive a memory that the person retracted, in a transaction that holds the person's ledger lock.

    With the consent of ``policy`` they asked to forget it: it is archived at once and suppressed, like a deletion by
    the person. If an agent relayed it (``agent_id`` is the conversation's), a memory that they decided about waits for
    them. Raises NotFound, Conflict (409 ``version_conflict``, ``wrong_state``).
    """
    with memory_under_lock(write, memory_id, principal) as change:
        memory = change.memory
        check_version(memory, version)
        check_state(memory, State.ACTIVE)
        settled = writing.is_settled(principal, policy.consent, policy.relayed, memory.field)
        relayed = policy.relayed and not writing.is_undecided(memory, agent_id)
        reason = policy.waiting_reason or (RELAYED if relayed else "")
        if reason or (not settled and writing.waits(principal, memory.field)):
            proposal = propose_change(
                write,
                principal,
                Proposal.Kind.ARCHIVE,
                memory,
                {},
                written_by=written_by[:80],
                conversation_id=conversation_id,
                said=said,
                reason=reason,
            )
            return Changed(memory, proposal)
        archive(change, Why.PERSON if policy.consent else Why.AGENT, conversation_id=conversation_id)
    return Changed(memory)


def record_doubt(
    write: LedgerWrite, principal: Principal, memory_id: str, *, version: int, conversation_id: UUID, said: Said
) -> None:
    """Mark a memory as possibly out of date because of a message, so that it waits for the person, unchanged.

    Undo removes the mark.

    In a transaction that holds the person's ledger lock. Raises NotFound, Conflict (409 ``version_conflict``,
    ``wrong_state``).
    """
    with memory_under_lock(write, memory_id, principal) as change:
        memory = change.memory
        check_version(memory, version)
        check_state(memory, State.ACTIVE)
        rev = change.log("DOUBT", conversation_id=conversation_id, message=str(said.message_id))
        doubt_statement(memory.user_id, "memory", memory.pk, rev)
        write.touch("doubts", rev)
        write.keep_undo_step(memory.user_id, "memory", memory.pk, {})

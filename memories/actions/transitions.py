"""State transitions of a memory: approve, reject, archive, restore and pin.

``version`` is the version that the caller saw. If it is outdated, functions raise Conflict (409 ``version_conflict``
with the current version).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import policy as accounts_policy
from accounts.principals import Principal
from conversations.actions import words_restore
from conversations.models import Conversation, Message
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, NotYoursToDecide
from journal.models import ActorKind, Change
from journal.verdicts import compares_unlocked
from statements.actions import (
    GONE,
    PRESENT,
    check_kept,
    erase,
    resemblance_check,
    resemblance_lift,
    suppression_check,
    unsuppress,
)
from statements.models import Doubt, RejectionReason
from statements.wording import Embedded

from .. import queries
from ..models import MEMORY, Memory, MemoryEvidence, MemoryVersion, Proposal, Relation
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet
from ..records import Changed
from .editing import check_beside, set_filing
from .many import summaries_follow, withheld_ahead, withhold
from .proposing import end, end_create, log_proposal, propose_create, propose_instead, signals_forget
from .single import MemoryWrite, author, memory_changing, memory_write, relink

_LEAVING = ("DELETE", "REJECT", "TTL", "EVICT", "MERGE")


@compares_unlocked
def memory_approve(
    principal: Principal,
    memory_id: str,
    *,
    content: str | None = None,
    category: str | None = None,
    subject: str | None = None,
    version: int | None = None,
) -> Memory:
    """Activate a proposed memory, optionally with changes, or mark an active one as reviewed.

    Closes its proposal and archives the memories that it replaces. A doubt whether it duplicates another is resolved:
    both stay. Approving twice changes nothing. Raises NotYoursToDecide, NotFound, Refused (400), Gated (422), Conflict
    (409 ``version_conflict``, ``wrong_state``).
    """
    accounts_policy.must_decide(principal)
    own_word = principal.speaks_as_person
    filing: dict[str, Any] = {}
    if category is not None:
        filing["category"] = writing.must_file_under(principal, category)
    if subject is not None:
        filing["subject"] = writing.clean_subject(subject, own_word=own_word)
    text = None
    if content is not None:
        filed = queries.filed_as(principal, memory_id)
        text = Embedded.of(writing.admitted(content, filed.kind, own_word=own_word, verbatim=filed.verbatim))
    with memory_write(principal, memory_id, State.PROPOSED, State.ACTIVE, version=version) as change:
        approve_so(change, principal, filing, text)
    return change.memory


def memory_reject(
    principal: Principal, memory_id: str, reason: str = RejectionReason.NOT_TRUE, *, version: int | None = None
) -> Memory:
    """Reject a memory, also an archived one: it is in no prompt and is suppressed. It can be restored for 30 days.

    With the reason ``dont_keep`` its source words are withheld. Raises NotYoursToDecide, NotFound, Conflict (409
    ``version_conflict``, ``wrong_state``, ``erasure_waits``).
    """
    user_id = accounts_policy.must_decide(principal)
    refusal = RejectionReason(reason)
    gone = [memory_id] if refusal == RejectionReason.DONT_KEEP else []
    states = (*PRESENT, State.ARCHIVED)
    with withheld_ahead(user_id, gone), memory_write(principal, memory_id, *states, version=version) as change:
        check_kept(change.memory)
        refuse(change, refusal)
    return change.memory


def memory_pin(principal: Principal, memory_id: str, pinned: bool, *, version: int | None = None) -> Memory:
    """Pin or unpin a memory. Pinned ones are not evicted or archived automatically, and agents' changes of them wait.

    An agent unpins only what it pinned. Raises NotAllowed, NotYoursToDecide, NotFound, Conflict (409
    ``version_conflict``, ``wrong_state``).
    """
    accounts_policy.must_remember(principal)
    with memory_write(principal, memory_id, State.ACTIVE, State.PROPOSED, version=version) as change:
        if change.memory.pinned != pinned:
            if not (pinned or principal.decides_what_returns or queries.pinned_by(principal, [change.memory])):
                raise NotYoursToDecide
            change.memory.pinned = pinned
            change.log("PIN", pinned=pinned)
    return change.memory


def memory_archive(principal: Principal, memory_id: str, *, version: int | None = None) -> Changed:
    """Archive a memory. It can be restored for 30 days, then it is purged.

    If the person archives it, it is suppressed and its source words are withheld. An agent's archive becomes a proposal
    if the person reviews before; its own proposed memory is archived at once. Raises NotAllowed, NotFound, Conflict
    (409 ``version_conflict``, ``wrong_state``).
    """
    user_id = accounts_policy.must_remember(principal)
    own_word = principal.speaks_as_person
    states = PRESENT if own_word else (State.ACTIVE, State.PROPOSED)
    behind = [memory_id] if own_word else []
    with withheld_ahead(user_id, behind), memory_write(principal, memory_id, *states, version=version) as change:
        if proposal := propose_instead(change, principal, Proposal.Kind.ARCHIVE, {}):
            return Changed(change.memory, proposal)
        archive(change, Why.PERSON if own_word else Why.AGENT)
    return Changed(change.memory)


@compares_unlocked
def memory_restore(principal: Principal, memory_id: str, *, version: int | None = None) -> Memory:
    """Restore a memory: active, or proposed if an agent restores it and it was, or it resembles something rejected.

    What the person archived or rejected only they can restore. Quarantined memories become quarantined again. Raises
    NotYoursToDecide, NotAllowed, NotFound (also after the purge), Gated (422 ``budget``, ``rejected_before``), Conflict
    (409 ``version_conflict``, ``wrong_state``, ``erasure_waits``, ``similar_exists``, ``field_exists``).
    """
    accounts_policy.must_remember(principal)
    with memory_write(principal, memory_id, *GONE, version=version) as change:
        writing.must_restore(principal, change.memory)
        check_kept(change.memory)
        restore(change, principal)
    return change.memory


def memories_delete_learned(write: LedgerWrite, conversation: Conversation) -> tuple[int, int]:
    """Delete memories learned only from a conversation, in the transaction that deletes the conversation.

    The caller holds the person's ledger lock. Reviewed and reworded memories stay, and those with evidence elsewhere.
    No suppression is added. Returns the numbers of deleted and kept memories.
    """
    said = Message.objects.filter(conversation=conversation)
    memories = list(learned_from(conversation.user_id, Q(message__in=said)).without_vectors().order_by("pk"))
    for proposal in Proposal.objects.waiting().filter(source_conversation=conversation, agent__isnull=True):
        if proposal.kind != Proposal.Kind.CREATE:
            end(proposal, Proposal.State.LAPSED, timezone.now())
            log_proposal(write, "LAPSE", proposal)
    found = Memory.objects.filter(user_id=conversation.user_id, versions__evidence__message__in=said)
    stay = found.distinct().count() - len(memories)
    _remove(write, conversation.user_id, memories)
    return len(memories), stay


def memories_remove_imported(principal: Principal, import_id: UUID, most: int) -> int:
    """Delete unchanged memories of an import. Returns how many.

    No suppression is added, so they can be imported again. Raises NotAllowed without the scope write.
    """
    user_id = accounts_policy.must_write(principal)
    with ledger_write(principal.actor, user_id) as write:
        memories = list(queries.unchanged_imported(user_id, import_id).without_vectors().order_by("pk")[:most])
        _remove(write, user_id, memories)
    return len(memories)


def _remove(write: LedgerWrite, user_id: UUID, memories: Sequence[Memory]) -> None:
    """Delete memories permanently, in the caller's transaction."""
    for memory in memories:
        if memory.state == State.ACTIVE:
            with memory_changing(write, memory) as change:
                change.leave(State.QUARANTINED)  # Updates the person's counts; the row is deleted next.
        write.change(user_id, "PURGE", "memory", memory.pk, old_version=memory.version)
    erase(MEMORY, [memory.pk for memory in memories])


def learned_from(user_id: UUID, said: Q) -> MemoryQuerySet:
    """Return unreviewed memories worded by a job of which all evidence meets the condition."""
    own = Memory.objects.filter(user_id=user_id)
    borne_out = MemoryEvidence.objects.filter(version__user_id=user_id)
    elsewhere = borne_out.exclude(said).values("version__memory")
    by_others = MemoryVersion.objects.filter(user_id=user_id).exclude(actor_kind=ActorKind.JOB).values("memory")
    return (
        own.filter(reviewed_at__isnull=True, pinned=False)
        .filter(state__in=[State.PROPOSED, State.ACTIVE, State.QUARANTINED])
        .filter(pk__in=borne_out.filter(said).values("version__memory"))
        .exclude(pk__in=elsewhere)
        .exclude(pk__in=by_others)
    )


# --- Transitions of a locked memory -----------------------------------------------------------------------------------


def approve_so(change: MemoryWrite, principal: Principal, filing: Mapping[str, Any], text: Embedded | None) -> None:
    """Approve a locked memory with the person's changes.

    ``filing`` may contain category and subject; without a text the wording stays. Raises Refused (400) for a subject
    of a field, Conflict (409 ``wrong_state``) if it has expired.
    """
    memory = change.memory
    if memory.state == State.PROPOSED:
        _must_be_in_time(change)
    changed = {name: value for name, value in filing.items() if getattr(memory, name) != value}
    meta: dict[str, Any] = {"changed": sorted(changed)} if changed else {}
    set_filing(change, principal, changed)
    if text is not None and text.content != memory.content:
        suppression_check(change.write, memory.user_id, text, own_word=principal.speaks_as_person)
        wording = change.worded(principal, text)
        memory.state_reason = ""  # A new wording is not the one that resembled a rejected memory.
        rev = change.reword(wording, "APPROVE", written_by=author(principal), correction=True, **meta)
        settle_approval(change, rev)
        relink(change, principal, text)
    elif changed or memory.state == State.PROPOSED or memory.reviewed_at is None or _is_in_question(memory):
        approve(change, **meta)
    memory.needs_check = False


def _is_in_question(memory: Memory) -> bool:
    """Whether it is marked as a possible duplicate or as possibly out of date."""
    return memory.needs_check or Doubt.objects.open_of(memory.user_id, "memory").filter(object_id=memory.pk).exists()


def _must_be_in_time(change: MemoryWrite) -> None:
    """Raise Conflict if the proposal has expired, also if its row is not deleted yet."""
    creates = Proposal.objects.waiting().filter(memory=change.memory, kind=Proposal.Kind.CREATE)
    if creates.filter(expires_at__lte=change.now).exists():
        lapsed = Proposal.State.LAPSED
        raise Conflict(_("This memory is %(lapsed)s.") % {"lapsed": _(lapsed)}, code="wrong_state", state=lapsed)


def approve(change: MemoryWrite, *, reviewed: bool = True, **meta: Any) -> None:
    """Activate a memory or mark it as reviewed. ``reviewed`` is False unless the person decided."""
    settle_approval(change, change.log("APPROVE", **meta), reviewed=reviewed)


def settle_approval(change: MemoryWrite, rev: int, *, reviewed: bool = True) -> None:
    """Activate a memory whose approval has its revision, and archive what it replaces."""
    if change.memory.state != State.ACTIVE:
        resemblance_lift(change)
        _make_room(change)
        end_create(change, Proposal.State.APPROVED)
    change.activate(rev, reviewed=reviewed)


def _make_room(change: MemoryWrite) -> None:
    memory = change.memory
    superseded = Memory.objects.active().filter(
        relations_to__from_memory=memory, relations_to__type=Relation.Type.SUPERSEDES
    )
    others = {other.pk: other for other in superseded.without_vectors()}
    holder = queries.holder(memory.user_id, memory.field)
    if holder is not None and holder.pk not in others:
        others[holder.pk] = holder
        change.supersede(holder.pk)
    for other in others.values():
        displace(change.write, other)


def displace(write: LedgerWrite, memory: Memory) -> None:
    """Archive a memory that another one replaces."""
    with memory_changing(write, memory) as change:
        archive(change, Why.REPLACED)


def archive(change: MemoryWrite, why: str, *, event: str = "DELETE", withholds: bool = True, **meta: Any) -> None:
    """Archive a memory. It can be restored until it is purged.

    If the person archives it, its source words are withheld, unless the caller does that (``withholds=False``).
    """
    memory = change.memory
    meta |= {"why": why} | ({} if memory.state == State.ACTIVE else {"was": memory.state})
    if memory.state == State.PROPOSED:
        end_create(change, Proposal.State.REJECTED if why == Why.PERSON else Proposal.State.LAPSED)
    if why == Why.PERSON:
        change.suppress()
        signals_forget(memory.user_id, [memory])
    change.leave(State.ARCHIVED, why, reason=memory.state_reason)
    change.log(event, **meta)
    if why == Why.PERSON and withholds:
        withhold(change.write, memory.user_id, [memory.pk])


def refuse(change: MemoryWrite, reason: RejectionReason) -> None:
    """Apply the person's rejection to a locked memory. What rests on the same evidence may be out of date then."""
    reject(change, Why.REJECTED, change.memory.state_reason or reason.label)
    if reason == RejectionReason.DONT_KEEP:
        withhold(change.write, change.memory.user_id, [change.memory.pk])
    else:
        change.doubt_dependents()


def reject(change: MemoryWrite, why: str, reason: str) -> None:
    """Reject and suppress a memory. ``reason`` is a sentence shown to the person."""
    memory = change.memory
    was = state_before(memory) if memory.state == State.ARCHIVED else memory.state
    meta: dict[str, Any] = {} if was == State.ACTIVE else {"was": was}
    end_create(change, Proposal.State.REJECTED)
    change.suppress()
    signals_forget(memory.user_id, [memory])
    change.leave(State.REJECTED, why, reason=reason or memory.state_reason)
    change.log("REJECT", **meta)
    summaries_follow([memory.pk])


def restore(change: MemoryWrite, principal: Principal) -> None:
    """Restore an archived or rejected memory: active, or proposed.

    A memory that was quarantined becomes quarantined again. Raises Gated (422 ``rejected_before``), Conflict (409
    ``similar_exists``, ``field_exists``).
    """
    memory, decides, before = change.memory, principal.decides_what_returns, state_before(change.memory)
    resembles = "" if decides else resemblance_check(change, principal) or check_beside(principal, memory)
    waits = not decides and (before == State.PROPOSED or bool(resembles))
    held_back = before == State.QUARANTINED
    must_fit(principal, memory, active=not waits and not held_back)
    if decides:
        words_restore(change.write, memory.user_id, "memory", [memory.pk])
        unsuppress(change)
    if memory.expires_at is not None and memory.expires_at <= change.now:
        memory.expires_at = None
    if held_back:
        change.leave(State.QUARANTINED, reason=memory.state_reason)
        change.log("RESTORE", held_back=True)
    elif waits:
        wait_again(change, resembles)
    else:
        change.activate(change.log("RESTORE"), reviewed=decides)


def wait_again(change: MemoryWrite, reason: str = "", **meta: Any) -> None:
    """Change a memory to proposed, for a reason other than the review preference."""
    change.leave(State.PROPOSED, reason=reason)
    change.memory.reviewed_at = None
    change.log("RESTORE", waits=True, **meta)
    propose_create(change)


def await_decision(change: MemoryWrite, reason: str) -> None:
    """Change an unreviewed memory to proposed, for a reason found later."""
    memory = change.memory
    if memory.state == State.ACTIVE:
        change.leave(State.PROPOSED, reason=reason)
        change.log("PROPOSE")
        propose_create(change)
    else:
        memory.state_reason = reason


def state_before(memory: Memory) -> str:
    """Return the state of a memory before it was archived or rejected."""
    return states_before(memory.user_id, [memory]).get(memory.pk, State.ACTIVE)


def states_before(user_id: UUID, memories: Sequence[Memory]) -> dict[str, str]:
    """Return the states of memories before they were archived or rejected, in one statement."""
    left = Change.objects.of_owner(user_id).filter(object_type="memory", event__in=_LEAVING)
    left = left.filter(object_id__in=[memory.pk for memory in memories]).order_by("object_id", "-rev")
    rows = left.distinct("object_id").values_list("object_id", "meta")
    return {memory_id: str(meta.get("was", State.ACTIVE)) for memory_id, meta in rows}


def must_fit(principal: Principal, memory: Memory, *, active: bool) -> None:
    """Raise Conflict if the person has an equal memory, or another value of the field."""
    twin = queries.same_words(principal, memory.user_id, memory.kind, memory.content, memory.subject)
    if twin is not None and not memory.verbatim:
        raise Conflict(_("You have this memory again already."), code="similar_exists", memory=writing.brief(twin))
    holder = queries.holder(memory.user_id, memory.field) if active else None
    if holder is not None:
        raise Conflict(
            _("Another memory holds the field %(field)s now.") % {"field": memory.field},
            code="field_exists",
            **queries.in_the_way(principal, holder),
        )

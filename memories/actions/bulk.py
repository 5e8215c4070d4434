"""Many memories at once, under one lock: put away, or decided about and that taken back.

Putting away takes as many statements for a thousand as for one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, NotFound, NotYoursToDecide, Refused
from journal.models import Change
from journal.records import DONE, BulkResult

from ..models import Memory, Proposal
from ..policy import writing
from ..policy.writing import State, Why
from ..querysets import MemoryQuerySet, statement
from ..records import BulkItem, BulkOutcome
from .deciding import approve_so
from .moving import bring_back, displaced_by, put_away, reject, wait_again
from .proposing import propose_archives
from .single import MemoryWrite, author, memory_changing, memory_under_lock

BULK_LIMIT = 1_000

_PRESENT = {State.PROPOSED, State.ACTIVE, State.QUARANTINED}
_GONE = {State.ARCHIVED, State.REJECTED}
# The states that a decision starts from, and the standings that it leaves a memory in.
_FROM: dict[str, tuple[set[State], set[str]]] = {
    "approve": ({State.PROPOSED, State.ACTIVE}, {"reviewed"}),
    "reject": (_PRESENT, {State.REJECTED}),
    "archive": (_PRESENT, {State.ARCHIVED}),
    "restore": (_GONE, {"reviewed", State.QUARANTINED}),
    "pin": ({State.PROPOSED, State.ACTIVE}, {State.PROPOSED, "waiting", "reviewed"}),
    "unpin": ({State.PROPOSED, State.ACTIVE}, {State.PROPOSED, "waiting", "reviewed"}),
}
BULK_DECISIONS = tuple(_FROM)


def memories_delete(principal: Principal, ids: Sequence[str]) -> list[BulkItem]:
    """Put up to ``BULK_LIMIT`` memories away in one transaction, and say of each id, in order, what became of it.

    Each goes as ``memory_archive`` would have it. Raises NotAllowed, Refused (400 ``too_many``).
    """
    user_id = accounts_policy.must_remember(principal)
    if len(ids) > BULK_LIMIT:
        raise Refused(f"Name at most {BULK_LIMIT} memories at once.", code="too_many")
    own_word = writing.speaks_as_person(principal)
    goes = {State.ACTIVE, State.PROPOSED} | ({State.QUARANTINED} if own_word else set())
    outcomes: dict[str, BulkOutcome] = {}
    with ledger_write(principal.actor, user_id) as write:
        going, asked = [], []
        for memory in narrow(Memory.objects.visible_to(principal).filter(pk__in=set(ids))):
            if memory.state not in goes:
                outcomes[memory.pk] = "skipped"
            elif memory.state == State.ACTIVE and writing.waits(principal, memory.field):
                outcomes[memory.pk] = "proposed"
                asked.append(memory)
            else:
                outcomes[memory.pk] = "archived"
                going.append(memory)
        archive_many(write, user_id, _as_named(going, ids), Why.PERSON if own_word else Why.AGENT)
        if asked:
            propose_archives(write, principal, _as_named(asked, ids), written_by=author(principal))
        write.result("memory", *(memory_id for memory_id in outcomes if outcomes[memory_id] != "skipped"))
    return [BulkItem(memory_id, outcomes.get(memory_id, "not_found")) for memory_id in ids]


def archive_many(
    write: LedgerWrite,
    user_id: UUID,
    memories: Sequence[Memory],
    why: str,
    *,
    event: str = "DELETE",
    meta_of: Callable[[Memory], dict[str, Any]] = lambda memory: {},
) -> None:
    """Archive memories of one person whose ledger is locked, each with a revision, in the order given.

    ``meta_of`` says what is logged of each beside that.
    """
    if not memories:
        return
    now, ids = timezone.now(), [memory.pk for memory in memories]
    if why == Why.PERSON:
        with connection.cursor() as cursor:
            cursor.execute(statement("bury"), {"user": str(user_id), "ids": ids, "now": now})
    Memory.objects.filter(pk__in=ids).update(
        state=State.ARCHIVED,
        active_rev=None,
        deleted_at=now,
        deleted_why=why,
        purge_at=now + timedelta(days=settings.ARCHIVE_DAYS),
        updated_at=now,
    )
    ended = Proposal.State.REJECTED if why == Why.PERSON else Proposal.State.LAPSED
    if any(memory.state == State.PROPOSED for memory in memories):
        creates = Proposal.objects.waiting().filter(memory__in=ids, kind=Proposal.Kind.CREATE)
        creates.update(state=ended, decided_at=now)
    for memory in memories:
        was: dict[str, Any] = {} if memory.state == State.ACTIVE else {"was": memory.state}
        meta = {"why": why, **was, **meta_of(memory)}
        write.change(user_id, event, "memory", memory.pk, new_version=memory.version, **meta)
    active = [memory for memory in memories if memory.state == State.ACTIVE]
    write.count(
        user_id,
        memories=-len(active),
        memory_terms=-sum(memory.search_length for memory in active),
        block_tokens=-sum(memory.tokens for memory in active if memory.in_block),
    )


def narrow(rows: MemoryQuerySet) -> MemoryQuerySet:
    """The columns that deciding about many and archiving them need."""
    columns = ("id", "user_id", "state", "version", "field", "tokens", "in_block", "search_length")
    return rows.only(*columns, "reviewed_at", "needs_check", "pinned", "deleted_why")


def _as_named(memories: Sequence[Memory], ids: Sequence[str]) -> list[Memory]:
    """In the order in which the caller named them."""
    by_id = {memory.pk: memory for memory in memories}
    return [by_id[memory_id] for memory_id in dict.fromkeys(ids) if memory_id in by_id]


# --- The person's decisions ---------------------------------------------------------------------------------------


def memories_weigh(principal: Principal, wanted: Mapping[str, int | None], decision: str) -> BulkResult[str]:
    """Say what ``memories_decide`` would do, and change nothing. Raises as it does."""
    _check(principal, wanted, decision)
    return BulkResult(_weighed(wanted, _read(principal, wanted), decision))


def memories_decide(
    principal: Principal, wanted: Mapping[str, int | None], decision: str, *, reason: str = ""
) -> BulkResult[str]:
    """Carry out one decision of the person about many memories: approve, reject, archive, restore, pin or unpin.

    ``wanted`` holds the version that the person saw by the memory's id, or None for whichever it has. What can't be
    done is left out and counted, never a reason to stop. Everything happens in one transaction, under one lock, with
    consecutive revisions, those of memories that make room or give way included.

    Codes of what was left out: ``not_there``, ``changed`` (another wording since), ``nothing_to_do`` (it stands so
    already), ``wrong_state``, and for what is restored ``similar_exists`` and ``field_exists``. Raises
    NotYoursToDecide, Refused (400 ``unknown_decision``, ``too_many``), Gated (422, for the reason; ``budget`` when
    pinned ones alone have no room).
    """
    user_id = _check(principal, wanted, decision)
    because = writing.clean_reason(reason)
    with ledger_write(principal.actor, user_id) as write:
        first = write.ledgers[user_id].rev + 1
        memories = _read(principal, wanted)
        outcomes = _weighed(wanted, memories, decision)
        going = [memory for memory in memories if outcomes[memory.pk] == DONE]
        if decision == "archive":
            archive_many(write, user_id, going, Why.PERSON, meta_of=lambda memory: _meta(memory, decision))
        else:
            for memory in going:
                outcomes[memory.pk] = _decide(principal, write, memory.pk, decision, because)
        result = BulkResult.between(outcomes, first, write.ledgers[user_id].rev)
        write.result("memory", *result.ids)
    return result


def memories_undo(principal: Principal, first_rev: int, last_rev: int) -> BulkResult[str]:
    """Take a ``memories_decide`` back, by the revisions that it took: each memory stands as it stood before.

    What gave way to an approved one is back too. A memory that has changed since is left as it is and counted. Raises
    NotYoursToDecide, NotFound when those revisions of the person hold no such decision, Gated (422 ``budget``).
    """
    user_id = _must_be_person(principal)
    log = Change.objects.of_owner(user_id).filter(object_type="memory", meta__has_keys=["bulk", "stood"])
    # As many as one call can have made, whatever range an address names.
    steps = {each.object_id: each for each in log.filter(rev__range=(first_rev, last_rev)).order_by("rev")[:BULK_LIMIT]}
    if not steps:
        raise NotFound("There is nothing to take back.")
    with ledger_write(principal.actor, user_id) as write:
        first = write.ledgers[user_id].rev + 1
        # The last one first, so that what gave way to another finds its place free.
        outcomes = {memory_id: _put_back(principal, write, steps[memory_id]) for memory_id in reversed(steps)}
        return BulkResult.between(outcomes, first, write.ledgers[user_id].rev)


def _must_be_person(principal: Principal) -> UUID:
    """Whoever decides about many at once is the person: a service that may decide words nothing for them."""
    user_id = accounts_policy.must_decide(principal)
    if not writing.speaks_as_person(principal):
        raise NotYoursToDecide
    return user_id


def _check(principal: Principal, wanted: Mapping[str, int | None], decision: str) -> UUID:
    user_id = _must_be_person(principal)
    if decision not in _FROM:
        raise Refused(f"A decision about many memories is one of {', '.join(_FROM)}.", code="unknown_decision")
    if len(wanted) > BULK_LIMIT:
        raise Refused(f"At most {BULK_LIMIT} memories are decided about at once.", code="too_many")
    return user_id


def _read(principal: Principal, wanted: Mapping[str, object]) -> list[Memory]:
    rows = Memory.objects.visible_to(principal).filter(pk__in=list(wanted))
    return list(narrow(rows).order_by("created_at", "id"))


def _weighed(wanted: Mapping[str, int | None], memories: Sequence[Memory], decision: str) -> dict[str, str]:
    """By memory, in a lasting order: what the decision would come to."""
    outcomes = {memory.pk: _outcome(memory, wanted[memory.pk], decision) for memory in memories}
    return outcomes | {memory_id: "not_there" for memory_id in wanted if memory_id not in outcomes}


def _outcome(memory: Memory, seen: int | None, decision: str) -> str:
    states, leads_to = _FROM[decision]
    if memory.state not in states:
        return "nothing_to_do" if writing.standing(memory) in leads_to else "wrong_state"
    if seen is not None and seen != memory.version:
        return "changed"
    stands_so = {
        "approve": writing.standing(memory) == "reviewed" and not memory.needs_check,
        "pin": memory.pinned,
        "unpin": not memory.pinned,
    }
    return "nothing_to_do" if stands_so.get(decision) else DONE


def _meta(memory: Memory, decision: str) -> dict[str, Any]:
    """What is logged so that the decision can be taken back."""
    doubtful = {"doubtful": True} if decision == "approve" and memory.needs_check else {}
    why = {"before": memory.deleted_why} if memory.deleted_why else {}
    return {"bulk": decision, "stood": writing.standing(memory), **doubtful, **why}


def _decide(principal: Principal, write: LedgerWrite, memory_id: str, decision: str, reason: str) -> str:
    rows = Memory.objects.visible_to(principal)
    try:
        with memory_under_lock(write, rows, memory_id) as change:
            # One before it may have taken its place or its room.
            outcome = _outcome(change.memory, None, decision)
            if outcome == DONE:
                change.meta = _meta(change.memory, decision)
                _carry_out(change, principal, decision, reason)
    except Conflict as error:
        return error.code
    return outcome


def _carry_out(change: MemoryWrite, principal: Principal, decision: str, reason: str) -> None:
    if decision == "approve":
        approve_so(change, principal, {}, None)
    elif decision == "reject":
        reject(change, Why.REJECTED, reason)
    elif decision == "restore":
        bring_back(change, principal, reviewed=True)
    else:
        _pin(change, decision == "pin")


def _pin(change: MemoryWrite, pinned: bool) -> None:
    change.memory.pinned = pinned
    change.log("PIN", pinned=pinned)


def _put_back(principal: Principal, write: LedgerWrite, step: Change) -> str:
    displaced: list[Memory] = []
    rows = Memory.objects.visible_to(principal)
    try:
        with memory_under_lock(write, rows, step.object_id) as change:
            memory, decision = change.memory, step.meta["bulk"]
            moved = memory.version != step.new_version or writing.standing(memory) not in _FROM[decision][1]
            if moved or (decision in {"pin", "unpin"} and memory.pinned != (decision == "pin")):
                return "changed"
            change.meta = {"undo": True}
            if decision == "approve" and step.meta["stood"] == State.PROPOSED:
                displaced = displaced_by(memory)
            _stand_again(change, principal, step)
        for other in displaced:
            with suppress(Conflict), memory_changing(write, other) as change:
                bring_back(change, principal, reviewed=False)
    except NotFound:
        return "not_there"
    except Conflict as error:
        return error.code
    return DONE


def _stand_again(change: MemoryWrite, principal: Principal, step: Change) -> None:
    """Let a memory stand as it stood. Raises Conflict before anything of it was changed."""
    memory, decision, stood = change.memory, step.meta["bulk"], step.meta["stood"]
    if decision in {"reject", "archive"}:
        bring_back(change, principal, reviewed=False, waits=stood == State.PROPOSED)
    elif decision == "restore" and stood == State.REJECTED:
        reject(change, step.meta["before"], "")
    elif decision == "restore":
        put_away(change, step.meta["before"])
    elif decision == "approve" and stood == State.PROPOSED:
        wait_again(change)
    elif decision == "approve":
        memory.reviewed_at = None if stood == "waiting" else memory.reviewed_at
        change.log("RESTORE", waits=True)
    else:
        _pin(change, decision == "unpin")
    memory.needs_check = memory.needs_check or step.meta.get("doubtful", False)

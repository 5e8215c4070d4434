"""Remembering something new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict
from language.base import Comparison
from language.offline.third_person import in_third_person
from retrieval.text import detect_config

from .. import queries
from ..models import Memory, Proposal
from ..policy import admit, check_form, check_third_person, writing
from ..policy.bands import Band, Neighbour, Thresholds, nearest_band
from ..policy.writing import State
from ..records import NewMemory, Outcome, Said
from ..wording import Embedded, Wording
from .moving import approve, displace
from .proposing import propose_change, propose_create
from .single import Beginning, author, insert, memory_changing, relink
from .tombstones import tombstone_pass
from .uses import memories_used


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """Something to be remembered that passed the gates that need no database, with all that is derived from it.

    With ``held_back`` it will be quarantined for that reason. ``written_by`` names whose wording it is, empty for the
    person's own.
    """

    new: NewMemory
    text: Embedded
    wording: Wording
    held_back: str
    written_by: str


@dataclass(frozen=True, slots=True)
class Manner:
    """How something is to be remembered.

    ``own_word``: the person words it themselves. ``insist``: beside what is about the same subject or similar.
    ``consent``: the person's own words ask for it, so it doesn't wait and lifts a tombstone. ``verdicts`` say by the
    wording of a neighbour what the new statement is to it; with them a new wording or a contradiction of a neighbour is
    carried out, without them the caller is told of the neighbour. ``among_others``: the caller remembers more in the
    same transaction, and relates all of it by ``memories_relate`` at its end.
    """

    own_word: bool = False
    insist: bool = False
    consent: bool = False
    verdicts: Mapping[str, Comparison] | None = None
    among_others: bool = False


def memory_add(
    principal: Principal,
    new: NewMemory,
    *,
    insist: bool = False,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> Outcome:
    """Remember something, for the person or for an agent that writes for them.

    The person's own words are active and reviewed, and lift a tombstone. An agent's pass every gate; they wait while
    the person reviews before, and always when they set a ``field``. What is remembered already in these or nearly
    these words is reinforced. ``message_id`` is the message that says it, in ``conversation_id``.

    Raises NotAllowed (403 ``category_not_allowed``, ``memory_off``), NotFound (conversation or message), Refused (400),
    Gated (422), Conflict (409 ``subject_exists`` or ``similar_exists`` with ``memory``, unless ``insist``;
    ``external_id_exists``).
    """
    user_id = accounts_policy.must_remember(principal)
    admitted, held_back = admit_new(principal, new, timezone.now())
    source = queries.read_source(principal, conversation_id, message_id)
    text = Embedded.of(admitted.content)
    written_by = author(principal)
    prepared = prepare_new(principal, user_id, admitted, text, written_by=written_by, held_back=held_back)
    manner = Manner(own_word=writing.speaks_as_person(principal), insist=insist)
    with ledger_write(principal.actor, user_id) as write:
        outcome = record_new(
            write, principal, prepared, manner, conversation_id=source.conversation_id, said=source.said
        )
        status = {"created": 201, "reinforced": 200}.get(outcome.outcome, 202)
        write.result("memory", outcome.memory.pk, status_code=status)
    return outcome


def admit_new(principal: Principal, new: NewMemory, now: datetime) -> tuple[NewMemory, str]:
    """Pass something to be remembered through the gates that need no database.

    Returns it as it will be stored, and why it is held back, if it is. What an agent words in the first person is put
    in the third. Raises NotAllowed, Refused (400), Gated (422).
    """
    own_word = writing.speaks_as_person(principal)
    filed = writing.clean(principal, new, now)
    admitted = admit(filed.content, own_word=own_word, longest=writing.longest(filed.kind))
    content = admitted.content
    if not own_word and not admitted.held_back and detect_config(content) in writing.READ_AS_ENGLISH:
        content = check_form(in_third_person(content), longest=writing.longest(filed.kind))
        check_third_person(content)
    return replace(filed, content=content), admitted.held_back


def prepare_new(
    principal: Principal, user_id: UUID, admitted: NewMemory, text: Embedded, *, written_by: str, held_back: str = ""
) -> PreparedMemory:
    """Derive what is stored beside something that was admitted; ``text`` is its content with the vector."""
    wording = text.worded(principal, user_id, admitted.subject)
    return PreparedMemory(admitted, text, wording, held_back, written_by[:80])


def record_new(
    write: LedgerWrite,
    principal: Principal,
    prepared: PreparedMemory,
    manner: Manner,
    *,
    conversation_id: UUID | None = None,
    said: Sequence[Said] = (),
) -> Outcome:
    """Store what was prepared, or find it remembered already, inside a transaction that holds the person's ledger.

    Raises Gated (422 ``rejected_before``, ``budget``), Conflict (409 ``external_id_exists``; without ``verdicts``
    ``subject_exists`` and ``similar_exists``).
    """
    return _Recording(write, principal, prepared, manner, conversation_id, said).run()


@dataclass(frozen=True, slots=True)
class _Recording:
    """What storing one new memory works on."""

    write: LedgerWrite
    principal: Principal
    prepared: PreparedMemory
    manner: Manner
    conversation_id: UUID | None
    said: Sequence[Said]

    @property
    def user_id(self) -> UUID:
        return accounts_policy.must_act_for(self.principal)

    @property
    def settled(self) -> bool:
        """Whether the person's asking for it is all the review that it needs."""
        return writing.settles_review(self.principal, self.manner.consent)

    def run(self) -> Outcome:
        """The gates that need the database, in their order, then the band, then the rows."""
        new, wording = self.prepared.new, self.prepared.wording
        self.check_external_id()
        twin = queries.same_words(self.principal, self.user_id, new.kind, wording.content, new.subject)
        if twin is not None:
            return self.reinforce(twin)
        # What is held back may not be what the person asked for: it lifts nothing.
        by_word = self.manner.own_word or (self.manner.consent and not self.prepared.held_back)
        tombstone_pass(self.write, self.user_id, self.prepared.text, own_word=by_word)
        if not self.prepared.held_back:
            self.check_subject()
        around = self.around()
        band, nearest = nearest_band(wording.content, around, Thresholds.of(new.field), self.manner.verdicts)
        if nearest is None or self.manner.own_word or self.prepared.held_back:
            return self.create(around, doubtful=band > Band.NEW)
        if band == Band.REINFORCE:
            return self.reinforce(self.read(nearest))
        if band in {Band.UPDATE, Band.RECREATE} and not writing.single_valued(new.field):
            return self.change(around, band, nearest)
        return self.create(around, doubtful=band > Band.NEW)

    def check_external_id(self) -> None:
        """Refuse a client's own id that it has used before."""
        new = self.prepared.new
        taken = queries.taken_external_id(self.user_id, self.principal.agent_id, new.external_id)
        if taken is not None:
            raise Conflict(
                "There is a memory with this external_id already.",
                code="external_id_exists",
                **queries.in_the_way(self.principal, taken),
                state=taken.state,
            )

    def check_subject(self) -> None:
        """Tell an agent of the memory about the same subject, which it may mean to update."""
        new = self.prepared.new
        if self.manner.insist or self.manner.verdicts is not None or new.field or not new.subject:
            return
        same = queries.same_subject(self.principal, new.category, new.subject)
        if same is not None:
            raise Conflict(
                f"There is a memory about {same.subject} already. Update it, or insist on another.",
                code="subject_exists",
                memory=writing.brief(same),
            )

    def around(self) -> list[Neighbour]:
        """The neighbours of the new statement, nearest first."""
        new = self.prepared.new
        return queries.neighbours(self.principal, self.user_id, self.prepared.text, kind=new.kind, subject=new.subject)

    def read(self, neighbour: Neighbour) -> Memory:
        """The memory that a neighbour is."""
        return Memory.objects.without_vectors().get(pk=neighbour.memory_id)

    def reinforce(self, memory: Memory) -> Outcome:
        """Count what is remembered already as used and said once more; the person's own word settles its review.

        So does their asking for what only waits for them, but not for what is held back for staff.
        """
        with memory_changing(self.write, memory) as change:
            asked = self.manner.consent and memory.state != State.QUARANTINED
            unreviewed = memory.state != State.ACTIVE or memory.reviewed_at is None
            if unreviewed and (self.manner.own_word or (asked and (self.settled or memory.state != State.ACTIVE))):
                approve(change)
            change.add_evidence(self.said, self.conversation_id)
            memories_used([memory.pk], change.now)
        waiting = memory.state != State.ACTIVE
        return Outcome(
            "quarantined" if memory.state == State.QUARANTINED else "proposed" if waiting else "reinforced",
            memory,
            change.evicted,
        )

    def change(self, around: Sequence[Neighbour], band: Band, nearest: Neighbour) -> Outcome:
        """Carry out what a neighbour calls for, or tell the caller of it."""
        other = self.read(nearest)
        if self.manner.verdicts is None:
            if self.manner.insist:
                return self.create(around, doubtful=True)
            raise Conflict(
                "There is a similar memory already. Update it, or insist on another.",
                code="similar_exists",
                memory=writing.brief(other),
                contradicts=band == Band.RECREATE,
            )
        if other.state not in {State.ACTIVE, State.PROPOSED}:
            return self.create(around, doubtful=True)
        if band == Band.RECREATE:
            return self.create(around, doubtful=False, instead_of=other)
        return self.update(other)

    def update(self, memory: Memory) -> Outcome:
        """Give a memory this wording, or propose that."""
        said, conversation_id = self.said, self.conversation_id
        written_by = self.prepared.written_by
        if memory.state == State.ACTIVE and not self.manner.consent and writing.waits(self.principal, memory.field):
            values = {"content": self.prepared.wording.content}
            propose_change(
                self.write,
                self.principal,
                Proposal.Kind.UPDATE,
                memory,
                values,
                written_by=written_by,
                conversation_id=conversation_id,
                said=said,
            )
            return Outcome("proposed", memory)
        with memory_changing(self.write, memory) as change:
            change.reword(
                self.prepared.wording,
                "UPDATE",
                written_by=written_by,
                conversation_id=conversation_id,
                said=said,
                valid_from=self.prepared.new.valid_from,
            )
            memory.reviewed_at = change.now if self.settled else None
            relink(change, self.principal, self.prepared.text)
            memories_used([memory.pk], change.now)
        return Outcome("updated", memory, change.evicted)

    def create(self, around: Sequence[Neighbour], *, doubtful: bool, instead_of: Memory | None = None) -> Outcome:
        """Store a new memory, in place of what it contradicts or of the field's value until now."""
        beginning = self.beginning()
        replaced = [memory for memory in (instead_of, self.holder_but(instead_of)) if memory is not None]
        if beginning.state == State.ACTIVE:
            for other in replaced:
                displace(self.write, other)
        change = insert(self.write, self.new_row(doubtful), self.prepared.wording, beginning)
        if not self.manner.among_others:
            change.link(neighbour for neighbour in around if all(neighbour.memory_id != other.pk for other in replaced))
        for other in replaced:
            change.supersede(other.pk)
        if beginning.state == State.PROPOSED:
            propose_create(change)
        return Outcome(_OUTCOMES[beginning.state], change.memory, change.evicted)

    def beginning(self) -> Beginning:
        """Held back for staff, waiting for the person, or active."""
        own_word = self.manner.own_word
        if self.prepared.held_back:
            return Beginning(State.QUARANTINED, "QUARANTINE", reason=self.prepared.held_back, said=self.said)
        if not self.manner.consent and writing.waits(self.principal, self.prepared.new.field):
            return Beginning(State.PROPOSED, "PROPOSE", said=self.said)
        return Beginning(State.ACTIVE, "ADD", reviewed=own_word or self.settled, said=self.said)

    def holder_but(self, other: Memory | None) -> Memory | None:
        """The active memory of a field that has one value, unless it is the other one."""
        found = queries.holder(self.user_id, self.prepared.new.field)
        return None if found is None or found == other else found

    def new_row(self, doubtful: bool) -> Memory:
        """The memory as it is filed; its wording and its state come with the insert."""
        new = self.prepared.new
        return Memory(
            user_id=self.user_id,
            agent_id=self.principal.agent_id,
            kind=new.kind,
            category=new.category,
            field=new.field,
            subject=new.subject,
            topics=list(new.topics),
            importance=new.importance,
            pinned=new.pinned,
            external_id=new.external_id,
            run_id=new.run_id,
            actor_id=new.actor_id,
            role=new.role,
            valid_from=new.valid_from,
            valid_to=new.valid_to,
            expires_at=new.expires_at,
            written_by=self.prepared.written_by,
            source_conversation_id=self.conversation_id,
            needs_check=doubtful,
        )


_OUTCOMES: dict[str, Literal["created", "proposed", "quarantined"]] = {
    State.ACTIVE: "created",
    State.PROPOSED: "proposed",
    State.QUARANTINED: "quarantined",
}

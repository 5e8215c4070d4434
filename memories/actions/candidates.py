"""What becomes of new statements, decided one after the other under the person's ledger lock."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
from django.conf import settings
from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, write_part
from journal.exceptions import Conflict, Refused
from language.base import Vectors
from retrieval.vectors import unit_as_stored
from statements.actions import rejected_before, suppression_remove
from statements.policy.resembling import RESEMBLES

from ..models import Memory, Proposal
from ..policy import writing
from ..policy.bands import Band, Neighbour, Thresholds, nearest_band
from ..policy.writing import State
from ..records import Candidate, NewMemory, Outcome, WritePolicy
from ..surroundings import Surroundings, nearest_first, read_surroundings
from .budget import evictable_tokens, over_budget
from .inserting import InitialState, NewRow, memories_insert
from .proposing import propose_change, propose_creates
from .single import memory_changing, relink
from .transitions import approve, displace


def candidates_record(
    write: LedgerWrite, principal: Principal, candidates: Sequence[Candidate]
) -> list[Outcome | Refused]:
    """Store candidates in their order, or find them remembered already; says of each what became of it, or the error.

    What is refused has changed nothing. A number of statements for all of them, unless they change what is stored.

    Refusals are Gated (422 ``rejected_before``, ``budget``) and Conflict (409 ``external_id_exists``; without
    ``verdicts`` ``subject_exists`` and ``similar_exists``). Raises IdTaken.
    """
    return _Recording(write, principal, candidates).run()


@dataclass
class _Recording:
    """What storing candidates works on.

    ``rows`` are new memories that are not stored yet, and ``vectors`` theirs, so that candidates are compared with
    earlier ones of the same call. Whatever changes stored rows stores these first and makes what was read ``stale``.
    """

    write: LedgerWrite
    principal: Principal
    candidates: Sequence[Candidate]
    rows: list[NewRow] = field(default_factory=list)
    outcomes_of_rows: list[Outcome] = field(default_factory=list)
    stale: bool = False
    evictable: int | None = None

    def __post_init__(self) -> None:
        self.user_id = accounts_policy.must_act_for(self.principal)
        vectors = (each.prepared.text.vector for each in self.candidates)
        dimensions = next((len(vector) for vector in vectors if vector is not None), 0)
        self.vectors = np.zeros((len(self.candidates), dimensions))

    def run(self) -> list[Outcome | Refused]:
        """Decide about each candidate by what there is around it, and read that anew when it has changed."""
        outcomes: list[Outcome | Refused] = []
        read_ahead = len(self.candidates)
        while len(outcomes) < len(self.candidates):
            upcoming = self.candidates[len(outcomes) : len(outcomes) + read_ahead]
            self.stale, self.evictable = False, None
            around = read_surroundings(
                self.principal, self.user_id, [(each.prepared.new, each.prepared.text) for each in upcoming]
            )
            for candidate, here in zip(upcoming, around, strict=True):
                outcomes.append(self.try_one(candidate, here))
                if self.stale:
                    break
            # Where one change follows another, what is read ahead is read in vain.
            read_ahead = 1 if self.stale else read_ahead * 2
            if self.stale:
                self.store()
        self.store()
        return outcomes

    def try_one(self, candidate: Candidate, around: Surroundings) -> Outcome | Refused:
        """What becomes of a candidate, or why it is refused."""
        here = _Here(self, candidate, around)
        try:
            if not around.against.words:
                return here.decide()
            with self.changing_stored():
                return here.decide()
        except Refused as error:
            return error

    @contextmanager
    def changing_stored(self) -> Iterator[None]:
        """A part that changes stored rows: what is new is stored before, and what was read counts no longer after."""
        self.store()
        self.stale = True
        with write_part(self.write):
            yield

    def add(self, row: NewRow, vector: Vectors | None, outcome: Outcome) -> None:
        """Take up a new memory with its revision, to be stored with others."""
        row.take_rev(self.write)
        self.vectors[len(self.rows)] = unit_as_stored(vector) if vector is not None else 0.0
        self.rows.append(row)
        self.outcomes_of_rows.append(outcome)

    def store(self) -> None:
        """Store the new memories that were taken up, and make room for them."""
        if not self.rows:
            return
        evicted = memories_insert(self.write, self.rows)
        waiting = [row.memory for row in self.rows if row.memory.state == State.PROPOSED]
        if waiting:
            propose_creates(waiting, timezone.now())
        for row in self.rows:
            if row.memory.pk in evicted:
                row.memory.refresh_from_db(fields=["state", "deleted_at", "deleted_why", "purge_at", "active_rev"])
        self.outcomes_of_rows[-1].evicted.extend(evicted)
        self.rows, self.outcomes_of_rows, self.evictable = [], [], None

    def earlier(self, vector: Vectors | None, kind: str) -> Iterator[tuple[Memory, float]]:
        """The new memories of a kind that are not stored yet, each with its similarity to a vector."""
        if vector is None or not self.rows:
            return
        similarities = self.vectors[: len(self.rows)] @ unit_as_stored(vector)
        for row, similarity in zip(self.rows, similarities.tolist(), strict=True):
            if row.memory.kind == kind:
                yield row.memory, similarity

    def must_fit(self, memory: Memory, replaced: Sequence[Memory]) -> None:
        """Raise Gated (422 ``budget``) when nothing can make enough room in the block for an active memory."""
        block = self.write.ledgers[self.user_id].block_tokens
        if not memory.in_block or block + memory.tokens <= settings.MEMORY_BLOCK_TOKENS:
            return
        if self.evictable is None:
            self.evictable = evictable_tokens(self.user_id)
        new = sum(row.memory.tokens for row in self.rows if row.adds_to_block and not row.memory.pinned)
        freed = sum(other.tokens for other in replaced if other.in_block and other.pinned)
        needed = block - self.evictable - new - freed + memory.tokens
        if needed > settings.MEMORY_BLOCK_TOKENS:
            raise over_budget(needed)


@dataclass(frozen=True, slots=True)
class _Here:
    """One candidate among what there is around it, stored or new in the same call."""

    recording: _Recording
    candidate: Candidate
    around: Surroundings

    @property
    def new(self) -> NewMemory:
        """What is to be remembered."""
        return self.candidate.prepared.new

    @property
    def policy(self) -> WritePolicy:
        """How it is to be remembered."""
        return self.candidate.policy

    @property
    def settled(self) -> bool:
        """Whether the person's asking for it is all the review that it needs."""
        return writing.settles_review(self.recording.principal, self.policy.consent)

    def earlier(self) -> Iterator[Memory]:
        """New memories of this call that are not stored yet, the latest first."""
        return (row.memory for row in reversed(self.recording.rows))

    def decide(self) -> Outcome:
        """The gates that need the database, in their order, then the band, then the rows."""
        self.check_external_id()
        twin = self.twin()
        if twin is not None:
            return self.reinforce(twin)
        held_back = self.candidate.prepared.held_back
        self.check_suppressions()
        if not held_back:
            self.check_subject()
        near, content = self.neighbours(), self.candidate.prepared.wording.content
        band, nearest = nearest_band(content, near, Thresholds.of(self.new.field), self.policy.verdicts)
        if nearest is None or self.policy.own_word or held_back:
            return self.create(near, doubtful=band > Band.NEW)
        if band == Band.REINFORCE:
            return self.reinforce(self.read(nearest))
        if band in {Band.UPDATE, Band.RECREATE} and not writing.single_valued(self.new.field):
            return self.change(near, band, nearest)
        return self.create(near, doubtful=band > Band.NEW)

    def check_external_id(self) -> None:
        """Refuse a client's own id that it has used before."""
        wanted = self.new.external_id
        earlier = (memory for memory in self.earlier() if wanted and memory.external_id == wanted)
        taken = next(earlier, self.around.taken)
        if taken is not None:
            raise Conflict(
                "There is a memory with this external_id already.",
                code="external_id_exists",
                **({} if taken.pk in self.around.hidden else {"memory": writing.brief(taken)}),
                state=taken.state,
            )

    def twin(self) -> Memory | None:
        """The present memory with the same words about the same subject; an active one first, then the oldest."""
        known = (self.new.kind, self.candidate.prepared.wording.fingerprint)
        found = [memory for memory in self.earlier() if (memory.kind, memory.fingerprint) == known]
        found = [memory for memory in found if not writing.are_apart(memory.subject, self.new.subject)]
        both = [*self.around.twins, *found]
        return min(both, key=lambda memory: (memory.state != State.ACTIVE, memory.created_at), default=None)

    @property
    def by_word(self) -> bool:
        """Whether it is the person who says it. What is held back may not be what they asked for."""
        return self.policy.own_word or (self.policy.consent and not self.candidate.prepared.held_back)

    @property
    def resembles(self) -> str:
        """Why it waits for the person whatever it is: it may mean what they rejected. Empty when it doesn't."""
        return RESEMBLES if self.around.against.meaning and not self.by_word else ""

    def check_suppressions(self) -> None:
        """Let the person's own word lift what stands against it, and refuse anybody else's of the same words."""
        if not self.around.against.words:
            return
        if not self.by_word:
            raise rejected_before()
        texts = [self.candidate.prepared.text.content]
        suppression_remove(self.recording.write, self.recording.user_id, texts=texts)

    def check_subject(self) -> None:
        """Tell an agent of the memory about the same subject, which it may mean to update."""
        new = self.new
        if self.policy.insist or self.policy.verdicts is not None or new.field or not new.subject:
            return
        key = writing.subject_key(new.subject)
        earlier = (
            memory
            for memory in self.earlier()
            if key and (memory.state, memory.category) == (State.ACTIVE, new.category)
            if writing.subject_key(memory.subject) == key
        )
        same = next(earlier, self.around.same_subject)
        if same is not None:
            raise Conflict(
                f"There is a memory about {same.subject} already. Update it, or insist on another.",
                code="subject_exists",
                memory=writing.brief(same),
            )

    def neighbours(self) -> list[Neighbour]:
        """The neighbours of the new statement, nearest first."""
        found = [
            Neighbour(memory.pk, memory.content, similarity, writing.are_apart(memory.subject, self.new.subject))
            for memory, similarity in self.recording.earlier(self.candidate.prepared.text.vector, self.new.kind)
            if similarity >= settings.MEMORY_LINK_MIN_SIMILARITY
        ]
        both = sorted([*self.around.neighbours, *found], key=nearest_first)
        return both[: settings.MEMORY_NEIGHBOURS]

    def read(self, neighbour: Neighbour) -> Memory:
        """The memory that a neighbour is."""
        wanted = neighbour.memory_id
        stored = self.around.memories.get(wanted)
        return stored or next(memory for memory in self.earlier() if memory.pk == wanted)

    def reinforce(self, memory: Memory) -> Outcome:
        """Note that what is remembered already was said again; the person's own word settles its review.

        So does their asking for what only waits for them, but not for what is held back for staff.
        """
        asked = self.policy.consent and memory.state != State.QUARANTINED
        unreviewed = memory.state != State.ACTIVE or memory.reviewed_at is None
        settles = self.policy.own_word or (asked and (self.settled or memory.state != State.ACTIVE))
        evicted: list[str] = []
        if self.candidate.said or (unreviewed and settles):
            with self.recording.changing_stored(), memory_changing(self.recording.write, memory) as change:
                if unreviewed and settles:
                    approve(change)
                change.add_evidence(self.candidate.said, self.candidate.conversation_id)
            evicted = change.evicted
        outcome = "reinforced" if memory.state == State.ACTIVE else _OUTCOMES[memory.state]
        return Outcome(outcome, memory, evicted)

    def change(self, near: Sequence[Neighbour], band: Band, nearest: Neighbour) -> Outcome:
        """Carry out what a neighbour calls for, or tell the caller of it."""
        other = self.read(nearest)
        if self.policy.verdicts is None:
            if self.policy.insist:
                return self.create(near, doubtful=True)
            raise Conflict(
                "There is a similar memory already. Update it, or insist on another.",
                code="similar_exists",
                memory=writing.brief(other),
                contradicts=band == Band.RECREATE,
            )
        if other.state not in {State.ACTIVE, State.PROPOSED}:
            return self.create(near, doubtful=True)
        if band == Band.RECREATE:
            return self.create(near, doubtful=False, instead_of=other)
        with self.recording.changing_stored():
            return self.update(other)

    def update(self, memory: Memory) -> Outcome:
        """Give a memory this wording, or propose that."""
        write, prepared = self.recording.write, self.candidate.prepared
        principal = self.recording.principal
        written_by, said = prepared.written_by, self.candidate.said
        conversation_id = self.candidate.conversation_id
        if memory.state == State.ACTIVE and self.waits(memory.field):
            propose_change(
                write,
                principal,
                Proposal.Kind.UPDATE,
                memory,
                {"content": prepared.wording.content},
                written_by=written_by,
                conversation_id=conversation_id,
                said=said,
                reason=self.resembles,
            )
            return Outcome("proposed", memory)
        with memory_changing(write, memory) as change:
            change.reword(
                prepared.wording,
                "UPDATE",
                written_by=written_by,
                conversation_id=conversation_id,
                said=said,
                valid_from=self.new.valid_from,
            )
            memory.reviewed_at = change.now if self.settled else None
            memory.state_reason = self.resembles
            relink(change, principal, prepared.text)
        return Outcome("updated", memory, change.evicted)

    def create(self, near: Sequence[Neighbour], *, doubtful: bool, instead_of: Memory | None = None) -> Outcome:
        """Store a new memory, in place of what it contradicts or of the field's value until now."""
        recording, initial = self.recording, self.initial()
        replaced = [memory for memory in (instead_of, self.holder_but(instead_of)) if memory is not None]
        row = NewRow.of(self.new_memory(doubtful), self.candidate.prepared.wording, initial)
        if initial.state == State.ACTIVE:
            recording.must_fit(row.memory, replaced)
            if replaced:
                with recording.changing_stored():
                    for other in replaced:
                        displace(recording.write, other)
        if not self.policy.among_others:
            gone = {other.pk for other in replaced}
            row.relate([neighbour for neighbour in near if neighbour.memory_id not in gone])
        for other in replaced:
            row.supersede(other.pk)
        outcome = Outcome(_OUTCOMES[initial.state], row.memory)
        recording.add(row, self.candidate.prepared.text.vector, outcome)
        return outcome

    def initial(self) -> InitialState:
        """Held back for staff, waiting for the person, or active."""
        said, reason = self.candidate.said, self.candidate.prepared.held_back
        if reason:
            return InitialState(State.QUARANTINED, "QUARANTINE", reason=reason, said=said)
        if self.waits(self.new.field):
            return InitialState(State.PROPOSED, "PROPOSE", reason=self.resembles, said=said)
        return InitialState(State.ACTIVE, "ADD", reviewed=self.policy.own_word or self.settled, said=said)

    def waits(self, field: str) -> bool:
        """Whether it has to wait for the person, where it is or becomes a value of ``field``."""
        if self.resembles:
            return True
        return not self.policy.consent and writing.waits(self.recording.principal, field)

    def holder_but(self, other: Memory | None) -> Memory | None:
        """The active memory of a field that has one value, unless it is the other one."""
        if not writing.single_valued(self.new.field):
            return None
        earlier = (each for each in self.earlier() if (each.state, each.field) == (State.ACTIVE, self.new.field))
        found = next(earlier, self.around.holder)
        return None if found is None or found == other else found

    def new_memory(self, doubtful: bool) -> Memory:
        """The memory as it is filed; its wording and its state come with the row."""
        return Memory(
            user_id=self.recording.user_id,
            agent_id=self.recording.principal.agent_id,
            topics=list(self.new.topics),
            **{name: getattr(self.new, name) for name in _FILED},
            written_by=self.candidate.prepared.written_by,
            source_conversation_id=self.candidate.conversation_id,
            needs_check=doubtful,
        )


_FILED = [each.name for each in fields(NewMemory) if each.name not in {"content", "topics"}]
"""What a memory takes over as it is."""

_OUTCOMES: dict[str, Literal["created", "proposed", "quarantined"]] = {
    State.ACTIVE: "created",
    State.PROPOSED: "proposed",
    State.QUARANTINED: "quarantined",
}

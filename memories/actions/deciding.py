"""The decision about one candidate: the gates that need the database, then create, reinforce, update or refuse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.policy import rejected_before
from accounts.policy.names import told_by_labels
from journal.exceptions import Conflict
from statements.actions import completes_rejected, knows_rejected, suppression_remove, words_check
from statements.policy import HELD_BACK

from ..models import Memory, Proposal
from ..policy import beside, writing
from ..policy.bands import Band, Neighbour, Thresholds, nearest_band, value_of
from ..policy.writing import State
from ..records import Candidate, NewMemory, Outcome, WritePolicy
from ..surroundings import Surroundings, are_apart, nearest_first
from .inserting import InitialState, NewRow
from .proposing import propose_change, reason_to_keep
from .single import memory_changing, relink
from .transitions import approve, displace

if TYPE_CHECKING:
    from .candidates import Recording


@dataclass(frozen=True)
class CandidateDecision:
    """A candidate with its surroundings: similar memories, stored or added earlier in the same call.

    ``agreed``: it gives a tone or a goal that an earlier conversation gave, too.
    """

    recording: Recording
    candidate: Candidate
    around: Surroundings
    agreed: bool = False

    @property
    def new(self) -> NewMemory:
        """The memory to add."""
        return self.candidate.prepared.new

    @property
    def policy(self) -> WritePolicy:
        """The options of the write."""
        return self.candidate.policy

    def earlier(self) -> Iterator[Memory]:
        """Memories of this call that are not inserted yet, latest first."""
        return (row.memory for row in reversed(self.recording.rows))

    def decide(self) -> Outcome:
        """Apply the gates that need the database, classify against similar memories, and store."""
        self.check_external_id()
        twin = self.twin()
        if twin is not None:
            return self.reinforce(twin)
        held_back = self.candidate.prepared.held_back
        self.check_suppressions()
        carrier = self.carrier() if self.applies and not held_back else None
        return self.reinforce(carrier) if carrier is not None else self.place(bool(held_back))

    def place(self, held_back: bool) -> Outcome:
        """Replace, reinforce, update or create, according to the band of the nearest memories."""
        near, policy = self.neighbours(), self.policy
        band, inside = nearest_band(
            self.candidate.prepared.text.saying, near, Thresholds.of(self.new.field), policy.verdicts
        )
        against = [self.read(each) for each in inside] if band in {Band.RECREATE, Band.CONTRADICT} else []
        if band == Band.RECREATE and not held_back and (policy.verdicts is not None or not policy.insist):
            over = [memory for memory in against if memory.state in {State.ACTIVE, State.PROPOSED}]
            return self.create(near, doubtful=not over, instead_of=over)
        if policy.own_word or held_back:
            return self.create(near, doubtful=band > Band.NEW)
        if band == Band.REINFORCE:
            known = next((memory for memory in map(self.read, inside) if not self.lacks_what_held_back(memory)), None)
            return self.create(near, doubtful=True) if known is None else self.reinforce(known)
        self.check_subject()
        if band in {Band.UPDATE, Band.CONTRADICT} and not writing.single_valued(self.new.field):
            return self.change(near, band, inside[0], against)
        return self.create(near, doubtful=band > Band.NEW, against=against)

    @property
    def applies(self) -> bool:
        """Whether two agreeing signals suffice: not against a rejection or a reviewed value of the field."""
        holder = self.around.holder
        return self.agreed and not self.waiting_reason and (holder is None or holder.reviewed_at is None)

    def carrier(self) -> Memory | None:
        """Return the proposed memory with the same tone or goal, from the first signal."""
        waiting = Memory.objects.filter(
            user_id=self.recording.user_id, state=State.PROPOSED, field=self.new.field, state_reason=""
        )
        value = value_of(self.new.content)
        found = waiting.without_vectors().order_by("created_at", "pk")
        return next((memory for memory in found if value_of(memory.content) == value), None)

    def check_external_id(self) -> None:
        """Raise Conflict if the client's ``external_id`` is taken."""
        wanted = self.new.external_id
        earlier = (memory for memory in self.earlier() if wanted and memory.external_id == wanted)
        taken = next(earlier, self.around.taken)
        if taken is not None:
            raise Conflict(
                _("There is a memory with this external_id already."),
                code="external_id_exists",
                **({} if taken.pk in self.around.hidden else {"memory": writing.brief(taken)}),
                state=taken.state,
            )

    def twin(self) -> Memory | None:
        """Return a memory with the same words and subject: an active one first, then the oldest."""
        if self.new.verbatim:
            return None
        earlier = self.recording.of_words[self.new.kind, self.candidate.prepared.wording.fingerprint]
        found = [memory for memory in earlier if not writing.are_apart(memory.subject, self.new.subject)]
        both = [memory for memory in (*self.around.twins, *found) if not self.lacks_what_held_back(memory)]
        return min(both, key=lambda memory: (memory.state != State.ACTIVE, memory.created_at), default=None)

    def lacks_what_held_back(self, memory: Memory) -> bool:
        """Whether a gate holds back a memory for what this text lacks: it would wait as that memory, and be lost."""
        is_held = memory.state == State.QUARANTINED and memory.state_reason.startswith(HELD_BACK)
        return is_held and not self.candidate.prepared.held_back and memory.content != self.new.content

    @property
    def by_word(self) -> bool:
        """Whether it is the person's own word or request. A quarantined text may differ from what they asked for."""
        asked = self.policy.consent and not self.policy.relayed
        return self.policy.own_word or (asked and not self.candidate.prepared.held_back)

    @cached_property
    def waiting_reason(self) -> str:
        """Return why it must wait for the person, or ''.

        It resembles a rejected one, is no statement, they were asked about it and did not say yes, or it may set a
        personal field: as a document, or beside the content. Known after ``check_suppressions``, which may add a match.
        """
        if self.by_word:
            return ""
        principal, new, text = self.recording.principal, self.new, self.candidate.prepared.text
        filing = {"subject": new.subject, "topics": new.topics, "metadata": new.metadata}
        return (
            self.around.against.review_reason(text)
            or self.policy.waiting_reason
            or beside.reason_for_document(principal, new.content, new.subject, new.verbatim)
            or beside.reason_beside(principal, filing)
            or beside.reason_filed(principal, new.content, filing, text.statement)
        )

    def check_suppressions(self) -> None:
        """Lift suppressions of the same words if the person says it; raise Gated for others who may know of them."""
        if not self.by_word:
            new = self.new
            said = beside.said_beside(new.subject, new.topics, new.metadata)
            said += told_by_labels(new.external_id, new.run_id, new.actor_id, new.role)
            principal, user_id = self.recording.principal, self.recording.user_id
            read = self.candidate.prepared.text.beside
            if words_check(principal, user_id, said, read=read) or completes_rejected(user_id, self.new.content, said):
                self.around.against.near = True
        if not self.around.against.words:
            return
        if not self.by_word:
            if knows_rejected(self.recording.principal, self.recording.user_id, self.around.against.words):
                raise rejected_before()
            return
        texts = [self.candidate.prepared.text.content]
        suppression_remove(self.recording.write, self.recording.user_id, texts=texts)

    def check_subject(self) -> None:
        """Raise Conflict if an agent adds a memory about a subject that has one."""
        new = self.new
        if self.policy.insist or new.verbatim or self.policy.verdicts is not None or new.field or not new.subject:
            return
        key = writing.subject_key(new.subject)
        earlier = self.recording.of_subject.get((new.category, key)) if key else None
        same = earlier or self.around.same_subject
        if same is not None:
            raise Conflict(
                _("There is a memory about %(subject)s already. Update it, or insist on another.")
                % {"subject": same.subject},
                code="subject_exists",
                memory=writing.brief(same),
            )

    def neighbours(self) -> list[Neighbour]:
        """Return similar memories, nearest first."""
        found = [
            Neighbour(memory.pk, memory.content, similarity, are_apart(memory, self.new), saying)
            for memory, saying, similarity in self.recording.nearest(self.candidate.prepared.text.vector, self.new.kind)
        ]
        both = sorted([*self.around.neighbours, *found], key=nearest_first)
        return both[: settings.MEMORY_NEIGHBOURS]

    def read(self, neighbour: Neighbour) -> Memory:
        """Return the memory of a neighbour."""
        wanted = neighbour.memory_id
        stored = self.around.memory(wanted)
        return stored or next(memory for memory in self.earlier() if memory.pk == wanted)

    def reinforce(self, memory: Memory) -> Outcome:
        """Add evidence to an existing memory. The person's own word also approves it.

        So does their request if the memory only waits for them, but not if it is quarantined. A request that an agent
        reports does not approve a memory that resembles a rejected one.
        """
        asked = self.asked_for(memory.field or self.new.field) and memory.state != State.QUARANTINED
        asked = asked and not (self.policy.relayed and memory.state_reason)
        unreviewed = memory.state != State.ACTIVE or memory.reviewed_at is None
        settles = self.policy.own_word or (asked and (self.policy.settles_review or memory.state != State.ACTIVE))
        # Not if it waits for another reason, too: it may resemble a rejected one.
        agreed = self.applies and memory.state == State.PROPOSED and not memory.state_reason
        evicted: list[str] = []
        if self.candidate.said or (unreviewed and settles) or agreed:
            with self.recording.changing_stored(), memory_changing(self.recording.write, memory) as change:
                if unreviewed and (settles or agreed):
                    approve(change, reviewed=settles)
                change.add_evidence(self.candidate.said, self.candidate.conversation_id)
            evicted = change.evicted
        outcome = "reinforced" if memory.state == State.ACTIVE else _OUTCOMES[memory.state]
        return Outcome(outcome, memory, evicted)

    def change(self, near: Sequence[Neighbour], band: Band, nearest: Neighbour, against: Sequence[Memory]) -> Outcome:
        """Update the similar memory, create another one, or raise Conflict (409 ``similar_exists``)."""
        other = self.read(nearest)
        if self.policy.verdicts is None:
            if self.policy.insist:
                return self.create(near, doubtful=True, against=against)
            raise Conflict(
                _("There is a similar memory already. Update it, or insist on another."),
                code="similar_exists",
                memory=writing.brief(other),
                contradicts=band == Band.CONTRADICT,
            )
        if band == Band.CONTRADICT or other.state not in {State.ACTIVE, State.PROPOSED}:
            return self.create(near, doubtful=True, against=against)
        with self.recording.changing_stored():
            return self.update(other)

    def update(self, memory: Memory) -> Outcome:
        """Change a memory to the candidate's wording, or propose the change."""
        write, prepared = self.recording.write, self.candidate.prepared
        principal = self.recording.principal
        written_by, said = prepared.written_by, self.candidate.said
        conversation_id = self.candidate.conversation_id
        kept = self.reason_to_keep([memory])
        if memory.state == State.ACTIVE and (kept or self.waits(memory.field or self.new.field)):
            propose_change(
                write,
                principal,
                Proposal.Kind.UPDATE,
                memory,
                {"content": prepared.wording.content},
                written_by=written_by,
                conversation_id=conversation_id,
                said=said,
                reason=self.waiting_reason or kept,
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
            memory.reviewed_at = change.now if self.policy.settles_review else None
            memory.state_reason = self.waiting_reason
            relink(change, principal, prepared.text)
        return Outcome("updated", memory, change.evicted)

    def create(
        self,
        near: Sequence[Neighbour],
        *,
        doubtful: bool,
        instead_of: Sequence[Memory] = (),
        against: Sequence[Memory] = (),
    ) -> Outcome:
        """Queue a new memory. It replaces ``instead_of`` and the old value of its field, and denies ``against``."""
        recording, holder = self.recording, self.holder()
        replaced = [*instead_of, *([holder] if holder is not None and holder not in instead_of else [])]
        initial = self.initial([*replaced, *against])
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
        recording.add(row, self.candidate.prepared.text, outcome)
        return outcome

    def initial(self, replaced: Sequence[Memory]) -> InitialState:
        """Return the initial state of a memory that replaces or denies others: quarantined, proposed or active."""
        said, reason = self.candidate.said, self.candidate.prepared.held_back
        if reason:
            return InitialState(State.QUARANTINED, "QUARANTINE", reason=reason, said=said)
        kept = self.reason_to_keep(replaced)
        if kept or self.waits(self.new.field):
            return InitialState(State.PROPOSED, "PROPOSE", reason=self.waiting_reason or kept, said=said)
        return InitialState(State.ACTIVE, "ADD", reviewed=self.policy.own_word or self.policy.settles_review, said=said)

    def reason_to_keep(self, memories: Sequence[Memory]) -> str:
        """Return why the person must agree to a change of these memories, or ''."""
        return reason_to_keep(self.recording.principal, memories, self.policy)

    def waits(self, field: str) -> bool:
        """Whether it must wait for the person, as a value of ``field``."""
        if self.waiting_reason:
            return True
        settled = self.applies or self.asked_for(field)
        return not settled and writing.waits(self.recording.principal, field)

    def asked_for(self, field: str) -> bool:
        """Whether the person's request makes it active, as a value of ``field``."""
        return writing.is_settled(self.recording.principal, self.policy.consent, self.policy.relayed, field)

    def holder(self) -> Memory | None:
        """Return the active memory of a single-valued field."""
        if not writing.single_valued(self.new.field):
            return None
        earlier = (each for each in self.earlier() if (each.state, each.field) == (State.ACTIVE, self.new.field))
        return next(earlier, self.around.holder)

    def new_memory(self, doubtful: bool) -> Memory:
        """Return the unsaved memory, without wording and state, which NewRow adds."""
        return Memory(
            user_id=self.recording.user_id,
            agent_id=self.recording.principal.agent_id,
            topics=list(self.new.topics),
            metadata=dict(self.new.metadata),
            **{name: getattr(self.new, name) for name in _FILED},
            written_by=self.candidate.prepared.written_by,
            source_conversation_id=self.candidate.conversation_id,
            needs_check=doubtful,
        )


_FILED = [each.name for each in fields(NewMemory) if each.name not in {"content", "topics", "metadata"}]
"""What a memory takes over as it is."""

_OUTCOMES: dict[str, Literal["created", "proposed", "quarantined"]] = {
    State.ACTIVE: "created",
    State.PROPOSED: "proposed",
    State.QUARANTINED: "quarantined",
}

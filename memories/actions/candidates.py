"""Store a sequence of candidates: read the surroundings of all at once, decide in order, insert new rows together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from django.conf import settings
from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, write_part
from journal.exceptions import Refused
from language.base import Vectors
from language.reading.compare import Saying
from retrieval.vectors import normalise_as_stored
from statements.wording import Embedded

from ..models import Memory
from ..policy.writing import State, subject_key
from ..records import Candidate, Outcome
from ..surroundings import AllSurroundings, Surroundings, most_similar, read_surroundings
from .budget import evictable_tokens, over_budget
from .deciding import CandidateDecision
from .inserting import NewRow, memories_insert
from .proposing import propose_creates, signal_agrees


def candidates_record(
    write: LedgerWrite, principal: Principal, candidates: Sequence[Candidate], ahead: AllSurroundings | None = None
) -> list[Outcome | Refused]:
    """Store candidates in order, or reinforce their duplicates. Returns an outcome or an error for each.

    A refused candidate changes nothing. The number of SQL statements is constant, unless candidates change stored rows.
    ``ahead`` are surroundings read before the lock; they are read again only if the ledger's revision has changed.

    Refusals are Gated (422 ``rejected_before``, ``budget``) and Conflict (409 ``external_id_exists``; without
    ``verdicts`` ``subject_exists`` and ``similar_exists``). Raises IdTaken.
    """
    return Recording(write, principal, candidates).run(ahead)


@dataclass
class Recording:
    """State of storing candidates.

    ``rows`` are new memories not inserted yet, ``vectors``, ``kinds`` and ``sayings`` theirs, so that candidates are
    compared with earlier ones of the same call. ``of_words`` has them by kind and fingerprint, ``of_subject`` the
    latest active one by category and subject; ``added_tokens`` is what they add to the block. A change of stored rows
    inserts these first, and makes the surroundings ``stale``.
    """

    write: LedgerWrite
    principal: Principal
    candidates: Sequence[Candidate]
    rows: list[NewRow] = field(default_factory=list)
    sayings: list[Saying] = field(default_factory=list)
    of_words: defaultdict[tuple[str, str], list[Memory]] = field(default_factory=lambda: defaultdict(list))
    of_subject: dict[tuple[str, str], Memory] = field(default_factory=dict)
    added_tokens: int = 0
    outcomes_of_rows: list[Outcome] = field(default_factory=list)
    stale: bool = False
    evictable: int | None = None

    def __post_init__(self) -> None:
        self.user_id = accounts_policy.must_act_for(self.principal)
        vectors = (each.prepared.text.vector for each in self.candidates)
        dimensions = next((len(vector) for vector in vectors if vector is not None), 0)
        self.vectors = np.zeros((len(self.candidates), dimensions))
        self.kinds = np.zeros(len(self.candidates), dtype=object)

    def run(self, ahead: AllSurroundings | None) -> list[Outcome | Refused]:
        """Decide about each candidate, reading the surroundings again after a change of stored rows."""
        if ahead is not None and ahead.rev != self.write.ledgers[self.user_id].rev:
            ahead = None
        outcomes: list[Outcome | Refused] = []
        read_ahead = len(self.candidates)
        while len(outcomes) < len(self.candidates):
            upcoming = self.candidates[len(outcomes) : len(outcomes) + read_ahead]
            self.stale, self.evictable = False, None
            statements = [(each.prepared.new, each.prepared.text) for each in upcoming]
            reading = ahead or read_surroundings(self.principal, self.user_id, statements)
            ahead = None
            for candidate, here in zip(upcoming, reading.around, strict=True):
                outcomes.append(self.try_one(candidate, here))
                if self.stale:
                    break
            # After a change read only the next candidate's surroundings: another change may follow.
            read_ahead = 1 if self.stale else read_ahead * 2
            if self.stale:
                self.store()
        self.store()
        return outcomes

    def try_one(self, candidate: Candidate, around: Surroundings) -> Outcome | Refused:
        """Return the outcome of a candidate, or the error that refuses it."""
        here = CandidateDecision(self, candidate, around, signal_agrees(self.principal, self.user_id, candidate))
        try:
            if not around.against.words:
                outcome = here.decide()
            else:
                with self.changing_stored():
                    outcome = here.decide()
        except Refused as error:
            return error
        op = {"created": "create", "reinforced": "merge", "updated": "update"}.get(outcome.outcome, outcome.outcome)
        sim = max((each.similarity for each in around.neighbours), default=None)
        self.write.log_operation(op, outcome.memory.pk, category=outcome.memory.category, sim=sim)
        return outcome

    @contextmanager
    def changing_stored(self) -> Iterator[None]:
        """Context for changing stored rows: inserts pending rows first, and marks the surroundings as stale."""
        self.store()
        self.stale = True
        with write_part(self.write):
            yield

    def add(self, row: NewRow, text: Embedded, outcome: Outcome) -> None:
        """Queue a new memory for insertion, with its revision."""
        row.take_rev(self.write)
        self.vectors[len(self.rows)] = normalise_as_stored(text.vector) if text.vector is not None else 0.0
        self.kinds[len(self.rows)] = row.memory.kind
        self.rows.append(row)
        memory = row.memory
        self.of_words[memory.kind, memory.fingerprint].append(memory)
        if memory.state == State.ACTIVE:
            self.of_subject[memory.category, subject_key(memory.subject)] = memory
        if row.adds_to_block and not memory.pinned:
            self.added_tokens += memory.tokens
        self.sayings.append(text.saying)
        self.outcomes_of_rows.append(outcome)

    def store(self) -> None:
        """Insert the queued memories, and evict to make room."""
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
        self.rows, self.sayings, self.outcomes_of_rows, self.evictable = [], [], [], None
        self.of_words, self.of_subject, self.added_tokens = defaultdict(list), {}, 0

    def nearest(self, vector: Vectors | None, kind: str) -> Iterator[tuple[Memory, Saying, float]]:
        """Yield the queued memories of a kind most similar to ``vector``, parsed, with their cosine similarity."""
        if vector is None or not self.rows:
            return
        similarities = self.vectors[: len(self.rows)] @ normalise_as_stored(vector)
        for at in most_similar(similarities, self.kinds[: len(self.rows)] == kind):
            yield self.rows[at].memory, self.sayings[at], float(similarities[at])

    def must_fit(self, memory: Memory, replaced: Sequence[Memory]) -> None:
        """Raise Gated (422 ``budget``) if evictions can't make enough room in the block for an active memory."""
        block = self.write.ledgers[self.user_id].block_tokens
        if not memory.in_block or block + memory.tokens <= settings.MEMORY_BLOCK_TOKENS:
            return
        if self.evictable is None:
            self.evictable = evictable_tokens(self.user_id)
        freed = sum(other.tokens for other in replaced if other.in_block and other.pinned)
        needed = block - self.evictable - self.added_tokens - freed + memory.tokens
        if needed > settings.MEMORY_BLOCK_TOKENS:
            raise over_budget(needed)

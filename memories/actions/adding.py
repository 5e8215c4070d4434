"""Add new memories, one or many, through one code path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from django.utils import timezone

from accounts import policy as accounts_policy
from accounts.principals import Principal
from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Refused
from journal.verdicts import compares_unlocked
from statements.actions import read_beside
from statements.policy import admit
from statements.wording import Embedded

from .. import queries
from ..models import Kind
from ..policy import writing
from ..policy.beside import texts_beside, texts_to_judge
from ..records import Addition, Candidate, NewMemory, Outcome, PreparedMemory, Said, WritePolicy
from ..surroundings import AllSurroundings, compare_ahead
from .candidates import candidates_record
from .inserting import IdTaken
from .single import author
from .telling_fields import reasons_by_meaning

ADDED_AT_ONCE = 1_000

_TRIES = 5
_T = TypeVar("_T")


@compares_unlocked
def memory_add(
    principal: Principal,
    new: NewMemory,
    *,
    insist: bool = False,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> Outcome:
    """Add a memory, for the person or for an agent that writes for them.

    The person's own memory is active and reviewed, and lifts a suppression. An agent's passes every gate. It waits for
    review if the person reviews before, if it or its text gives a ``field``, and if it resembles a rejected one. A
    duplicate reinforces the existing memory. The form gate does not apply to ``verbatim`` content, which is compared
    with suppressions only. ``message_id`` is the source message in ``conversation_id``.

    Raises NotAllowed (403 ``category_not_allowed``, ``memory_off``), NotFound (conversation or message), Refused (400),
    Gated (422), Conflict (409 ``subject_exists`` or ``similar_exists`` with ``memory``, unless ``insist``;
    ``external_id_exists``).
    """
    user_id = accounts_policy.must_remember(principal)
    (candidate,), ahead = _prepare(principal, user_id, [Addition(new, insist, conversation_id, message_id)])
    if isinstance(candidate, Refused):
        raise candidate

    def record(write: LedgerWrite, ahead: AllSurroundings | None) -> Outcome:
        outcome = _only(candidates_record(write, principal, [candidate], ahead))
        write.result("memory", outcome.memory.pk, status_code=outcome.status)
        return outcome

    return _write(principal, user_id, record, ahead)


@compares_unlocked
def memories_add(principal: Principal, additions: Sequence[Addition]) -> list[Outcome | Refused]:
    """Add many memories in one transaction, in order, each like ``memory_add``.

    Returns an outcome or an error for each; a refused one does not affect the others. One that repeats an earlier one
    of the same call reinforces it. Raises NotAllowed (403 ``memory_off``).
    """
    user_id = accounts_policy.must_remember(principal)
    candidates, ahead = _prepare(principal, user_id, additions)

    def record(write: LedgerWrite, ahead: AllSurroundings | None) -> list[Outcome | Refused]:
        passed = [each for each in candidates if isinstance(each, Candidate)]
        recorded = iter(candidates_record(write, principal, passed, ahead))
        outcomes = [next(recorded) if isinstance(each, Candidate) else each for each in candidates]
        for each in outcomes:
            if isinstance(each, Refused):
                write.log_refusal(each.code)
        write.result("memories", *map(_noted, outcomes))
        return outcomes

    return _write(principal, user_id, record, ahead)


def _noted(outcome: Outcome | Refused) -> str:
    """Format an outcome for the idempotency record: status, outcome or error code, memory id."""
    if isinstance(outcome, Refused):
        return f"{outcome.status} {outcome.code} {outcome.extra.get('memory', {}).get('id', '')}".strip()
    return f"{outcome.status} {outcome.outcome} {outcome.memory.pk}"


def _write(
    principal: Principal,
    user_id: UUID,
    record: Callable[[LedgerWrite, AllSurroundings | None], _T],
    ahead: AllSurroundings,
) -> _T:
    """Call ``record`` under the person's ledger lock, and retry if a generated memory id is taken.

    Retries don't use ``ahead``, since the first try has changed it.
    """
    reading: AllSurroundings | None = ahead
    for tries_left in reversed(range(_TRIES)):
        try:
            with ledger_write(principal.actor, user_id) as write:
                return record(write, reading)
        except IdTaken:
            reading = None
            if not tries_left:
                raise
    raise AssertionError("unreachable")


def _prepare(
    principal: Principal, user_id: UUID, additions: Sequence[Addition]
) -> tuple[list[Candidate | Refused], AllSurroundings]:
    """Do the work that needs no lock: gates without database, sources, vectors.

    Returns a candidate or an error for each addition, and the surroundings of the candidates.
    """
    now = timezone.now()
    found = queries.read_sources(principal, [(each.conversation_id, each.message_id) for each in additions])
    admitted: list[tuple[NewMemory, str] | Refused] = []
    for each, source in zip(additions, found, strict=True):
        try:
            admitted.append(admit_new(principal, each.new, now))
        except Refused as error:
            admitted.append(error)
            continue
        if isinstance(source, Refused):
            admitted[-1] = source
    added = [each[0] for each in admitted if not isinstance(each, Refused)]
    texts = iter(Embedded.of_each([each.content for each in added]))
    filed = [texts_to_judge(each.subject, each.topics, each.metadata) for each in added]
    tells = iter(reasons_by_meaning(principal, filed))
    written_by = author(principal)
    own_word = principal.speaks_as_person
    candidates: list[Candidate | Refused] = []
    for each, source, passed in zip(additions, found, admitted, strict=True):
        if isinstance(passed, Refused):
            candidates.append(passed)
            continue
        assert isinstance(source, queries.EvidenceSource)
        new, held_back = passed
        text = replace(next(texts), said=" ".join(said.quote for said in source.said))
        if not own_word:
            text = text.as_document(len(additions) - 1) if new.verbatim else text
            text = text.as_steps(len(additions) - 1) if new.kind == Kind.PROCEDURAL else text
            document = new.content if new.verbatim else ""
            said = texts_beside(new.subject, new.topics, new.metadata, document)
            text = replace(text, beside=tuple(read_beside(user_id, said, text.beside)))
        prepared = prepare_new(principal, user_id, new, text, written_by=written_by, held_back=held_back)
        policy = WritePolicy(own_word=own_word, insist=each.insist, filing_reason=next(tells))
        candidates.append(Candidate(prepared, policy, source.conversation_id, source.said))
    ready = [each.prepared for each in candidates if isinstance(each, Candidate)]
    return candidates, compare_ahead(principal, user_id, [(each.new, each.text) for each in ready])


def admit_new(principal: Principal, new: NewMemory, now: datetime) -> tuple[NewMemory, str]:
    """Apply the gates that need no database.

    Returns the normalised memory, including the field that its text gives, and the reason for quarantine or ''. An
    agent's text in the first person is refused. Raises NotAllowed, Refused (400), Gated (422).
    """
    own_word = principal.speaks_as_person
    filed = writing.clean(principal, new, now)
    longest = writing.longest(filed.kind, filed.verbatim)
    steps = filed.kind == Kind.PROCEDURAL
    admitted = admit(filed.content, own_word=own_word, longest=longest, verbatim=filed.verbatim, steps=steps)
    if not own_word and not filed.verbatim and not admitted.held_back:
        writing.check_worded(admitted.content, filed.kind)
    return writing.with_field(principal, replace(filed, content=admitted.content)), admitted.held_back


def prepare_new(
    principal: Principal, user_id: UUID, admitted: NewMemory, text: Embedded, *, written_by: str, held_back: str = ""
) -> PreparedMemory:
    """Compute the derived columns of an admitted memory; ``text`` is its content with the vector."""
    # Not for the person: they name a field explicitly, and their statement replaces its value at once.
    meaning = None if principal.speaks_as_person else text.statement
    new = admitted if meaning is None else writing.with_field(principal, admitted, meaning)
    wording = text.worded(principal, user_id, new.subject)
    return PreparedMemory(new, text, wording, held_back, written_by[:80])


def record_new(
    write: LedgerWrite,
    principal: Principal,
    prepared: PreparedMemory,
    policy: WritePolicy,
    *,
    conversation_id: UUID | None = None,
    said: Sequence[Said] = (),
) -> Outcome:
    """Store a prepared memory, or reinforce its duplicate, in a transaction that holds the person's ledger lock.

    Raises Gated (422 ``rejected_before``, ``budget``), Conflict (409 ``external_id_exists``; without ``verdicts``
    ``subject_exists`` and ``similar_exists``).
    """
    return _only(candidates_record(write, principal, [Candidate(prepared, policy, conversation_id, said)]))


def _only(outcomes: Sequence[Outcome | Refused]) -> Outcome:
    (outcome,) = outcomes
    if isinstance(outcome, Refused):
        raise outcome
    return outcome

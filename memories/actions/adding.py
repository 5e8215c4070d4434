"""Remembering something new: one thing or many, on one way."""

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
from statements.policy import admit
from statements.wording import Embedded

from .. import queries
from ..policy import writing
from ..records import Addition, Candidate, NewMemory, Outcome, PreparedMemory, Said, WritePolicy
from ..surroundings import Reading, compare_ahead
from .candidates import candidates_record
from .inserting import IdTaken
from .single import author

ADDED_AT_ONCE = 1_000

_TRIES = 5
_T = TypeVar("_T")


def memory_add(
    principal: Principal,
    new: NewMemory,
    *,
    insist: bool = False,
    conversation_id: UUID | None = None,
    message_id: UUID | None = None,
) -> Outcome:
    """Remember something, for the person or for an agent that writes for them.

    The person's own words are active and reviewed, and lift a suppression. An agent's pass every gate; they wait while
    the person reviews before, always when they give a ``field``, named or not, and when they may mean what the person
    rejected. What is remembered already in these or nearly these words is reinforced. What is ``verbatim`` passes no
    gate of form, and is compared with nothing but what was rejected. ``message_id`` is the message that says it, in
    ``conversation_id``.

    Raises NotAllowed (403 ``category_not_allowed``, ``memory_off``), NotFound (conversation or message), Refused (400),
    Gated (422), Conflict (409 ``subject_exists`` or ``similar_exists`` with ``memory``, unless ``insist``;
    ``external_id_exists``).
    """
    user_id = accounts_policy.must_remember(principal)
    (candidate,), ahead = _prepare(principal, user_id, [Addition(new, insist, conversation_id, message_id)])
    if isinstance(candidate, Refused):
        raise candidate

    def record(write: LedgerWrite, ahead: Reading | None) -> Outcome:
        outcome = _only(candidates_record(write, principal, [candidate], ahead))
        write.result("memory", outcome.memory.pk, status_code=outcome.status)
        return outcome

    return _write(principal, user_id, record, ahead)


def memories_add(principal: Principal, additions: Sequence[Addition]) -> list[Outcome | Refused]:
    """Remember many things in one transaction, in their order, as ``memory_add`` remembers one.

    What is refused is left out by itself: its error stands in its place. One that repeats an earlier one of the same
    call reinforces it. Raises NotAllowed (403 ``memory_off``).
    """
    user_id = accounts_policy.must_remember(principal)
    candidates, ahead = _prepare(principal, user_id, additions)

    def record(write: LedgerWrite, ahead: Reading | None) -> list[Outcome | Refused]:
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
    """An outcome as the Idempotency-Key's record keeps it: the status, what became of it, and the memory's id."""
    if isinstance(outcome, Refused):
        return f"{outcome.status} {outcome.code} {outcome.extra.get('memory', {}).get('id', '')}".strip()
    return f"{outcome.status} {outcome.outcome} {outcome.memory.pk}"


def _write(
    principal: Principal, user_id: UUID, record: Callable[[LedgerWrite, Reading | None], _T], ahead: Reading
) -> _T:
    """Do something under the person's ledger lock, once more if a new memory was given somebody's id.

    Only the first time with what was read ``ahead``: trying has changed it.
    """
    reading: Reading | None = ahead
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
) -> tuple[list[Candidate | Refused], Reading]:
    """Do all that needs no lock: the gates that read no database, the sources, the vectors. Says what is refused.

    Returns also what there is around those that are not refused.
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
    texts = iter(Embedded.of_each([each[0].content for each in admitted if not isinstance(each, Refused)]))
    written_by = author(principal)
    own_word = principal.speaks_as_person
    candidates: list[Candidate | Refused] = []
    for each, source, passed in zip(additions, found, admitted, strict=True):
        if isinstance(passed, Refused):
            candidates.append(passed)
            continue
        assert isinstance(source, queries.Source)
        new, held_back = passed
        text = replace(next(texts), said=" ".join(said.quote for said in source.said))
        text = text.as_document(len(additions) - 1) if new.verbatim and not own_word else text
        prepared = prepare_new(principal, user_id, new, text, written_by=written_by, held_back=held_back)
        policy = WritePolicy(own_word=own_word, insist=each.insist)
        candidates.append(Candidate(prepared, policy, source.conversation_id, source.said))
    ready = [each.prepared for each in candidates if isinstance(each, Candidate)]
    return candidates, compare_ahead(principal, user_id, [(each.new, each.text) for each in ready])


def admit_new(principal: Principal, new: NewMemory, now: datetime) -> tuple[NewMemory, str]:
    """Pass something to be remembered through the gates that need no database.

    Returns it as it will be stored, with the field that it gives, and why it is held back, if it is. What an agent
    words in the first person is refused. Raises NotAllowed, Refused (400), Gated (422).
    """
    own_word = principal.speaks_as_person
    filed = writing.clean(principal, new, now)
    longest = writing.longest(filed.kind, filed.verbatim)
    admitted = admit(filed.content, own_word=own_word, longest=longest, verbatim=filed.verbatim)
    if not own_word and not filed.verbatim and not admitted.held_back:
        writing.check_worded(admitted.content, filed.kind)
    return writing.with_field(principal, replace(filed, content=admitted.content)), admitted.held_back


def prepare_new(
    principal: Principal, user_id: UUID, admitted: NewMemory, text: Embedded, *, written_by: str, held_back: str = ""
) -> PreparedMemory:
    """Derive what is stored beside something that was admitted; ``text`` is its content with the vector."""
    # The person names what is theirs plainly, and what they say takes the place of a value at once.
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
    """Store what was prepared, or find it remembered already, inside a transaction that holds the person's ledger.

    Raises Gated (422 ``rejected_before``, ``budget``), Conflict (409 ``external_id_exists``; without ``verdicts``
    ``subject_exists`` and ``similar_exists``).
    """
    return _only(candidates_record(write, principal, [Candidate(prepared, policy, conversation_id, said)]))


def _only(outcomes: Sequence[Outcome | Refused]) -> Outcome:
    (outcome,) = outcomes
    if isinstance(outcome, Refused):
        raise outcome
    return outcome

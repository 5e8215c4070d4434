"""What goes into the actions on memories and what comes out of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import field as made_by
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from language.base import Comparison
from statements.wording import Embedded, Wording

from .models import Kind, Memory, Place, Proposal

QUOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class NewMemory:
    """Something to be remembered, as a client words and files it.

    ``category`` may be an alias. ``field`` names one of ``Memory.Field``, which are about the person: ``subject`` is
    empty then. ``external_id`` is the client's own id for it. ``valid_from`` and ``valid_to`` say when it is true,
    ``expires_at`` until when it is to be remembered. ``metadata`` is what the client keeps beside it. ``verbatim``: its
    content is kept byte for byte, whatever its form and whatever is similar. ``brought_by`` is the import of memories
    that it comes with; no request can name one.
    """

    content: str
    category: str
    subject: str = ""
    topics: tuple[str, ...] = ()
    importance: int = 2
    kind: str = Kind.SEMANTIC
    field: str = ""
    external_id: str = ""
    run_id: str = ""
    actor_id: str = ""
    role: str = ""
    pinned: bool = False
    verbatim: bool = False
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    metadata: Mapping[str, Any] = made_by(default_factory=dict)
    brought_by: UUID | None = None


@dataclass(frozen=True, slots=True)
class Addition:
    """What a caller asks to be remembered.

    ``insist``: beside what is about the same subject or similar. ``message_id`` is the message that says it, in
    ``conversation_id``.
    """

    new: NewMemory
    insist: bool = False
    conversation_id: UUID | None = None
    message_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A message that supports something, at most ``QUOTE_CHARACTERS`` of its words, and when it was said."""

    message_id: UUID
    quote: str
    at: datetime


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
class WritePolicy:
    """How something is to be remembered.

    ``own_word``: the person words it themselves. ``insist``: beside what is about the same subject or similar, and in
    the place of nothing. ``consent``: the person's own words ask for it, so it doesn't wait and lifts a suppression;
    ``agreed``: they were asked about just this and said yes, so it needs no review either;
    ``relayed``: by what an agent says that they said, so it lifts none. ``verdicts`` say by the wording of a neighbour
    what the new statement is to it, as far as a model judged; with them a new wording of a neighbour is carried out,
    without them the caller is told of the neighbour. ``among_others``: the caller remembers more in the same
    transaction, and relates all of it by ``memories_relate`` at its end.
    """

    own_word: bool = False
    insist: bool = False
    consent: bool = False
    agreed: bool = False
    relayed: bool = False
    verdicts: Mapping[str, Comparison] | None = None
    among_others: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be remembered now: what was prepared, by which policy, and where it was said."""

    prepared: PreparedMemory
    policy: WritePolicy
    conversation_id: UUID | None = None
    said: Sequence[Said] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of something to be remembered.

    ``created`` is a new memory that is active; ``reinforced`` one that said so before, in any words; ``updated`` one
    that says it in these words now; ``proposed`` and ``quarantined`` wait for the person or for staff. ``evicted``
    holds the ids that made room for it.
    """

    outcome: Literal["created", "reinforced", "updated", "proposed", "quarantined"]
    memory: Memory
    evicted: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        """How an HTTP answer says it."""
        return {"created": 201, "proposed": 202, "quarantined": 202}.get(self.outcome, 200)


@dataclass(frozen=True, slots=True)
class Updated:
    """A memory with its new wording; with a ``proposal`` the new wording waits there and the memory is as it was."""

    memory: Memory
    previous_content: str
    previous_version: int
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory that was recategorised or archived; with a ``proposal`` that waits and the memory is as it was."""

    memory: Memory
    proposal: Proposal | None = None


BulkOutcome = Literal["archived", "proposed", "skipped", "not_found"]


@dataclass(frozen=True, slots=True)
class BulkItem:
    """What became of one id of a bulk action.

    ``archived``, ``proposed`` (waits for the person), ``skipped`` (it is gone already) or ``not_found``.
    """

    id: str
    outcome: BulkOutcome


@dataclass(frozen=True, slots=True)
class PlaceAdded:
    """A place that was added or named again; with a ``proposal`` that waits, and the place is as it was, if it was."""

    place: Place | None
    created: bool
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class PlaceChanged:
    """A place after a change; with a ``proposal`` that waits, and the place is as it was."""

    place: Place
    proposal: Proposal | None = None

"""What goes into the actions on memories and what comes out of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal
from uuid import UUID

from .models import Kind, Memory, Place, Proposal

QUOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class NewMemory:
    """Something to be remembered, as a client words and files it.

    ``category`` may be an alias. ``field`` names one of ``Memory.Field``, which are about the person: ``subject`` is
    empty then. ``external_id`` is the client's own id for it. ``valid_from`` and ``valid_to`` say when it is true,
    ``expires_at`` until when it is to be remembered.
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
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A message that bears something out, and at most ``QUOTE_CHARACTERS`` of its words."""

    message_id: UUID
    quote: str


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


@dataclass(frozen=True, slots=True)
class Updated:
    """A memory with its new wording; with a ``proposal`` the new wording waits there and the memory is as it was."""

    memory: Memory
    previous_content: str
    previous_version: int
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory that was filed otherwise or archived; with a ``proposal`` that waits and the memory is as it was."""

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

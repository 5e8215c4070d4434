"""Arguments and results of the actions on memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import field as made_by
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.utils.translation import gettext_noop

from language.base import Comparison
from statements.wording import Embedded, Wording

from .models import Kind, Memory, Place, Proposal

QUOTE_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A new memory, as given by a client.

    ``category`` may be an alias. ``field`` is a ``Memory.Field``, about the person, with an empty ``subject``.
    ``external_id`` is the client's id. ``valid_from`` and ``valid_to``: when it is true; ``expires_at``: when it is
    archived. ``metadata`` is the client's. ``verbatim``: stored byte for byte, without checks of form or similarity.
    ``brought_by`` is the import of memories that adds it; requests can't set it.
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
    """A caller's request to add a memory.

    ``insist``: add it in spite of similar ones. ``message_id`` is its source message, in ``conversation_id``.
    """

    new: NewMemory
    insist: bool = False
    conversation_id: UUID | None = None
    message_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A message as evidence: a quote of at most ``QUOTE_CHARACTERS``, and when it was said."""

    message_id: UUID
    quote: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PreparedMemory:
    """A new memory after the checks that need no database, with everything derived from its text.

    ``held_back`` is the reason to quarantine it, or empty. ``written_by`` is its author, empty for the person.
    """

    new: NewMemory
    text: Embedded
    wording: Wording
    held_back: str
    written_by: str


UNANSWERED = gettext_noop("You were asked whether to remember this, and did not say yes.")
"""Why such a statement waits."""
KEPT = gettext_noop("It would change something that you worded or pinned.")
"""Why a change by somebody else waits."""
RELAYED = gettext_noop("An agent reports that you want this put away, which you decide.")
"""Why such a removal waits."""
FIELD_WAITS = gettext_noop("It would become a part of your profile, which you decide: how you are called, for example.")
"""Why a value of a personal field waits."""
BEFORE_USE = gettext_noop("It is looked at before it is used, as all that agents and models write of you.")
"""Why a proposal waits that nothing speaks against: the person reviews before use."""


def why_it_waits(state: str, field: str, reason: str) -> str:
    """Return the stored reason of a memory, and of a proposal without one that it gives a field or is reviewed first.

    These two are not stored: a stored reason needs more than the person's yes to the statement.
    """
    if state != "proposed" or reason:
        return reason
    return FIELD_WAITS if field else BEFORE_USE


@dataclass(frozen=True, slots=True)
class WritePolicy:
    """The rules for one write.

    ``own_word``: the person is the author. ``insist``: add it in spite of similar memories, and replace none.
    ``consent``: the person explicitly asked for it or agreed to it, so it needs neither approval nor review, and
    removes suppressions. ``relayed``: an agent reports it, so it is reviewed, suppressions stay, and it changes nothing
    that they worded or pinned. ``unanswered``: they were asked whether to remember it and did not say
    yes, so it waits for them. ``filing_reason``: why its subject, topics or metadata wait. ``verdicts`` are a model's
    comparisons by the wording of the neighbour; with them a rewording updates the neighbour, without them the caller
    gets a conflict. ``among_others``: part of a batch, which the caller relates with ``memories_relate`` at the end of
    the transaction.
    """

    own_word: bool = False
    insist: bool = False
    consent: bool = False
    relayed: bool = False
    unanswered: bool = False
    filing_reason: str = ""
    verdicts: Mapping[str, Comparison] | None = None
    among_others: bool = False

    @property
    def settles_review(self) -> bool:
        """Whether the person's request counts as their review of what it writes."""
        return self.consent and not self.relayed

    @property
    def waiting_reason(self) -> str:
        """Why what it writes has to wait for the person, or ''."""
        return UNANSWERED if self.unanswered and not self.consent else self.filing_reason


@dataclass(frozen=True, slots=True)
class Candidate:
    """A prepared memory with its policy and evidence, ready to be written."""

    prepared: PreparedMemory
    policy: WritePolicy
    conversation_id: UUID | None = None
    said: Sequence[Said] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of adding a memory.

    ``created``: a new active memory; ``reinforced``: an existing one with the same meaning; ``updated``: an existing
    one that got this wording; ``proposed`` and ``quarantined`` wait for the person or staff. ``evicted`` are the ids of
    memories that were archived to stay within the budget.
    """

    outcome: Literal["created", "reinforced", "updated", "proposed", "quarantined"]
    memory: Memory
    evicted: list[str] = field(default_factory=list)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return {"created": 201, "proposed": 202, "quarantined": 202}.get(self.outcome, 200)


@dataclass(frozen=True, slots=True)
class Updated:
    """A reworded memory; with a ``proposal`` the change waits there and the memory is unchanged."""

    memory: Memory
    previous_content: str
    previous_version: int
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class Changed:
    """A recategorised or archived memory; with a ``proposal`` the change waits and the memory is unchanged."""

    memory: Memory
    proposal: Proposal | None = None


BulkOutcome = Literal["archived", "proposed", "skipped", "not_found"]


@dataclass(frozen=True, slots=True)
class BulkItem:
    """The result for one id of a bulk action.

    ``archived``, ``proposed`` (waits for the person), ``skipped`` (archived already, or a proposed one that the
    person worded or pinned) or ``not_found``.
    """

    id: str
    outcome: BulkOutcome


@dataclass(frozen=True, slots=True)
class PlaceAdded:
    """A place that was added or mentioned again; with a ``proposal`` the change waits there."""

    place: Place | None
    created: bool
    proposal: Proposal | None = None


@dataclass(frozen=True, slots=True)
class PlaceChanged:
    """A changed place; with a ``proposal`` the change waits and the place is unchanged."""

    place: Place
    proposal: Proposal | None = None

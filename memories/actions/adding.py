"""Remembering something new."""

from __future__ import annotations

from uuid import UUID

from accounts.principals import Principal

from ..records import NewMemory, Outcome


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
    raise NotImplementedError

"""Notes how often more is looked up than a turn brings at first, which tells whether the threshold is right."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from uuid import UUID

from accounts.principals import Principal
from journal.actions import enqueue, note_operation

TASK = "assistant.note_recall"
NODE = "context"
OPERATION = "recall"


class By(StrEnum):
    """Who looked something up: the turn by itself, or a model with its tool. The category of the noted operation."""

    TURN = "turn"
    TOOL = "tool"


def recall_show(principal: Principal, by: By, conversation_id: UUID | None, *, best: float | None = None) -> None:
    """Have it noted, in the background, that something was looked up on demand.

    ``best`` is how likely it was that anything found at first fits. With the broker away it is noted at once. Every
    turn is noted too (node ``context``, operation ``turn``), so both together give the rate.
    """
    values = (str(principal.user_id), str(conversation_id or ""), str(by), "" if best is None else f"{best:.4f}")
    enqueue(TASK, *values, otherwise=partial(recall_note, *values))


def recall_note(user_id: str, conversation_id: str, by: str, best: str) -> None:
    """Write what ``recall_show`` sent into the log of operations."""
    sim = float(best) if best else None
    note_operation(NODE, OPERATION, user_id=UUID(user_id), thread_id=conversation_id, category=by, sim=sim)

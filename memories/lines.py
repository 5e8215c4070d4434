"""The lines of the memory block, and what each costs. Whoever renders the block and whoever counts it use these."""

from __future__ import annotations

from datetime import datetime

from language.fencing import as_data
from language.tokens import count_tokens

# A subject must not end its brackets and go on as another id.
_NO_BRACKETS = str.maketrans("[]", "()")


def memory_line(memory_id: str, worded_at: datetime, subject: str, content: str) -> str:
    """``- [id:a1b2c3d4] [2026-03-01] [Subject] content``; ``worded_at`` is when the version was recorded."""
    about = f" [{as_data(subject).translate(_NO_BRACKETS)}]" if subject else ""
    return f"- [id:{memory_id}] [{worded_at.date().isoformat()}]{about} {as_data(content)}"


def place_line(name: str, notes: str, conversations: int) -> str:
    """``- Name: notes (mentioned in 3 conversations)``; without notes or mentions those parts are left out."""
    said = f": {as_data(notes)}" if notes else ""
    where = "conversation" if conversations == 1 else "conversations"
    mentioned = f" (mentioned in {conversations} {where})" if conversations else ""
    return f"- {as_data(name)}{said}{mentioned}"


def line_tokens(line: str) -> int:
    """What a line costs, with the break that ends it."""
    return count_tokens(f"{line}\n")

"""Lines of the memory block and their token counts, for rendering and for counting."""

from __future__ import annotations

from datetime import datetime

from language.fencing import as_data, as_name
from language.tokens import count_tokens

# A subject must not close its brackets and imitate another id.
_NO_BRACKETS = str.maketrans("[]", "()")


def memory_line(memory_id: str, worded_at: datetime, subject: str, content: str) -> str:
    """``- [id:a1b2c3d4] [2026-03-01] [Subject] content``; ``worded_at`` is when it was said, else recorded."""
    return f"- [id:{memory_id}] {_wording(worded_at, subject, content)}"


def told(kind: str, content: str) -> str:
    """Return the text of a recalled memory; an insight is marked as a guess."""
    return f"A guess: {content}" if kind == "insight" else content


def new_line(category: str, memory_id: str, worded_at: datetime, subject: str, content: str) -> str:
    """A line missing in a pinned block: ``- new: [category] [id:a1b2c3d4] [2026-03-01] [Subject] content``."""
    return f"- new: [{as_data(category)}] [id:{memory_id}] {_wording(worded_at, subject, content)}"


def changed_line(memory_id: str, worded_at: datetime, subject: str, content: str) -> str:
    """A line that overrides one of a pinned block: ``- [id:a1b2c3d4] now: [2026-03-01] [Subject] content``."""
    return f"- [id:{memory_id}] now: {_wording(worded_at, subject, content)}"


def _wording(worded_at: datetime, subject: str, content: str) -> str:
    about = f" [{as_data(subject).translate(_NO_BRACKETS)}]" if subject else ""
    return f"[{worded_at.date().isoformat()}]{about} {as_data(content)}"


def changed_place_line(was: str, name: str, notes: str) -> str:
    """A line that overrides a place of a pinned block: ``- Old name now: Name: notes``."""
    return f"- {as_name(was)} now: {_place(name, notes)}"


def new_place_line(name: str, notes: str) -> str:
    """A place missing in a pinned block: ``- new: Name: notes``."""
    return f"- new: {_place(name, notes)}"


def place_line(name: str, notes: str, conversations: int) -> str:
    """``- Name: notes (mentioned in 3 conversations)``; without notes or mentions those parts are left out."""
    where = "conversation" if conversations == 1 else "conversations"
    mentioned = f" (mentioned in {conversations} {where})" if conversations else ""
    return f"- {_place(name, notes)}{mentioned}"


def _place(name: str, notes: str) -> str:
    return f"{as_name(name)}: {as_data(notes)}" if notes else as_name(name)


def line_tokens(line: str) -> int:
    """Count the tokens of a line, including its line break."""
    return count_tokens(f"{line}\n")

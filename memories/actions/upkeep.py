"""What happens to memories in the background: vectors that came later, expiry and the purge."""

from __future__ import annotations


def memories_index(memory_id: str | None = None) -> int:
    """Give memories that wait their vector, and what follows from it. Returns how many."""
    raise NotImplementedError


def memories_expire() -> int:
    """Archive the memories whose time to be remembered is over. Returns how many."""
    raise NotImplementedError


def memories_purge() -> int:
    """Delete memories whose time in the archive is over, with a PURGE in the log for each. Returns how many."""
    raise NotImplementedError

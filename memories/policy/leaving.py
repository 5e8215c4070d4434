"""Labels of the reasons why memories are no longer in use. No database."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from ..models import Memory

Why = Memory.DeletedWhy

GONE_BECAUSE: dict[str, str] = {
    Why.PERSON: gettext_noop("Put away by you"),
    Why.AGENT: gettext_noop("Put away by an agent"),
    Why.REJECTED: gettext_noop("Rejected"),
    Why.TTL: gettext_noop("Expired"),
    Why.EVICTED: gettext_noop("Put away to make room for newer ones"),
    Why.REPLACED: gettext_noop("Replaced by another"),
    Why.MERGED: gettext_noop("Merged into another"),
    Why.STAFF: gettext_noop("Refused by a moderator"),
    Why.WITHHELD: gettext_noop("Made of words that are withheld"),
    Why.UNFOUNDED: gettext_noop("A guess whose grounds have gone"),
}
"""The labels by reason."""
UNUSED = gettext_noop("Put away as nobody used it")


def gone_because(memory: Memory) -> str:
    """Return the label of the reason why a memory is no longer in use, or "".

    Of what left by itself, that it was not used where it had no end, or left before it.
    """
    left_early = memory.expires_at is None or memory.deleted_at is None or memory.deleted_at < memory.expires_at
    if memory.deleted_why == Why.TTL and left_early:
        return UNUSED
    return GONE_BECAUSE.get(memory.deleted_why, "")

"""Changes that facts and memories share, made inside the action of the one or the other."""

from .single import (
    GONE,
    PRESENT,
    StatementWrite,
    changing,
    check_state,
    check_version,
    coming,
    going,
    moderated,
    put,
    statement_under_lock,
    statement_write,
)
from .suppressions import rejected_before, suppression_add, suppression_check, suppression_remove, suppressions_follow
from .upkeep import compare_later, embed_waiting, erase, purging, put_back, statements_purge, take_unindexed

__all__ = [
    "GONE",
    "PRESENT",
    "StatementWrite",
    "changing",
    "check_state",
    "check_version",
    "coming",
    "compare_later",
    "embed_waiting",
    "erase",
    "going",
    "moderated",
    "purging",
    "put",
    "put_back",
    "rejected_before",
    "statement_under_lock",
    "statement_write",
    "statements_purge",
    "suppression_add",
    "suppression_check",
    "suppression_remove",
    "suppressions_follow",
    "take_unindexed",
]

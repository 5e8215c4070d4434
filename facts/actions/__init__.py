"""Changes to facts: the only code that writes them. Pages, API, admin and tasks call these functions."""

from .bulk import BULK_DECISIONS, DONE, MOST_AT_ONCE, BulkResult, facts_decide, facts_undo, facts_weigh
from .deciding import (
    REASON_CHARACTERS,
    fact_approve,
    fact_delete,
    fact_hide,
    fact_reject,
    fact_reopen,
    fact_restore,
    fact_set_visibility,
    fact_unhide,
)
from .extraction import PreparedFact, prepare_extracted, record_extracted
from .membership import member_leave
from .moderating import fact_quarantine, fact_refuse, fact_release
from .opening import fact_open
from .taking_back import facts_take_back
from .upkeep import facts_index, facts_purge
from .wording import fact_add, fact_edit

__all__ = [
    "BULK_DECISIONS",
    "DONE",
    "MOST_AT_ONCE",
    "REASON_CHARACTERS",
    "BulkResult",
    "PreparedFact",
    "fact_add",
    "fact_approve",
    "fact_delete",
    "fact_edit",
    "fact_hide",
    "fact_open",
    "fact_quarantine",
    "fact_refuse",
    "fact_reject",
    "fact_release",
    "fact_reopen",
    "fact_restore",
    "fact_set_visibility",
    "fact_unhide",
    "facts_decide",
    "facts_index",
    "facts_purge",
    "facts_take_back",
    "facts_undo",
    "facts_weigh",
    "member_leave",
    "prepare_extracted",
    "record_extracted",
]

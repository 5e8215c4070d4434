"""Actions on facts: the only code that writes them. Pages, API, admin and tasks call these functions."""

from statements.actions.many import MOST_AT_ONCE

from .bulk import BULK_DECISIONS, DONE, BulkResult, facts_decide, facts_hide, facts_preview
from .ending import legacies_purge, legacy_end, legacy_restore
from .extraction import PreparedFact, foresee_extracted, prepare_extracted, record_extracted
from .moderating import fact_hide, fact_hold_again, fact_open, fact_quarantine, fact_refuse, fact_release, fact_unhide
from .telling import log_for_members, members_tell, unshare_all
from .transitions import (
    fact_approve,
    fact_delete,
    fact_reject,
    fact_restore,
    fact_set_visibility,
    fact_unshare_withheld,
    facts_delete_learned,
    member_leave,
)
from .upkeep import facts_index
from .wording import fact_add, fact_edit

__all__ = [
    "BULK_DECISIONS",
    "DONE",
    "MOST_AT_ONCE",
    "BulkResult",
    "PreparedFact",
    "fact_add",
    "fact_approve",
    "fact_delete",
    "fact_edit",
    "fact_hide",
    "fact_hold_again",
    "fact_open",
    "fact_quarantine",
    "fact_refuse",
    "fact_reject",
    "fact_release",
    "fact_restore",
    "fact_set_visibility",
    "fact_unhide",
    "fact_unshare_withheld",
    "facts_decide",
    "facts_delete_learned",
    "facts_hide",
    "facts_index",
    "facts_preview",
    "foresee_extracted",
    "legacies_purge",
    "legacy_end",
    "legacy_restore",
    "log_for_members",
    "member_leave",
    "members_tell",
    "prepare_extracted",
    "record_extracted",
    "unshare_all",
]

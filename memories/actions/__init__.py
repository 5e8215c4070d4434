"""All changes of memories and places: the only code that writes them. Pages, API, tools and tasks call it."""

from .adding import ADDED_AT_ONCE, admit_new, memories_add, memory_add, prepare_new, record_new
from .bulk import BULK_DECISIONS, MOST_AT_ONCE, memories_decide, memories_delete, memories_preview
from .consolidating import consolidations_due, memories_consolidate
from .editing import memory_amend, memory_revert, memory_update
from .hiding import memories_hide
from .insights import ReadyInsight, insights_record, insights_tidy
from .many import Related, memories_relate
from .merging import optimize_apply, optimize_revert
from .moderating import memory_hold_again, memory_open, memory_quarantine, memory_refuse, memory_release
from .optimizing import optimize_discard, optimize_plan, plan_make, plans_tidy
from .places import (
    place_add,
    place_edit,
    place_mention,
    place_remove,
    place_restore,
    place_withhold,
    places_purge,
)
from .proposals import proposal_approve, proposal_reject, proposals_lapse
from .recording import record_archive, record_doubt, record_update
from .showing import disclosures_trim, memories_note_shown, memories_show, memories_used
from .single import author
from .transitions import (
    memories_delete_learned,
    memories_remove_imported,
    memory_approve,
    memory_archive,
    memory_pin,
    memory_reject,
    memory_restore,
)
from .upkeep import memories_expire, memories_forget_unused, memories_index
from .webhooks import (
    delivery_resend,
    webhook_create,
    webhook_deliver,
    webhook_remove,
    webhook_resume,
    webhook_rotate,
    webhooks_sweep,
    webhooks_trim,
)

__all__ = [
    "ADDED_AT_ONCE",
    "BULK_DECISIONS",
    "MOST_AT_ONCE",
    "ReadyInsight",
    "Related",
    "admit_new",
    "author",
    "consolidations_due",
    "delivery_resend",
    "disclosures_trim",
    "insights_record",
    "insights_tidy",
    "memories_add",
    "memories_consolidate",
    "memories_decide",
    "memories_delete",
    "memories_delete_learned",
    "memories_expire",
    "memories_forget_unused",
    "memories_hide",
    "memories_index",
    "memories_note_shown",
    "memories_preview",
    "memories_relate",
    "memories_remove_imported",
    "memories_show",
    "memories_used",
    "memory_add",
    "memory_amend",
    "memory_approve",
    "memory_archive",
    "memory_hold_again",
    "memory_open",
    "memory_pin",
    "memory_quarantine",
    "memory_refuse",
    "memory_reject",
    "memory_release",
    "memory_restore",
    "memory_revert",
    "memory_update",
    "optimize_apply",
    "optimize_discard",
    "optimize_plan",
    "optimize_revert",
    "place_add",
    "place_edit",
    "place_mention",
    "place_remove",
    "place_restore",
    "place_withhold",
    "places_purge",
    "plan_make",
    "plans_tidy",
    "prepare_new",
    "proposal_approve",
    "proposal_reject",
    "proposals_lapse",
    "record_archive",
    "record_doubt",
    "record_new",
    "record_update",
    "webhook_create",
    "webhook_deliver",
    "webhook_remove",
    "webhook_resume",
    "webhook_rotate",
    "webhooks_sweep",
    "webhooks_trim",
]

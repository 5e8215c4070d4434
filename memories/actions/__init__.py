"""Changes to what is remembered: the only code that writes it. Pages, API, tools and tasks call these functions."""

from .adding import memory_add
from .bulk import BULK_LIMIT, memories_delete
from .deciding import (
    memory_approve,
    memory_quarantine,
    memory_refuse,
    memory_reject,
    memory_release,
    memory_reopen,
)
from .editing import memory_amend, memory_archive, memory_pin, memory_restore, memory_revert, memory_update
from .proposals import proposal_approve, proposal_reject, proposals_lapse
from .tombstones import tombstone_lay, tombstone_lift
from .upkeep import memories_expire, memories_index, memories_purge

__all__ = [
    "BULK_LIMIT",
    "memories_delete",
    "memories_expire",
    "memories_index",
    "memories_purge",
    "memory_add",
    "memory_amend",
    "memory_approve",
    "memory_archive",
    "memory_pin",
    "memory_quarantine",
    "memory_refuse",
    "memory_reject",
    "memory_release",
    "memory_reopen",
    "memory_restore",
    "memory_revert",
    "memory_update",
    "proposal_approve",
    "proposal_reject",
    "proposals_lapse",
    "tombstone_lay",
    "tombstone_lift",
]

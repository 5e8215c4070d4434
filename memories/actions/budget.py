"""The token budget of the memory block, and eviction when it is exceeded."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.principals import PLACEHOLDER_USER
from journal.actions import LedgerWrite
from journal.exceptions import Gated
from retrieval.prepared import PreparedStatement, build_statement
from statements.actions.single import archived_until

from ..models import Memory
from ..querysets import statement

log = structlog.get_logger(__name__)


def block_evict(write: LedgerWrite, user_id: UUID, *, keep: Sequence[str] = ()) -> list[str]:
    """Evict the oldest unpinned memories until the block is within ``MEMORY_BLOCK_TOKENS``.

    Call it under the person's ledger lock, after the rows that made the block longer are stored and counted. ``keep``
    are ids written by the current action, which are not evicted. Returns the evicted ids, oldest first; each takes a
    revision and can be restored. Raises Gated (422 ``budget``) if the remaining rows exceed the limit.
    """
    excess = write.ledgers[user_id].block_tokens - settings.MEMORY_BLOCK_TOKENS
    if excess <= 0:
        return []
    now = timezone.now()
    values: dict[str, Any] = {
        "user": user_id,
        "keep": list(keep),
        "excess": excess,
        "now": now,
        "purge_at": archived_until(now),
        "important": settings.IMPORTANT,
        "purge_later": now + timedelta(days=settings.EVICTED_IMPORTANT_DAYS),
    }
    evicted: list[tuple[str, int, int, int]] = _evicting().run(values)
    freed = sum(tokens for _pk, _version, tokens, _length in evicted)
    if freed < excess:
        raise over_budget(settings.MEMORY_BLOCK_TOKENS + excess - freed)
    for memory_id, version, _tokens, _length in evicted:
        write.change(user_id, "EVICT", "memory", memory_id, old_version=version, new_version=version)
        write.keep_undo_step(user_id, "memory", memory_id, {"state": "active"})
    terms = sum(length for _pk, _version, _tokens, length in evicted)
    write.count(user_id, memories=-len(evicted), memory_terms=-terms, block_tokens=-freed)
    ids = [memory_id for memory_id, _version, _tokens, _length in evicted]
    transaction.on_commit(lambda: log.warning("memories_evicted", user=str(user_id), count=len(ids), memories=ids))
    return ids


def over_budget(needed: int) -> Gated:
    """Return the error for a block that would need ``needed`` tokens after evicting everything possible."""
    return Gated(
        _(
            "Pinned memories, places and this one need more than the %(memory_block_tokens)s tokens that the memory "
            "block may have. Unpin or remove something first."
        )
        % {"memory_block_tokens": settings.MEMORY_BLOCK_TOKENS},
        code="budget",
        needed=needed,
    )


def evictable_tokens(user_id: UUID) -> int:
    """Return the number of tokens in the block that could be evicted."""
    ((tokens,),) = _evictable().run({PLACEHOLDER_USER: user_id})
    return int(tokens)


@cache
def _evicting() -> PreparedStatement:
    return build_statement(statement("evict"), {}, lasting=True)


@cache
def _evictable() -> PreparedStatement:
    unpinned = Memory.objects.filter(user_id=PLACEHOLDER_USER, in_block=True, pinned=False).active()
    template = "SELECT coalesce(sum(tokens), 0) FROM ({unpinned}) AS unpinned"
    rows = {"unpinned": unpinned.values_list("tokens")}
    return build_statement(template, rows, placeholders={PLACEHOLDER_USER}, lasting=True)

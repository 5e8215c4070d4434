"""The existing memories shown to an extraction model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import F, Q
from django.utils import timezone

from accounts.policy import must_act_for
from accounts.principals import Principal
from journal.models import Ledger
from language.backends import get_embedder
from language.reading.states import states_named
from memories.models import Kind, Memory
from memories.querysets import MemoryQuerySet
from retrieval.budget import pack
from retrieval.search import Corpus, hybrid_search

from ..recall.search import QueryVector
from .plan import Known

NEAREST = 20
QUERY_CHARACTERS = 2_000


def known_memories(principal: Principal, said: Iterable[str], *, vectors: bool) -> list[Known]:
    """Return the person's active memories that may be relevant to a part of a conversation.

    First those of the memory block, in its order and budget, then the most similar recalled-only ones, and those of
    states that it says to be over. Without proposed, quarantined, archived and expired memories. With their
    ``vectors``, and with those of states, only if the model compares by rules.
    """
    said = list(said)
    in_use = Memory.objects.visible_to(principal).in_use(principal).unexpired(timezone.now())
    rows = in_use.filter(kind=Kind.SEMANTIC)
    known = [
        *_block(rows.filter(in_block=True), vectors=vectors),
        *_nearest(principal, rows.filter(in_block=False), said, vectors=vectors),
    ]
    if states := states_named("\n".join(said)) if vectors else ():
        named = reduce(or_, (Q(content__regex=state) for state in states))
        found = _read(rows.filter(named).exclude(pk__in=[each.id for each in known]), vectors=vectors)
        known += [each for each, _, _ in found[:NEAREST]]
    return known


def _block(rows: MemoryQuerySet, *, vectors: bool) -> list[Known]:
    found = _read(rows, vectors=vectors)
    costs = {known.id: (created_at, tokens) for known, created_at, tokens in found}
    newest = sorted(costs, key=lambda memory_id: costs[memory_id][0], reverse=True)
    fit = set(pack(newest, settings.MEMORY_BLOCK_TOKENS, lambda memory_id: costs[memory_id][1]).kept)
    in_order = sorted(found, key=lambda each: (each[0].category, each[1], each[0].id))
    return [known for known, _, _ in in_order if known.id in fit]


def _nearest(principal: Principal, rows: MemoryQuerySet, said: Iterable[str], *, vectors: bool) -> list[Known]:
    ledger = Ledger.objects.get(pk=must_act_for(principal))
    query = QueryVector("\n".join(said)[:QUERY_CHARACTERS])
    hits = hybrid_search(rows, query.search(NEAREST, rows), Corpus(ledger.memories, ledger.memory_terms))
    near = {known.id: known for known, _, _ in _read(rows.filter(pk__in=[hit.id for hit in hits]), vectors=vectors)}
    return [near[hit.id] for hit in hits if hit.id in near]


def _read(rows: MemoryQuerySet, *, vectors: bool) -> list[tuple[Known, datetime, int]]:
    """Return each memory as shown to the model, with its creation time and the tokens of its line."""
    noted = F("versions__recorded_from")  # Of the current version only.
    found = rows.filter(versions__recorded_to__isnull=True).annotate(noted=noted)
    columns = ("id", "category", "subject", "content", "field", "noted", "version", "kind", "created_at", "tokens")
    by = get_embedder().name
    told = found.values(*columns, *(("embedding", "embedding_model") if vectors else ()))
    return [(_known(row, by), row["created_at"], row["tokens"]) for row in told]


def _known(row: Mapping[str, Any], by: str) -> Known:
    """Return a memory with its vector, if that is of the embedder ``by``."""
    vector = np.asarray(row["embedding"], dtype=np.float32) if row.get("embedding_model") == by else None
    return Known(
        row["id"],
        row["category"],
        row["subject"],
        row["content"],
        row["field"],
        row["noted"].date(),
        row["version"],
        row["kind"],
        vector,
    )

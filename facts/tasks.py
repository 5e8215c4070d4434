"""Celery wrappers: ids in, one action called."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from facts.models import FACT
from statements.actions import statements_purge

from . import actions


@shared_task(name="facts.index")
def index_facts(fact_id: str | None = None) -> None:
    """Give a fact its vector and its links; without an id all facts that wait for theirs."""
    actions.facts_index(UUID(fact_id) if fact_id else None)


@shared_task(name="facts.unshare_withheld")
def unshare_withheld(fact_id: str) -> None:
    """Keep a fact to its author that rests on words which they had withheld."""
    actions.fact_unshare_withheld(UUID(fact_id))


@shared_task(name="facts.purge")
def purge_facts() -> None:
    """Delete the facts whose time in the archive is over, and what is left of legacies that were ended."""
    statements_purge(FACT)
    actions.legacies_purge()

"""Celery tasks of this room. Arguments are ids."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from facts.models import FACT
from statements.actions import statements_purge

from . import actions


@shared_task(name="facts.index")
def index_facts(fact_id: str | None = None) -> None:
    """Index one fact; without an id all that are due."""
    actions.facts_index(UUID(fact_id) if fact_id else None)


@shared_task(name="facts.unshare_withheld")
def unshare_withheld(fact_id: str) -> None:
    """Make a shared fact private whose evidence its author had withheld."""
    actions.fact_unshare_withheld(UUID(fact_id))


@shared_task(name="facts.tell_members")
def tell_members(legacy_id: str | None = None) -> None:
    """Tell members of a legacy, in their change feeds, what others share; without an id of all that are due."""
    actions.members_tell(UUID(legacy_id) if legacy_id else None)


@shared_task(name="facts.purge")
def purge_facts() -> None:
    """Purge facts whose retention is over, and ended legacies."""
    statements_purge(FACT)
    actions.legacies_purge()

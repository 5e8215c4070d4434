"""Celery tasks: each calls one action."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from memories.models import MEMORY
from statements.actions import statements_purge

from . import actions


@shared_task(name="memories.index")
def index_memories(memory_id: str | None = None) -> None:
    """Embed a memory; without an id, all that are due."""
    actions.memories_index(memory_id)


@shared_task(name="memories.expire")
def expire_memories() -> None:
    """Archive expired memories."""
    actions.memories_expire()


@shared_task(name="memories.forget_unused")
def forget_unused() -> None:
    """Archive memories that were not used for long, and insights that lost a source."""
    actions.memories_forget_unused()
    actions.insights_tidy()


@shared_task(name="memories.lapse")
def lapse_proposals() -> None:
    """Expire undecided proposals."""
    actions.proposals_lapse()


@shared_task(name="memories.optimize")
def make_plan(job_id: str) -> None:
    """Do one step of the job that makes a plan to merge memories."""
    actions.plan_make(UUID(job_id))


@shared_task(name="memories.tidy_plans")
def tidy_plans() -> None:
    """End expired plans, and resume lost jobs."""
    actions.plans_tidy()


@shared_task(name="memories.consolidate_due")
def consolidate_due() -> None:
    """Start the consolidation of people that are due today."""
    actions.consolidations_due()


@shared_task(name="memories.consolidate")
def consolidate(job_id: str) -> None:
    """Consolidate the memories of one person."""
    actions.memories_consolidate(UUID(job_id))


@shared_task(name="memories.note_shown")
def note_shown() -> None:
    """Store the buffered disclosures: which memories were shown to whom."""
    actions.memories_note_shown()


@shared_task(name="memories.purge")
def purge_memories() -> None:
    """Delete archived memories and places whose retention is over, and old disclosures."""
    statements_purge(MEMORY)
    actions.places_purge()
    actions.disclosures_trim()
    actions.webhooks_trim()


@shared_task(name="memories.sweep_webhooks")
def sweep_webhooks() -> None:
    """Start deliveries of webhooks with pending events."""
    actions.webhooks_sweep()


@shared_task(name="memories.deliver_webhook")
def deliver_webhook(job_id: str) -> None:
    """Do one step of the job that delivers a webhook's events."""
    actions.webhook_deliver(UUID(job_id))

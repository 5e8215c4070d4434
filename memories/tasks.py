"""Celery wrappers: ids in, one action called."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from memories.models import MEMORY
from statements.actions import statements_purge

from . import actions


@shared_task(name="memories.index")
def index_memories(memory_id: str | None = None) -> None:
    """Give a memory its vector; without an id all memories that wait for theirs."""
    actions.memories_index(memory_id)


@shared_task(name="memories.expire")
def expire_memories() -> None:
    """Archive the memories whose time to be remembered is over."""
    actions.memories_expire()


@shared_task(name="memories.forget_unused")
def forget_unused() -> None:
    """Archive the memories that nobody used for long, and the guesses whose grounds have gone."""
    actions.memories_forget_unused()
    actions.insights_tidy()


@shared_task(name="memories.lapse")
def lapse_proposals() -> None:
    """End the proposals that nobody decided about in time."""
    actions.proposals_lapse()


@shared_task(name="memories.optimize")
def make_plan(job_id: str) -> None:
    """Work on a plan to say memories in fewer for one turn."""
    actions.plan_make(UUID(job_id))


@shared_task(name="memories.tidy_plans")
def tidy_plans() -> None:
    """End plans whose day is over, and go on with those that were lost."""
    actions.plans_tidy()


@shared_task(name="memories.consolidate_due")
def consolidate_due() -> None:
    """Begin with the people whose memories are to be consolidated today."""
    actions.consolidations_due()


@shared_task(name="memories.consolidate")
def consolidate(job_id: str) -> None:
    """Consolidate the memories of one person."""
    actions.memories_consolidate(UUID(job_id))


@shared_task(name="memories.note_shown")
def note_shown() -> None:
    """Note what answers have shown to whom."""
    actions.memories_note_shown()


@shared_task(name="memories.purge")
def purge_memories() -> None:
    """Delete the memories and the places whose time in the archive is over, and what long ago was told of them."""
    statements_purge(MEMORY)
    actions.places_purge()
    actions.disclosures_trim()
    actions.webhooks_trim()


@shared_task(name="memories.sweep_webhooks")
def sweep_webhooks() -> None:
    """Begin with the webhooks that have something to tell."""
    actions.webhooks_sweep()


@shared_task(name="memories.deliver_webhook")
def deliver_webhook(job_id: str) -> None:
    """Send what a webhook has to tell for one turn."""
    actions.webhook_deliver(UUID(job_id))

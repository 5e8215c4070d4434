"""Celery wrappers of the journal's own chores."""

from celery import shared_task

from . import actions


@shared_task(name="journal.trim")
def trim() -> None:
    """Delete expired operation events and idempotency records."""
    actions.trim()

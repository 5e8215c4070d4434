"""Celery wrappers of the journal's own chores."""

from celery import shared_task

from . import actions, operation_actions


@shared_task(name="journal.note_operations")
def note_operations() -> None:
    """Log what was changed in the last seconds."""
    operation_actions.flush_operations()


@shared_task(name="journal.trim")
def trim() -> None:
    """Delete expired operation events and idempotency records."""
    actions.trim()

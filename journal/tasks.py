"""Periodic Celery tasks of the journal."""

from celery import shared_task

from . import actions, operation_actions


@shared_task(name="journal.note_operations")
def note_operations() -> None:
    """Store the operations that were queued in the last seconds."""
    operation_actions.flush_operations()


@shared_task(name="journal.trim")
def trim() -> None:
    """Delete expired rows."""
    actions.trim()

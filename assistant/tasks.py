"""Celery wrappers: ids in, one action called."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from . import actions, noting
from .extraction import actions as extraction
from .imports import actions as imports


@shared_task(name="assistant.maybe_summarize")
def maybe_summarize(conversation_id: str) -> None:
    """Summarise what is due in a conversation."""
    actions.maybe_summarize(UUID(conversation_id))


@shared_task(name="assistant.extract_messages")
def extract_messages(conversation_id: str) -> None:
    """Read the messages of a conversation that are to be read by themselves for what to remember."""
    extraction.extract_messages(UUID(conversation_id))


@shared_task(name="assistant.finish_idle")
def finish_idle() -> None:
    """Finish conversations that have been idle for an hour."""
    actions.finish_idle()


@shared_task(name="assistant.sweep")
def sweep() -> None:
    """Start again what was lost."""
    actions.sweep()


@shared_task(name="assistant.run_import")
def run_import(job_id: str) -> None:
    """Work on an import for one turn."""
    imports.run_import(UUID(job_id))


@shared_task(name="assistant.sweep_imports")
def sweep_imports() -> None:
    """Start imports again that were lost."""
    imports.sweep_imports()


@shared_task(name="assistant.note_recall")
def note_recall(*values: str) -> None:
    """Log that something was looked up on demand."""
    noting.recall_note(*values)

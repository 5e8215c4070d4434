"""Celery wrappers: ids in, one action called."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from .erasure import actions as erasures
from .imports import actions, run
from .learn import actions as learn
from .learn import insights, rewriting, summarizing, waiting
from .recall import search
from .reply import actions as replies
from .takeout import export_actions


@shared_task(name="assistant.maybe_summarize")
def maybe_summarize(conversation_id: str) -> None:
    """Summarise what is due in a conversation."""
    summarizing.maybe_summarize(UUID(conversation_id))


@shared_task(name="assistant.extract_messages")
def extract_messages(conversation_id: str) -> None:
    """Read the messages of a conversation that are to be read by themselves for what to remember."""
    learn.extract_messages(UUID(conversation_id))


@shared_task(name="assistant.write_candidates")
def write_candidates(user_id: str) -> None:
    """Write what waits of a person because of a cap."""
    waiting.candidates_write(UUID(user_id))


@shared_task(name="assistant.insights_due")
def insights_due() -> None:
    """Begin with the people of whom something is guessed today."""
    insights.insights_due()


@shared_task(name="assistant.find_insights")
def find_insights(job_id: str) -> None:
    """Guess what lies behind what was noted of one person lately."""
    insights.insights_find(UUID(job_id))


@shared_task(name="assistant.rewrite_chunks")
def rewrite_chunks(conversation_id: str) -> None:
    """Write the summaries of a conversation anew of which something was withheld."""
    rewriting.rewrite_chunks(UUID(conversation_id))


@shared_task(name="assistant.finish_idle")
def finish_idle() -> None:
    """Finish conversations that have been idle for an hour."""
    summarizing.finish_idle()


@shared_task(name="assistant.sweep")
def sweep() -> None:
    """Start again what was lost."""
    summarizing.sweep()


@shared_task(name="assistant.sweep_replies")
def sweep_replies() -> None:
    """End replies whose process did not live to end them."""
    replies.replies_sweep()


@shared_task(name="assistant.run_import")
def run_import(job_id: str) -> None:
    """Work on an import for one turn."""
    run.run_import(UUID(job_id))


@shared_task(name="assistant.sweep_imports")
def sweep_imports() -> None:
    """Start imports again that were lost."""
    actions.sweep_imports()


@shared_task(name="assistant.run_export")
def run_export(job_id: str) -> None:
    """Write everything about a person into a file."""
    export_actions.run_export(UUID(job_id))


@shared_task(name="assistant.sweep_exports")
def sweep_exports() -> None:
    """Begin exports again that were lost, and remove files whose time is over."""
    export_actions.exports_sweep()
    export_actions.exports_expire()


@shared_task(name="assistant.run_erasure")
def run_erasure(job_id: str) -> None:
    """Carry out an erasure."""
    erasures.run_erasure(UUID(job_id))


@shared_task(name="assistant.sweep_erasures")
def sweep_erasures() -> None:
    """Begin erasures that are due, and those that were lost."""
    erasures.erasures_sweep()


@shared_task(name="assistant.note_recall")
def note_recall(*values: str) -> None:
    """Log that something was looked up on demand."""
    search.recall_note(*values)

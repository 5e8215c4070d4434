"""Celery wrappers: one action called."""

from __future__ import annotations

from celery import shared_task

from . import actions


@shared_task(name="accounts.tidy_invitations")
def tidy_invitations() -> None:
    """Delete the invitations that have ended."""
    actions.invitations_tidy()

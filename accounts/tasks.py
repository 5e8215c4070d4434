"""Celery tasks of this room."""

from __future__ import annotations

from uuid import UUID

from celery import shared_task

from . import actions


@shared_task(name="accounts.tidy_invitations")
def tidy_invitations() -> None:
    """Delete invitations that have ended."""
    actions.invitations_tidy()


@shared_task(name="accounts.mail_reset")
def mail_reset(user_id: str, site: str) -> None:
    """Mail a person a link to set a new password."""
    actions.password_mail(UUID(user_id), site)

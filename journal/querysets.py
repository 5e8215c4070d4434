"""Reads of the journal."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import models
from django.db.models import Q

if TYPE_CHECKING:
    from .models import Change, JobRun  # noqa: F401 - named in the generic bases


class ChangeQuerySet(models.QuerySet["Change"]):
    """Who may read which changes."""

    def of_owner(self, owner_id: UUID) -> ChangeQuerySet:
        """The changes of one person or legacy, in the order in which they happened."""
        return self.filter(ledger_id=owner_id).order_by("rev")


class JobRunQuerySet(models.QuerySet["JobRun"]):
    """Which jobs are there to be taken."""

    def of_user(self, user_id: UUID | None) -> JobRunQuerySet:
        """The jobs that work for one person."""
        return self.none() if user_id is None else self.filter(user_id=user_id)

    def failing(self) -> JobRunQuerySet:
        """Jobs that failed and can be tried again, and those that wait for that by themselves."""
        rows = self.filter(state__in=["waiting", "failed"]).exclude(error_code="")
        return rows.exclude(error_code__in=self.model.FINAL_ERRORS)

    def claimable(self, at: datetime) -> JobRunQuerySet:
        """Waiting jobs whose time has come, and running ones whose worker is gone."""
        return self.filter(Q(state="waiting", not_before__lte=at) | Q(state="running", lease_until__lte=at))

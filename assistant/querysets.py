"""Visibility of replies."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import models

from accounts.principals import Principal
from conversations.models import Conversation

if TYPE_CHECKING:
    from .models import Reply  # noqa: F401 - named in the generic base


class ReplyQuerySet(models.QuerySet["Reply"]):
    """Replies."""

    def visible_to(self, principal: Principal) -> ReplyQuerySet:
        """All for staff; for others those of visible conversations."""
        if principal.kind == "staff":
            return self
        return self.filter(conversation__in=Conversation.objects.visible_to(principal))

    def lost(self, now: datetime) -> ReplyQuerySet:
        """Running replies whose process has ended."""
        return self.filter(state="running", lease_until__lte=now)

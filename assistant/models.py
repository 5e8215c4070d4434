"""Replies of the built-in assistant: state and usage."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils import timezone

from accounts.models import Agent, User
from conversations.models import Conversation

from .querysets import ReplyQuerySet

_STATES = ["running", "done", "stopped", "failed"]
_MODES = ["agent", "chat", "council"]


class Reply(models.Model):
    """A reply to one message of a conversation. Its text is a message.

    ``message_index``: the answered message; ``answer_index``: the saved answer, or None. ``lease_until``: while it
    runs, the time after which it is lost. ``attempt`` counts from 1. Tokens are those of all rounds; ``cached_tokens``
    of the ``input_tokens`` came from the prompt cache. ``memories`` and ``facts``: ids in the prompt. ``model`` wrote
    the answer; in a council it is the first of the ``council``.
    """

    class State(models.TextChoices):
        RUNNING = "running"  # -> done, stopped, failed
        DONE = "done"
        STOPPED = "stopped"  # -> running, where nothing was saved
        FAILED = "failed"  # -> running

    class Mode(models.TextChoices):
        AGENT = "agent"
        CHAT = "chat"
        COUNCIL = "council"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="replies", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")
    message_index = models.PositiveIntegerField()
    answer_index = models.PositiveIntegerField(null=True)
    mode = models.CharField(max_length=10, choices=Mode.choices)
    uses_tools = models.BooleanField()
    model = models.CharField(max_length=80)
    council = ArrayField(models.CharField(max_length=80), default=list, db_default=[])
    memories = ArrayField(models.CharField(max_length=8), default=list, db_default=[])
    facts = ArrayField(models.UUIDField(), default=list, db_default=[])
    state = models.CharField(max_length=10, choices=State.choices, default=State.RUNNING)
    error_code = models.CharField(max_length=60, blank=True)
    attempt = models.PositiveSmallIntegerField(default=1)
    rounds = models.PositiveSmallIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(default=timezone.now)
    lease_until = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = ReplyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "replies"
        constraints = [
            models.CheckConstraint(condition=Q(state__in=_STATES), name="reply_state_known"),
            models.CheckConstraint(condition=Q(mode__in=_MODES), name="reply_mode_is_known"),
            models.CheckConstraint(condition=Q(cached_tokens__lte=F("input_tokens")), name="reply_cached_within_input"),
            models.UniqueConstraint(fields=["conversation", "message_index"], name="reply_once"),
            models.UniqueConstraint(fields=["conversation"], condition=Q(state="running"), name="reply_one_at_a_time"),
        ]
        indexes = [
            models.Index(fields=["user", "-started_at"], name="reply_by_user"),
            models.Index(fields=["lease_until"], condition=Q(state="running"), name="reply_running"),
        ]

    def __str__(self) -> str:
        return f"reply to message {self.message_index} of {self.conversation_id}"

    @property
    def cached_percent(self) -> int:
        """Percentage of input tokens from the prompt cache."""
        return round(100 * self.cached_tokens / self.input_tokens) if self.input_tokens else 0

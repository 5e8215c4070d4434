"""Model roles of this deployment: model, effort, token limit and today's usage of each."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from assistant.models import Reply
from journal.counting import count_model_use
from language.backends import get_model, get_reply_model

JUDGES = frozenset({"compare", "consolidate"})
"""Purposes of calls to the judging model; all others belong to the extracting model."""


@dataclass(frozen=True, slots=True)
class RoleToday:
    """A model role, its settings, and its input and output tokens since midnight (UTC).

    ``most_tokens``: the output limit per ``most_of``. ``offline``: rules, for which the settings have no meaning.
    """

    role: str
    model: str
    offline: bool
    effort: str
    most_tokens: int
    most_of: str
    read: int
    written: int


def roles_today() -> list[RoleToday]:
    """Return the roles in two queries, one of them over today's replies."""
    now = timezone.now()
    used = {purpose: (read, written) for purpose, _calls, read, written in count_model_use(now.date())}
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    replied = Reply.objects.filter(started_at__gte=midnight).aggregate(
        read=Sum("input_tokens", default=0), written=Sum("output_tokens", default=0)
    )
    model, talks = get_model(), get_reply_model()
    judge = model.name if model.offline else settings.KEEPSAKE_JUDGE_MODEL or model.name
    judged = [tokens for purpose, tokens in used.items() if purpose in JUDGES]
    extracted = [tokens for purpose, tokens in used.items() if purpose not in JUDGES]
    return [
        RoleToday(
            "Replies", talks.name, talks.offline, settings.KEEPSAKE_REPLY_EFFORT, settings.REPLY_TOKENS, "a reply",
            replied["read"], replied["written"],
        ),
        RoleToday(
            "Extracts", model.name, model.offline, settings.KEEPSAKE_MODEL_EFFORT, settings.KEEPSAKE_MODEL_TOKENS,
            "a call", *map(sum, zip((0, 0), *extracted, strict=True)),
        ),
        RoleToday(
            "Judges", judge, model.offline, settings.KEEPSAKE_JUDGE_EFFORT, settings.KEEPSAKE_JUDGE_TOKENS,
            "a call", *map(sum, zip((0, 0), *judged, strict=True)),
        ),
    ]  # fmt: skip

"""Which model has which role in this deployment, and what each used today."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone

from assistant.models import Reply
from journal.counting import count_model_use
from language.backends import get_model, get_reply_model

JUDGES = frozenset({"compare", "consolidate"})
"""The purposes for which the judge is called; all others are those of the model that extracts."""


@dataclass(frozen=True, slots=True)
class RoleToday:
    """What a model is called for, how, and the tokens that it read and wrote since midnight (UTC).

    ``most_tokens`` are what it may write, of which ``most_of`` says in what. Without a model all of it is nothing.
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
    """The roles as the settings give them out. Two queries, one of them over the day's replies."""
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

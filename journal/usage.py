"""How much a deployment lets language models use for work that runs by itself, and how much of it is left."""

from __future__ import annotations

from django.db import connection
from django.db.models import F, Sum
from django.utils import timezone

from language.base import Usage

from .models import ModelUse

_ADD = """
INSERT INTO journal_modeluse AS known (day, purpose, calls, input_tokens, output_tokens)
VALUES (%s, %s, 1, %s, %s)
ON CONFLICT (day, purpose) DO UPDATE SET calls = known.calls + 1,
    input_tokens = known.input_tokens + excluded.input_tokens,
    output_tokens = known.output_tokens + excluded.output_tokens
"""


def note_model_use(purpose: str, usage: Usage) -> None:
    """Count one call of a model that answered; rules that stand in for one use nothing and are not counted."""
    if usage == Usage():
        return
    with connection.cursor() as cursor:
        cursor.execute(_ADD, [timezone.now().date(), purpose, usage.input_tokens, usage.output_tokens])


def tokens_used_today(*purposes: str) -> int:
    """Input and output tokens of today (UTC) for some purposes, of the whole deployment."""
    rows = ModelUse.objects.filter(day=timezone.now().date(), purpose__in=purposes)
    return rows.aggregate(tokens=Sum(F("input_tokens") + F("output_tokens")))["tokens"] or 0

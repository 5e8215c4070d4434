"""What language models used for work that runs by itself, counted from their own answers."""

from __future__ import annotations

from django.db import models


class ModelUse(models.Model):
    """Calls and tokens of one day (UTC) for one purpose, of the whole deployment. Names nobody.

    ``input_tokens`` counts what came out of the server's cache too.
    """

    day = models.DateField()
    purpose = models.CharField(max_length=20)
    calls = models.PositiveIntegerField(default=0)
    input_tokens = models.BigIntegerField(default=0)
    output_tokens = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "purpose"], name="model_use_once_per_day")]

    def __str__(self) -> str:
        return f"{self.purpose} on {self.day:%Y-%m-%d}"

"""Answers to the question whether to keep something that say otherwise what is to be kept: "no, on Tuesday"."""

from __future__ import annotations

from collections.abc import Sequence

from language.base import Utterance

from ..corrections import corrections_in
from ..second_tries import second_try
from .offers import asks_to_keep
from .parts import asked_statements


def corrects_asked(question: str, said: str) -> bool:
    """Whether an answer puts right a statement that the question asks about."""
    asked = asked_statements(question) if asks_to_keep(question) else []
    tried, swaps = second_try(said) if asked else None, list(corrections_in(said))
    return any(
        (tried is not None and tried.apply_to(each)) or any(swap.apply_to(each) for swap in swaps) for each in asked
    )


def answers_an_offer(messages: Sequence[Utterance], index: int) -> bool:
    """Whether the last thing that was said before a message asked whether to keep something."""
    before = [each for each in messages if each.index < index][-1:]
    return any(each.role != "user" and asks_to_keep(each.content) for each in before)

"""Choosing by rule which of the texts that were found help with a question: those that share a word with it."""

from __future__ import annotations

from collections.abc import Sequence

from language.base import Passage
from language.offline.compare import sense_of
from language.offline.lexicon.words import listed

_QUESTION = listed("what where when which whom whose why how do does did you me i about tell know")


def select(question: str, passages: Sequence[Passage], most: int) -> tuple[str, ...]:
    """The ids of those that share a word with the question, in their order; of all when none does, at most ``most``."""
    wanted = sense_of(question).bag - _QUESTION
    sharing = [passage.id for passage in passages if wanted & sense_of(passage.text).bag]
    return tuple((sharing or [passage.id for passage in passages])[:most])

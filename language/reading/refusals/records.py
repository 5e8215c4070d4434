"""What is read of a refusal: the turns of the talk, and what one of them refuses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation. ``is_held``: the person is being asked whether it may be remembered."""

    role: str
    content: str
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a message refuses: sentences with the positions of their turns, and the words that name it.

    Those of the assistant asked about it. ``named_lemmas`` are matched against known memories; empty if the message
    only refers to sentences. ``covers_all``: everything about it is meant. ``is_negated``: the polarity of a named
    clause, None for a noun phrase. ``answers_question``: it answers a request to keep something. ``is_part``: it
    refuses only a part of what was asked about, and the passages are verbatim; ``agreed``: the turn whose rest may be
    kept; ``consents``: because it says so, not because nothing else was asked.
    """

    passages: tuple[tuple[int, str], ...]
    named_lemmas: frozenset[str] = frozenset()
    covers_all: bool = False
    is_negated: bool | None = None
    answers_question: bool = False
    is_part: bool = False
    agreed: int | None = None
    consents: bool = True

"""Set phrases at a place in a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from language.offline.lexicon.words import by_first_word
from language.offline.tokens import Token

Phrases: TypeAlias = dict[str, tuple[tuple[str, ...], ...]]

POLITE = by_first_word(
    (
        "can you", "could you", "would you", "will you", "i want you to", "i would like you to", "i need you to",
        "please", "and", "also", "so", "oh", "ok", "okay", "hey", "then", "but", "well", "just", "kindly", ",",
    )
)  # fmt: skip


def phrase_end(tokens: Sequence[Token], position: int, phrases: Phrases) -> int | None:
    """Return where the longest of the phrases that stand at ``position`` ends, or None."""
    for phrase in phrases.get(tokens[position].low, ()) if position < len(tokens) else ():
        end = position + len(phrase)
        if tuple(token.low for token in tokens[position:end]) == phrase:
            return end
    return None


def skip_phrases(tokens: Sequence[Token], position: int, phrases: Phrases) -> int:
    """Return where the phrases that stand one after another from ``position`` on end."""
    while (after := phrase_end(tokens, position, phrases)) is not None:
        position = after
    return position

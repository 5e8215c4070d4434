"""The nouns that a statement lists: "a cat, a dog and two rabbits"."""

from __future__ import annotations

from .parse import Parsed, Word


def listed_with(parsed: Parsed, word: Word) -> list[Word]:
    """The nouns of the list that a noun is in, in order; only itself if it is in none."""
    first = word
    while first.dep == "conj" and parsed.head(first).pos in {"NOUN", "PROPN"}:
        first = parsed.head(first)
    found = [first]
    while (after := parsed.child(found[-1], "conj")) is not None and after.pos in {"NOUN", "PROPN"}:
        found.append(after)
    return found


def span_in(parsed: Parsed, word: Word, listed_ones: list[Word]) -> tuple[int, int]:
    """Where a noun of a list stands with its own words, without those that are listed after it."""
    later = {each.index for other in listed_ones if other.index > word.index for each in parsed.subtree(other)}
    own = [each for each in parsed.subtree(word) if each.index not in later and each.dep not in {"cc", "punct"}]
    return own[0].start, own[-1].end

"""Whether two memories may be merged by consolidation. No database.

A wrong merge loses a statement. Figures, names, dates, units, negation and people are compared exactly; a model's
verdict can't override that.
"""

from __future__ import annotations

from language.base import Comparison
from language.reading.compare import compare, matters_of, shared_words
from language.reading.sameness import EmbeddedStatement, StatementPair
from retrieval.text import is_most_likely_english

ENOUGH_SHARED = 0.2
"""Minimum share of common content words for a model to look for a contradiction, from 0 to 1."""


Read = str | EmbeddedStatement
"""A text, or its cached features, to read each text once when many are compared."""


def _pair(one: Read, other: Read) -> StatementPair:
    first, second = (EmbeddedStatement(each) if isinstance(each, str) else each for each in (one, other))
    return StatementPair(first, second)


def may_be_one(kept: Read, dropped: Read) -> bool:
    """Whether two texts have no exact difference, and may have the same meaning."""
    return _pair(kept, dropped).may_be_duplicate


def says_the_same(kept: Read, dropped: Read) -> bool:
    """Whether two texts have the same meaning, decided without a model. No: in another language than English."""
    pair = _pair(kept, dropped)
    are_read = is_most_likely_english(pair.first.text) and is_most_likely_english(pair.second.text)
    return are_read and pair.is_duplicate


def how_likely_one(kept: Read, dropped: Read) -> float:
    """Return the probability that two texts have the same meaning; 0 where no model would be asked."""
    pair = _pair(kept, dropped)
    return pair.likelihood if pair.may_be_duplicate else 0.0


def may_be_at_odds(one: str, other: str) -> bool:
    """Whether two similar texts may contradict each other, for a model to decide: they share words."""
    return shared_words(one, other) >= ENOUGH_SHARED


def share_a_matter(one: str, other: str, name: str = "") -> bool:
    """Whether two texts share a word other than the user, who may be called by ``name``.

    Short statements have similar vectors, whatever they say.
    """
    return not matters_of(one, name).isdisjoint(matters_of(other, name))


def may_exclude(one: str, other: str, name: str = "") -> bool:
    """Whether the words of two texts suggest that only one of them should stay: a possible duplicate or contradiction.

    ``name``: what the user may be called.
    """
    return share_a_matter(one, other, name) and (may_be_one(one, other) or compare(one, other) != "different")


def verdict_of_rules(kept: EmbeddedStatement, dropped: EmbeddedStatement) -> Comparison:
    """Return the verdict on two memories without a model."""
    if says_the_same(kept, dropped):
        return "same"
    found = compare(dropped.text, kept.text)
    return "different" if found == "same" else found

"""Whether two memories may be one, for consolidation: what they have to have in common, whoever says that they are.

A wrong merge loses a statement. Figures, names, dates, units, denial and who is meant are compared word by word; a
model is asked about the rest, and never instead. No database.
"""

from __future__ import annotations

import re

from language.base import Comparison
from language.reading.compare import compare, shared_words
from language.reading.sameness import Pair, Statement

_WORDS = re.compile(r"\w+")
ENOUGH_SHARED = 0.2
"""Which part of their words two memories share, of those that matter, where a model may find them at odds."""


Read = str | Statement
"""A text, or what was read of it before: whoever compares many with each other reads each once."""


def _pair(one: Read, other: Read) -> Pair:
    first, second = (Statement(each) if isinstance(each, str) else each for each in (one, other))
    return Pair(first, second)


def may_be_one(kept: Read, dropped: Read) -> bool:
    """Whether nothing that is said exactly keeps two texts apart, and their words may say one thing."""
    return _pair(kept, dropped).may_be_one


def says_the_same(kept: Read, dropped: Read) -> bool:
    """Whether two texts say one thing twice, as far as can be told without a model."""
    return _pair(kept, dropped).is_one


def how_likely_one(kept: Read, dropped: Read) -> float:
    """How likely it is that two texts say one thing; 0 where something said exactly keeps them apart."""
    pair = _pair(kept, dropped)
    return pair.chance if pair.may_be_one else 0.0


def may_be_at_odds(one: str, other: str) -> bool:
    """Whether two near texts may be at odds, which a model can tell: they share words."""
    return shared_words(one, other) >= ENOUGH_SHARED


def share_a_matter(one: str, other: str, name: str = "") -> bool:
    """Whether two texts share a word beside whom they are about: the user, who may be called by their ``name``.

    Short statements are near to each other as vectors, whatever they say.
    """
    who = {"user", "you", "your", *name.casefold().split()}
    matters = [" ".join(each for each in _WORDS.findall(text.casefold()) if each not in who) for text in (one, other)]
    return shared_words(*matters) > 0


def verdict_of_rules(kept: str, dropped: str) -> Comparison:
    """What two memories are to each other without a model."""
    if says_the_same(kept, dropped):
        return "same"
    found = compare(dropped, kept)
    return "different" if found == "same" else found

"""Whether a statement may say in other words what a person rejected. No database.

Two texts are near to each other as vectors for what they say and for the words they share: "collects stamps" and
"collects coins" are as near as two wordings of one statement. So the more words they share, the nearer they have to be.
"""

from __future__ import annotations

import re

from django.conf import settings

from language.reading.compare import Saying, shared_words
from retrieval.text import list_words

RESEMBLES = "This resembles something that was rejected before."
"""Why such a statement waits for the person. What was rejected is not quoted."""

_SHARED_UNKNOWN = 0.5
_FIGURES = re.compile(r"\d+")
# Any sentence begins with a capital letter, so what stands first may be no name.
_INSIDE = re.compile(r"(?<![.!?:;] )(?<!^)\b[^\W\d_]\w*")


def resembles(said: Saying, rejected: str | None, similarity: float) -> bool:
    """Whether something may mean what was rejected, by their cosine similarity, at least ``SUPPRESSION_SIMILARITY``.

    ``rejected`` is None when its text is gone: then as if they shared half of their words. Other figures or names, or a
    contradiction, make it another statement.
    """
    if rejected is None:
        return similarity >= _asked(_SHARED_UNKNOWN)
    if not particulars_agree(rejected, said.content):
        return False
    verdict = said.to(rejected)
    if verdict == "different":
        return similarity >= _asked(shared_words(rejected, said.content))
    return verdict == "same"


def _asked(shared: float) -> float:
    return float(settings.SUPPRESSION_SIMILARITY + shared * settings.SUPPRESSION_SHARED_WORDS)


def particulars_agree(one: str, other: str) -> bool:
    """Whether two texts name the same figures in one order, and no names that tell them apart.

    Names do when each text has one that the other lacks, or when those of both come in another order.
    """
    if _FIGURES.findall(one) != _FIGURES.findall(other):
        return False
    first, second = _names(one), _names(other)
    if set(first) - set(second) and set(second) - set(first):
        return False
    return [name for name in first if name in second] == [name for name in second if name in first]


def _names(text: str) -> list[str]:
    """The capitalised words of a text, each once and in order, without those that begin a sentence."""
    names = (word for word in _INSIDE.findall(text) if word[0].isupper())
    return list(dict.fromkeys("".join(list_words(name)).removesuffix("s") for name in names))

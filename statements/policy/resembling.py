"""Whether a statement says in other words what a person rejected. No database.

Vectors of two texts are close for their meaning and for shared words: "collects stamps" and "collects coins" are as
close as two wordings of one statement. So the more words two texts share, the higher the required similarity.
"""

from __future__ import annotations

import re
from typing import Literal

from django.conf import settings

from language.gates.passages import spoken
from language.likeness import sameness
from language.reading.compare import Saying, contains_words_of, shared_words
from language.reading.sameness import StatementPair, Worded
from retrieval.text import list_words

RESEMBLES = "This resembles something that was rejected before."
"""The reason for review of such a statement. It does not quote what was rejected."""

LEAST_SIMILARITY = 0.83
"""Below this cosine similarity of the bundled embedder's vectors, two texts don't mean the same."""
NEAR_SIMILARITY, NEAR_LIKENESS, NEAR_SHARED_WORDS = 0.915, 0.28, 0.2
NEAR_SAMENESS = -1.75
SAME_SAMENESS, UNLIKELY_SAMENESS = 0.5, 1.0
"""The least sameness of two texts that consolidation tells apart, and of two that are unlikely to be one to it."""
_UNLIKELY = 0.5
_FEW_SHARED, _FEWER_SHARED = 0.25, 0.2
"""Texts that share no more of their words are told apart by their vectors only; the second where something differs."""
_SHARED_UNKNOWN, _SHARED_AT_LEAST = 0.5, 0.1
_OF_THE_USER = re.compile(r"\buser\b(?!['’]s)", re.IGNORECASE)
_FIGURES = re.compile(r"\d+")
# Capitalised words that don't begin a sentence, since those need not be names.
_INSIDE = re.compile(r"(?<![.!?:;] )(?<!^)\b[^\W\d_]\w*")


Match = Literal["meaning", "near", ""]


def matching(said: Saying, rejected: str | None, similarity: float, alike: float | None) -> Match:
    """How a text matches a rejected one: by "meaning" (``resembles``), "near" (``may_resemble``), or not at all.

    ``similarity`` is the cosine of their vectors, ``alike`` their ``language.likeness``; None with another embedder
    than the bundled one.
    """
    if resembles(said, rejected, similarity):
        found: Match = "meaning"
    elif alike is not None and may_resemble(said.content, rejected, similarity, alike):
        found = "near"
    else:
        return ""
    # Parsed last, since few texts come this far.
    apart = rejected is not None and alike is not None and are_apart(said.content, rejected, similarity, alike)
    return "" if apart else found


def are_apart(said: str, rejected: str, similarity: float, alike: float) -> bool:
    """Whether two texts that share words say different things, as consolidation compares them: whose roles, whom, what.

    Where consolidation keeps two apart to lose neither, what vectors say still counts here, to miss no paraphrase.
    """
    pair = StatementPair(Worded(rejected), Worded(said))
    if pair.has_swapped_roles:
        return True
    few = _FEWER_SHARED if pair.differs else _FEW_SHARED
    if shared_words(rejected, said) <= few or (contains_words_of(said, rejected) and not pair.differs):
        return False
    least = SAME_SAMENESS if pair.differs else UNLIKELY_SAMENESS if pair.probability < _UNLIKELY else NEAR_SAMENESS
    return sameness(rejected, said, similarity, alike) < least


def resembles(said: Saying, rejected: str | None, similarity: float) -> bool:
    """Whether a text means the same as a rejected one. Then approving it also removes the suppression.

    ``similarity`` is the cosine of their vectors. ``rejected`` is None if its text was purged; then half of the words
    count as shared. Texts with other numbers or names, or that contradict each other, are different.
    """
    if similarity < settings.SUPPRESSION_SIMILARITY:
        return False
    if rejected is None:
        return similarity >= _required_similarity(_SHARED_UNKNOWN)
    if not particulars_agree(rejected, said.content):
        return False
    verdict = said.to(rejected)
    if verdict == "different":
        return similarity >= _required_similarity(shared_words(rejected, said.content))
    return verdict == "same"


def may_resemble(said: str, rejected: str | None, similarity: float, alike: float) -> bool:
    """Whether a text may mean the same as a rejected one, so that the person has to review it. Favours recall.

    It uses the cosine similarity and ``language.likeness`` (``alike``) of the bundled embedder's vectors. If the
    rejected text exists, its words count too, as vectors of "plans to leave her job" and "plans to leave her husband"
    are close; a text that contains all words of the rejected one is not told apart by words. A different number or
    name makes it another statement; one that is missing or added does not.
    """
    if rejected is not None:
        figures, others = _FIGURES.findall(rejected), _FIGURES.findall(said)
        if (figures and others and figures != others) or not _names_agree(rejected, said):
            return False
        if not contains_words_of(said, rejected) and sameness(rejected, said, similarity, alike) < NEAR_SAMENESS:
            return False
    if not any(_OF_THE_USER.search(text) for text in (said, rejected or "")):
        return similarity >= NEAR_SIMILARITY
    shared = _SHARED_AT_LEAST if rejected is None else shared_words(rejected, said)
    return similarity >= NEAR_SIMILARITY or alike >= NEAR_LIKENESS + shared * NEAR_SHARED_WORDS


def contains_all_words(document: str, rejected: str | None) -> bool:
    """Whether a document contains all words of a rejected text, in any order. False if that text was purged.

    Used for documents because their vectors are close to each other whatever they say.
    """
    words = set(list_words(rejected or ""))
    return bool(words) and words <= {*list_words(document), *list_words(spoken(document))}


def _required_similarity(shared: float) -> float:
    return float(settings.SUPPRESSION_SIMILARITY + shared * settings.SUPPRESSION_SHARED_WORDS)


def particulars_agree(one: str, other: str) -> bool:
    """Whether two texts have the same numbers in the same order, and compatible names.

    Names are incompatible if each text has one that the other lacks, or if shared names come in another order.
    """
    return _FIGURES.findall(one) == _FIGURES.findall(other) and _names_agree(one, other)


def _names_agree(one: str, other: str) -> bool:
    first, second = _names(one), _names(other)
    if set(first) - set(second) and set(second) - set(first):
        return False
    return [name for name in first if name in second] == [name for name in second if name in first]


def _names(text: str) -> list[str]:
    """Return the distinct capitalised words of a text in order, without those that begin a sentence."""
    names = (word for word in _INSIDE.findall(text) if word[0].isupper())
    return list(dict.fromkeys("".join(list_words(name)).removesuffix("s") for name in names))

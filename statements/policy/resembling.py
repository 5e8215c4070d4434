"""Whether a statement may say in other words what a person rejected. No database.

Two texts are near to each other as vectors for what they say and for the words they share: "collects stamps" and
"collects coins" are as near as two wordings of one statement. So the more words they share, the nearer they have to be.
"""

from __future__ import annotations

import re

from django.conf import settings

from language.gates.passages import spoken
from language.likeness import sameness
from language.reading.compare import Saying, says_all_of, shared_words
from retrieval.text import list_words

RESEMBLES = "This resembles something that was rejected before."
"""Why such a statement waits for the person. What was rejected is not quoted."""

LEAST_SIMILARITY = 0.83
"""What is less near, as the bundled embedder's vectors are, may not mean the same."""
NEAR_SIMILARITY, NEAR_LIKENESS, NEAR_SHARED_WORDS = 0.915, 0.28, 0.2
NEAR_SAMENESS = -1.75
_SHARED_UNKNOWN, _SHARED_AT_LEAST = 0.5, 0.1
_OF_THE_USER = re.compile(r"\buser\b(?!['’]s)", re.IGNORECASE)
_FIGURES = re.compile(r"\d+")
# Any sentence begins with a capital letter, so what stands first may be no name.
_INSIDE = re.compile(r"(?<![.!?:;] )(?<!^)\b[^\W\d_]\w*")


def resembles(said: Saying, rejected: str | None, similarity: float) -> bool:
    """Whether something means what was rejected, by their cosine similarity: approving it approves that.

    ``rejected`` is None when its text is gone: then as if they shared half of their words. Other figures or names, or a
    contradiction, make it another statement.
    """
    if similarity < settings.SUPPRESSION_SIMILARITY:
        return False
    if rejected is None:
        return similarity >= _asked(_SHARED_UNKNOWN)
    if not particulars_agree(rejected, said.content):
        return False
    verdict = said.to(rejected)
    if verdict == "different":
        return similarity >= _asked(shared_words(rejected, said.content))
    return verdict == "same"


def comes_near(said: str, rejected: str | None, similarity: float, alike: float) -> bool:
    """Whether something may mean what was rejected, so that its person has to see it: rather too much than too little.

    By cosine similarity and ``language.likeness`` of the bundled embedder's vectors, and while the text of what was
    rejected is there, by the words of both too: "plans to leave her job" is near to "plans to leave her husband". What
    has all the words of it says more, so it is not told apart by them.
    Another figure or name makes it another statement; one that is left out or added does not.
    """
    if rejected is not None:
        figures, others = _FIGURES.findall(rejected), _FIGURES.findall(said)
        if (figures and others and figures != others) or not _names_agree(rejected, said):
            return False
        if not says_all_of(said, rejected) and sameness(rejected, said, similarity, alike) < NEAR_SAMENESS:
            return False
    if not any(_OF_THE_USER.search(text) for text in (said, rejected or "")):
        return similarity >= NEAR_SIMILARITY
    shared = _SHARED_AT_LEAST if rejected is None else shared_words(rejected, said)
    return similarity >= NEAR_SIMILARITY or alike >= NEAR_LIKENESS + shared * NEAR_SHARED_WORDS


def stands_in(document: str, rejected: str | None) -> bool:
    """Whether a document that is near to what was rejected has all its words, in whatever order.

    Vectors of documents are near to each other for being documents. What is gone says nothing of its words.
    """
    words = set(list_words(rejected or ""))
    return bool(words) and words <= {*list_words(document), *list_words(spoken(document))}


def _asked(shared: float) -> float:
    return float(settings.SUPPRESSION_SIMILARITY + shared * settings.SUPPRESSION_SHARED_WORDS)


def particulars_agree(one: str, other: str) -> bool:
    """Whether two texts name the same figures in one order, and no names that tell them apart.

    Names do when each text has one that the other lacks, or when those of both come in another order.
    """
    return _FIGURES.findall(one) == _FIGURES.findall(other) and _names_agree(one, other)


def _names_agree(one: str, other: str) -> bool:
    first, second = _names(one), _names(other)
    if set(first) - set(second) and set(second) - set(first):
        return False
    return [name for name in first if name in second] == [name for name in second if name in first]


def _names(text: str) -> list[str]:
    """The capitalised words of a text, each once and in order, without those that begin a sentence."""
    names = (word for word in _INSIDE.findall(text) if word[0].isupper())
    return list(dict.fromkeys("".join(list_words(name)).removesuffix("s") for name in names))

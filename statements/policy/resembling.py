"""Whether a statement says in other words what a person rejected. No database.

Vectors of two texts are close for their meaning and for shared words: "collects stamps" and "collects coins" are as
close as two wordings of one statement. So the more words two texts share, the higher the required similarity; and
where there are vectors of the bundled embedder, a model trained by ``benchmarks.sameness.rejections`` decides, by
both texts and what the entailment network says of them, or by the traces that are kept of a purged one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal
from uuid import UUID

import numpy as np
from django.conf import settings
from django.utils.translation import gettext_noop

from accounts.policy import sees_everything
from accounts.principals import Principal
from language.base import Vectors
from language.gates.passages import spoken
from language.likeness import sameness
from language.reading.compare import Saying, contains_words_of, shared_words
from language.reading.content import Content
from language.reading.entailed import entailed_features, entails
from language.reading.figures import normalise_figures
from language.reading.sameness import StatementPair, Worded
from language.reading.traces import Hasher, Traces, traced_features
from retrieval.text import list_words

from .form import word_hashers
from .particulars import shares_particulars

RESEMBLES = gettext_noop("This resembles something that was rejected before.")
"""The reason for review of such a statement. It does not quote what was rejected."""

DECIDES = "The person decides about this."
"""What agents are told instead that don't see everything: what was rejected may be nothing that they see."""

LEAST_SIMILARITY = 0.83
"""Below this cosine similarity of the bundled embedder's vectors, two texts don't mean the same."""
NEAR_SIMILARITY, NEAR_LIKENESS = 0.915, 0.3
"""From either on, a text may mean a rejected one of which only the vector is kept."""
WEIGHTS = Path(__file__).with_name("resembling.npz")
LEAST_LIKENESS = 0.1
"""Below this likeness two texts aren't compared, unless one has all words of the other."""
_LEAST_LIKENESS_WORDED, _LEAST_SAMENESS = 0.2, -2.5
_SHARED_UNKNOWN = 0.5
_OF_THE_USER = re.compile(r"\buser\b(?!['’]s)", re.IGNORECASE)
_FIGURES = re.compile(r"\d+")
_RELATIVE = re.compile(r"\b[Tt]he user['’]s (?P<whose>(?:[a-z-]+ ){0,2}[a-z-]+) (?P<name>[A-Z][^\W\d_]+)\b")
"""Somebody by what they are to the user and by name: "the user's brother Piotr"."""
# Capitalised words that don't begin a sentence, since those need not be names.
_INSIDE = re.compile(r"(?<![.!?:;] )(?<!^)\b[^\W\d_]\w*")


Match = Literal["meaning", "near", ""]


def matching(
    said: Saying, rejected: str | Traces | None, similarity: float, alike: float | None, hashers: Sequence[Hasher] = ()
) -> Match:
    """How a text matches a rejected one: by "meaning" (``resembles``), or "near", so that the person reviews it.

    ``rejected`` is the traces of a purged text, by one of ``hashers``; None if nothing but its vector is kept.
    ``similarity`` is the cosine of their vectors, ``alike`` their ``language.likeness``; None with another embedder
    than the bundled one.
    """
    found = _matching(said, rejected, similarity, alike, hashers)
    if not found and alike is not None and isinstance(rejected, str):
        named = _by_name(rejected, said.content)
        found = "near" if named != rejected and _matching(said, named, similarity, alike, hashers) else ""
    return found


def _by_name(rejected: str, said: str) -> str:
    """The rejected text with only the name of somebody whom what is said names without telling who it is."""

    def short(found: re.Match[str]) -> str:
        return found["name"] if found["name"] in said and found["whose"].lower() not in said.lower() else found[0]

    return _RELATIVE.sub(short, rejected)


def _matching(
    said: Saying, rejected: str | Traces | None, similarity: float, alike: float | None, hashers: Sequence[Hasher]
) -> Match:
    text = rejected if isinstance(rejected, str) else None
    if alike is None or rejected is None:
        if resembles(said, text, similarity):
            return "meaning"
        return "near" if alike is not None and may_resemble(said.content, similarity, alike) else ""
    if isinstance(rejected, Traces):
        again = any(has_traces_of(rejected, said, similarity, alike, hashed) for hashed in hashers)
    else:
        again = says_again(rejected, said.content, similarity, alike)
        if not again and says_part(rejected, said.content, similarity, alike):
            return "near"
    if not again:
        return ""
    return "meaning" if resembles(said, text, similarity) else "near"


def is_far(said: Saying, rejected: str | Traces | None, similarity: float, alike: float | None) -> bool:
    """Whether ``matching`` finds nothing, as can be told without reading the texts, which takes up to 80 ms."""
    if alike is None:
        return similarity < settings.SUPPRESSION_SIMILARITY
    if rejected is None or (isinstance(rejected, str) and _is_contained(rejected, said.content)):
        return False
    return not _has_near_vector(similarity, alike)


def _has_near_vector(similarity: float, alike: float, least: float = LEAST_LIKENESS) -> bool:
    return similarity >= LEAST_SIMILARITY and alike >= least


def reason_shown(principal: Principal, reason: str) -> str:
    """Return the reason for a review as this principal may know it."""
    return DECIDES if reason == RESEMBLES and not sees_everything(principal) else reason


def has_traces_of(rejected: Traces, said: Saying, similarity: float, alike: float, hashed: Hasher) -> bool:
    """Whether a text says what was rejected and purged, by a linear model of the traces and the vectors."""
    if not _has_near_vector(similarity, alike):
        return False
    return _decides("traced", traced_signs(rejected, said.features, similarity, alike, hashed))


def traces_of(user_id: UUID, rejected: Content) -> str:
    """Return the traces to keep of a rejected statement, empty if it has no words that count."""
    kept = Traces.of(rejected, word_hashers(user_id)[0])
    return str(kept) if kept.words else ""


def traced_signs(
    rejected: Traces, said: Content, similarity: float, alike: float, hashed: Hasher
) -> Mapping[str, float]:
    """Return the features of that model."""
    return {**traced_features(rejected, said, hashed), "similarity": similarity, "alike": alike}


def says_again(rejected: str, said: str, similarity: float, alike: float) -> bool:
    """Whether a text says what was rejected, by a linear model of their words, grammar, vectors and entailment.

    A text with other numbers doesn't; one with all words of the other does, unless it denies it or more differs.
    """
    contains = _is_contained(rejected, said)
    if not contains and not may_be_near(rejected, said, similarity, alike):
        return False
    pair = StatementPair(Worded(rejected), Worded(said))
    if pair.features["denied"] and pair.features["all"]:
        return False
    if contains and not pair.differs:
        return True
    signs, entailed = signs_of(pair, similarity, alike), entailed_features(rejected, said)
    return _decides("worded", signs) if entailed is None else _decides("entailed", {**signs, **entailed})


def says_part(rejected: str, said: str, similarity: float, alike: float) -> bool:
    """Whether a text follows from a rejected one ("money" for "nine thousand euros"), or shares its particulars."""
    near = _has_near_vector(similarity, alike)
    return near and (shares_particulars(rejected, said) or entails(rejected, said))


def _is_contained(one: str, other: str) -> bool:
    """Whether one of two texts has all words of the other."""
    one, other = normalise_figures(one), normalise_figures(other)
    return contains_words_of(other, one) or contains_words_of(one, other)


def may_be_near(rejected: str, said: str, similarity: float, alike: float) -> bool:
    """Whether two texts are near enough to be parsed, which takes 20 ms each."""
    if not _has_near_vector(similarity, alike, _LEAST_LIKENESS_WORDED):
        return False
    figures, others = _figures(rejected), _figures(said)
    if figures and others and figures != others:
        return False
    return sameness(rejected, said, similarity, alike) >= _LEAST_SAMENESS


def signs_of(pair: StatementPair, similarity: float, alike: float) -> Mapping[str, float]:
    """Return the features of the model, of a rejected text and what is said."""
    return {
        **pair.features,
        "differs": float(pair.differs),
        "similarity": similarity,
        "alike": alike,
        "sameness": sameness(pair.first.text, pair.second.text, similarity, alike),
    }


def _figures(text: str) -> list[str]:
    """Return the figures of a text, however they are written: "4k euros" has 4000."""
    return _FIGURES.findall(normalise_figures(text)) if _FIGURES.search(text) else []


def _decides(model: str, signs: Mapping[str, float]) -> bool:
    names, weights, bias = _weights(model)
    return float(np.array([signs[name] for name in names]) @ weights) + bias >= 0


@cache
def _weights(model: str) -> tuple[list[str], Vectors, float]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        names = bytes(stored[f"{model}_names"]).decode().split()
        return names, stored[f"{model}_weights"], float(stored[f"{model}_bias"])


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


def may_resemble(said: str, similarity: float, alike: float) -> bool:
    """Whether a text may mean a rejected one of which only the vector is kept. Favours recall."""
    return similarity >= NEAR_SIMILARITY or (alike >= NEAR_LIKENESS and _OF_THE_USER.search(said) is not None)


def contains_all_words(document: str, rejected: str | None) -> bool:
    """Whether a document contains all words of a rejected text, in any order. False if that text was purged.

    Used for documents because their vectors are close to each other whatever they say.
    """
    words = set(list_words(rejected or ""))
    return bool(words) and words <= {*list_words(document), *list_words(spoken(document))}


def adds_to(said: str, rejected: str) -> bool:
    """Whether a text has all content words of a rejected one, its figures in their order, and denies as often."""
    if count_denials(said) != count_denials(rejected) or not contains_words_of(said, rejected):
        return False
    figures = iter(_FIGURES.findall(said))
    return all(figure in figures for figure in _FIGURES.findall(rejected)) and _names_agree(said, rejected)


def count_denials(text: str) -> int:
    """Return how many words deny: "not", "never", "nobody" …"""
    return len(_DENIALS.findall(text))


_DENIALS = re.compile(r"\b(?:not|never|no|nobody|nothing|neither|without)\b|n['’]t\b", re.IGNORECASE)


def _required_similarity(shared: float) -> float:
    return float(settings.SUPPRESSION_SIMILARITY + shared * settings.SUPPRESSION_SHARED_WORDS)


def particulars_agree(one: str, other: str) -> bool:
    """Whether two texts have the same numbers in the same order, and compatible names.

    Names are incompatible if each text has one that the other lacks, or if shared names come in another order.
    """
    return _figures(one) == _figures(other) and _names_agree(one, other)


def _names_agree(one: str, other: str) -> bool:
    first, second = _names(one), _names(other)
    if set(first) - set(second) and set(second) - set(first):
        return False
    return [name for name in first if name in second] == [name for name in second if name in first]


def _names(text: str) -> list[str]:
    """Return the distinct capitalised words of a text in order, without those that begin a sentence."""
    names = (word for word in _INSIDE.findall(text) if word[0].isupper())
    return list(dict.fromkeys("".join(list_words(name)).removesuffix("s") for name in names))

"""Find the memory that a message makes outdated, whatever its words, and return its new wording.

A linear model over the bundled embedder's output for the message and the memory; ``benchmarks.gates.outdated`` fits
it. With another embedder nothing is found, and only ``compare`` detects changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder

from .figures import MONTHS, NUMERALS
from .parse import Parsed, Word, parse
from .predicates import CHANGES, ENDS
from .sentences import Sentence, split_sentences
from .stems import LIGHT, stem_of, words_of
from .words import listed

WEIGHTS = Path(__file__).with_name("outdated.npz")
LEAST = -0.52
"""Minimum score of an outdated memory. At it about 1 in 100 similar memories is outdated wrongly."""
_MOST_SENTENCES, _MOST_WORDS = 3, 40
"""Maximum length of the passages that are scored: a change often takes two sentences."""

_FIGURE = re.compile(r"(?<![\w.,:-])(?:\d+(?:,\d{3})*|[a-z]+)(?![\w:-]|[.,]\d)")
_MONTH = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b", re.IGNORECASE)
_FIRST_YEAR, _LAST_YEAR, _MOST_TIMES = 1000, 2100, 5
_BEGINNING, _LEAST_LETTERS = 4, 3
_NAMING = listed("name call title know")
_DENIES = listed("no not never without nobody nothing neither nor hardly n't longer anymore")


@dataclass(frozen=True, slots=True)
class Outdated:
    """The position of the outdated memory, and the passage of the message as evidence."""

    place: int
    quote: str


def outdated(said: str, memories: Sequence[str]) -> Outdated | None:
    """Return the memory that a message makes outdated: the one with the highest score, if that is at least ``LEAST``.

    ``memories`` are statements in the third person. Those without a content word of the message are not considered.
    None with another embedder, or while it is unavailable.
    """
    embedder = get_embedder()
    words = _matters(said)
    linked = [place for place, memory in enumerate(memories) if not words.isdisjoint(_matters(memory))]
    if not linked or not isinstance(embedder, BundledEmbedder):
        return None
    weights, passages = _weights(), list(_passages(said))
    try:
        vectors, traits = embedder.read_passages(passages)
        known = embedder.embed_passages([memories[place] for place in linked])
    except EmbedderUnavailable:
        return None
    alone = vectors @ weights["vector"] + traits @ weights["traits"] + weights["bias"]
    scores = alone[:, None] + (vectors * weights["both"]) @ known.T
    passage, which = divmod(int(scores.argmax()), len(linked))
    return Outdated(linked[which], passages[passage]) if scores[passage, which] >= LEAST else None


def _passages(said: str) -> Iterator[str]:
    """Yield the passages of a message to score: a few sentences each."""
    run: list[Sentence] = []
    for each in split_sentences(said):
        length = len(said[run[0].start : each.end].split()) if run else 0
        if run and (len(run) == _MOST_SENTENCES or length > _MOST_WORDS):
            yield said[run[0].start : run[-1].end]
            run = []
        run.append(each)
    if run:
        yield said[run[0].start : run[-1].end]


def after(memory: str, said: str) -> str | None:
    """Return the new wording of a memory that a message makes outdated, or None if no correct sentence can be made.

    If both have one figure, it is replaced. Otherwise "no longer" is inserted into a present-tense memory, unless the
    message only tells how that state began.
    """
    figures = [] if _MONTH.search(memory) else _figures(memory)
    told = _figures(said)
    if len(figures) == 1:
        was, value = figures[0]
        new = [match[0] for match, other in told if other != value]
        if len(new) == 1 and all(_may_stand_for(other, value) for _, other in told):
            return f"{memory[: was.start()]}{new[0]}{memory[was.end() :]}"
        if any(other == value for _, other in told):
            return None  # It may tell of the same figure.
    content = _no_longer(memory)
    return content if content is not None and not _affirms(said, memory) else None


def _matters(text: str) -> set[str]:
    """Return the prefixes of the content words."""
    return {word[:_BEGINNING] for word in words_of(text) if word not in LIGHT and len(word) >= _LEAST_LETTERS}


def _affirms(said: str, memory: str) -> bool:
    """Whether a message asserts the memory's value as the new state: "turned vegan", of somebody who is vegan."""
    parsed, known = parse(said, names=False), parse(memory, names=False)
    if parsed is None or known is None:
        return True
    root = next((word for word in known.words if word.head == word.index), known.words[0])
    subject = known.child(root, "nsubj", "nsubjpass")
    whose = {stem_of(word)[:_BEGINNING] for word in (known.subtree(subject) if subject is not None else ())}
    value = {start for start in _matters(memory) if start not in whose}
    return any(
        _is_said_to_be(parsed, word)
        for word in parsed.words
        if stem_of(word)[:_BEGINNING] in value and stem_of(word) not in LIGHT
    )


def _is_said_to_be(parsed: Parsed, word: Word) -> bool:
    """Whether a word is part of what its clause asserts as the present state."""
    chain = [word]
    while chain[-1].pos not in {"VERB", "AUX"} and chain[-1].head != chain[-1].index:
        chain.append(parsed.head(chain[-1]))
    verb, first = chain[-1], chain[-2] if len(chain) > 1 else chain[-1]
    if any(each.dep in {"nsubj", "nsubjpass"} for each in chain[:-1]) and verb.lemma != "be":
        return False
    if any(each.low in _DENIES for one in chain for each in (one, *parsed.children(one))):
        return False
    particle = parsed.child(verb, "prt")
    called = {verb.lemma, f"{verb.lemma} {particle.low}" if particle is not None else verb.lemma}
    called |= {f"{verb.lemma} {first.low}"} if first.dep in {"prep", "advmod"} else set()
    if not called.isdisjoint(ENDS | CHANGES):
        return first.dep == "prep" and first.low in {"to", "for", "into"}
    return not any(each.low in {"from", "off", "than", "of"} and each.dep == "prep" for each in chain)


def _figures(text: str) -> list[tuple[re.Match[str], int]]:
    """Return the numbers of a text with their values, without the ambiguous "one"."""
    found = []
    for match in _FIGURE.finditer(text.lower()):
        value = NUMERALS.get(match[0]) if match[0].isalpha() else int(match[0].replace(",", ""))
        if value is not None and match[0] not in {"one", "zero"}:
            found.append((match, value))
    return found


def _may_stand_for(new: int, old: int) -> bool:
    """Whether two numbers may count the same: both or neither are years, and the magnitudes are similar."""
    is_year = [_FIRST_YEAR <= each <= _LAST_YEAR for each in (new, old)]
    return is_year[0] == is_year[1] and max(new, old) <= _MOST_TIMES * min(new, old)


def _no_longer(memory: str) -> str | None:
    parsed = parse(memory, names=False)
    root = next((word for word in parsed.words if word.head == word.index), None) if parsed is not None else None
    if parsed is None or root is None or len(parsed.sentences) > 1 or root.lemma in _NAMING:
        return None
    if parsed.child(root, "nsubj", "nsubjpass") is None or any(word.low in _DENIES for word in parsed.words):
        return None
    if any(word.head == root.index and word.dep == "conj" and word.pos in {"VERB", "AUX"} for word in parsed.words):
        return None
    helper = parsed.child(root, "aux", "auxpass")
    finite = helper or root
    if finite.tag not in {"VBZ", "VBP"} and finite.low != "can":
        return None
    if helper is not None and helper.lemma not in {"be", "can"}:
        return None
    at = finite.end if finite.lemma == "be" or helper is not None else finite.start
    return f"{memory[:at].rstrip()} no longer {memory[at:].lstrip()}"


@cache
def _weights() -> dict[str, Vectors]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}

"""Find the memory that a message makes outdated, whatever its words, and return its new wording.

A linear model over the bundled embedder's output for the message and the memory chooses the candidates. A second one,
which also sees what the entailment network sees in both, judges them; without the network the first one does.
``benchmarks.gates.outdated`` fits them. With another embedder nothing is found, and only ``compare`` detects changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from language.backends import get_embedder, get_entailment
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.entailment.model import EntailmentUnavailable

from .ending import ended, tells_of_another
from .outdated_cues import CUES, Cues, cues_of, names_another
from .parse import parse
from .questions import is_question
from .sentences import Sentence, split_sentences
from .states import states_over
from .stems import content_prefixes

WEIGHTS = Path(__file__).with_name("outdated.npz")
LEAST, SURE, SURE_OF_ALL = 0.3, 0.7, 2.5
"""Minimum scores: for asking whether a memory still holds, for rewording it, and for saying that it ended where the
grammar of the message has nothing of the memory, or doubts it."""
LEAST_LIKELY, _MOST_JUDGED = -2.0, 2
"""From which score of the first model on the second one judges, and at most how many: each takes some 15 ms."""
_MOST_NEAR = 3
"""How many memories at most are considered for a passage: those with the highest scores of the first model."""
_MOST_SENTENCES, _MOST_WORDS = 3, 40
"""Maximum length of the passages that are scored: a change often takes two sentences."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """The position of the outdated memory, and the passage of the message as evidence.

    ``sure``: to be reworded as ``content``; that is None if no correct sentence can be made. ``stated``: the message
    says so in as many words.
    """

    place: int
    quote: str
    sure: bool
    content: str | None
    stated: bool = False


def all_outdated(said: str, memories: Sequence[str], vectors: Sequence[Vectors | None] = ()) -> Sequence[Outdated]:
    """Return the memories of states that a message says to be over; without any, that which ``outdated`` finds."""
    if all(is_question(each.text) for each in split_sentences(said)):
        return ()
    over = tuple(states_over(said, memories))
    if over:
        return [
            Outdated(each.place, each.sentence.text, each.content is not None, each.content, stated=True)
            for each in over
        ]
    found = outdated(said, memories, vectors)
    return () if found is None else (found,)


def outdated(said: str, memories: Sequence[str], vectors: Sequence[Vectors | None] = ()) -> Outdated | None:
    """Return the memory that a message makes outdated: the one with the highest score, if that is at least ``LEAST``.

    ``memories`` are statements in the third person, ``vectors`` those of them that are stored, of shape (384,). Those
    without a stored one are considered only if they have a content word of the message. None for a question, with
    another embedder, or while it is unavailable.
    """
    if all(is_question(each.text) for each in split_sentences(said)):
        return None
    embedder = get_embedder()
    by_place = {place: vector for place, vector in enumerate(vectors) if vector is not None}
    words = content_prefixes(said)
    missing = [
        place
        for place, memory in enumerate(memories)
        if place not in by_place and not words.isdisjoint(content_prefixes(memory))
    ]
    if not (by_place or missing) or not isinstance(embedder, BundledEmbedder):
        return None
    weights, passages = _weights(), list(_passages(said))
    try:
        told, traits = embedder.read_passages(passages)
        embedded = embedder.embed_passages([memories[place] for place in missing]) if missing else ()
    except EmbedderUnavailable:
        return None
    by_place |= dict(zip(missing, embedded, strict=True))
    places, known = list(by_place), np.stack(list(by_place.values()))
    alone = told @ weights["vector"] + traits @ weights["traits"] + weights["bias"]
    scores = alone[:, None] + (told * weights["both"]) @ known.T
    nearest = ((number, which) for number in range(len(passages)) for which in np.argsort(-scores[number])[:_MOST_NEAR])
    likely = sorted((-float(scores[at]), at) for at in nearest if scores[at] >= LEAST_LIKELY)[:_MOST_JUDGED]
    found = []
    for minus, (number, which) in likely:
        memory, passage = memories[places[which]], passages[number]
        cues = cues_of(passage, memory)
        if cues is None and _is_of_another(passage, memory):
            continue
        seen = np.concatenate([told[number], traits[number], told[number] * known[which], known[which]])
        found.append(_Candidate(places[which], memory, passage, cues, seen, -minus))
    best = max(_judged(found, weights), key=lambda each: each.score, default=None)
    if best is None or best.score < LEAST:
        return None
    return Outdated(best.place, best.passage, best.is_sure, best.content)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A memory that a passage may make outdated: ``seen``, of shape (2304,), is what the embedder says of both."""

    place: int
    memory: str
    passage: str
    cues: Cues | None
    seen: Vectors
    score: float

    @property
    def is_sure(self) -> bool:
        """Whether to reword the memory. A high score overrules the doubt of an end, but of no value."""
        if self.cues is None or (self.cues.is_doubtful and self.cues.may_end):
            return self.score >= SURE_OF_ALL
        return self.score >= SURE and not self.cues.is_doubtful

    @property
    def content(self) -> str | None:
        return ended(self.memory, is_over=True) if self.cues is None else self.cues.content_of(self.memory)


def _is_of_another(passage: str, memory: str) -> bool:
    """Whether a passage names another subject than a memory, or tells something else of what that names."""
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    is_other = parsed is not None and known is not None and names_another(parsed, known)
    return is_other or tells_of_another(passage, memory)


def _judged(found: Sequence[_Candidate], weights: dict[str, Vectors]) -> Iterator[_Candidate]:
    """Yield the candidates with the second model's scores; while the network is away, what the grammar compares."""
    entailment = get_entailment()
    try:
        seen = entailment.see_pairs([(each.memory, each.passage) for each in found]) if entailment and found else None
    except EntailmentUnavailable:
        seen = None
    for number, each in enumerate(found):
        if seen is not None:
            score = np.concatenate([each.seen, seen[number]]) @ weights["judged"] + weights["judged_bias"]
            yield replace(each, score=float(score + told_by(each.cues) @ weights["judged_cues"]))
        elif each.cues is not None:
            yield replace(each, score=float(each.score + told_by(each.cues) @ weights["cues"]))


def told_by(cues: Cues | None) -> Vectors:
    """Return what the cues weigh: (CUES + 1,), the last for a passage whose grammar has none of the memory."""
    return np.append(np.zeros(CUES) if cues is None else cues.values, cues is None).astype(np.float32)


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


@cache
def _weights() -> dict[str, Vectors]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}

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
from language.entailment.model import EntailmentModel, EntailmentUnavailable

from .outdated_cues import Cues, cues_of
from .questions import is_question
from .sentences import Sentence, split_sentences
from .states import states_over
from .stems import content_prefixes

WEIGHTS = Path(__file__).with_name("outdated.npz")
LEAST, SURE, SURE_OF_END = 0.5, 0.75, 0.9
"""Minimum scores: for asking whether a memory still holds, for putting a new value, and for saying that it ended."""
LEAST_JUDGED, _MOST_JUDGED = -1.5, 2
"""From which score of the first model on the second one judges, and at most how many: each takes some 15 ms."""
_MOST_NEAR = 3
"""How many memories at most are considered for a passage: those with the highest scores of the vectors alone."""
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
    entailment = get_entailment()
    least = LEAST if entailment is None else LEAST_JUDGED
    most = float(np.maximum(weights["cues"], 0).sum())
    found = []
    for number, passage in enumerate(passages):
        for which in np.argsort(-scores[number])[:_MOST_NEAR]:
            memory, score = memories[places[which]], float(scores[number, which])
            cues = cues_of(passage, memory) if score + most >= least else None
            if cues is not None and (score := score + float(cues.values @ weights["cues"])) >= least:
                seen = np.concatenate([told[number], traits[number], told[number] * known[which]])
                found.append(_Candidate(places[which], memory, passage, cues, seen, score))
    found = sorted(found, key=lambda each: -each.score)[:_MOST_JUDGED]
    if entailment is not None and found:
        found = _judged(entailment, found, weights)
    best = max(found, key=lambda each: each.score, default=None)
    if best is None or best.score < LEAST:
        return None
    sure = SURE_OF_END if best.cues.wording is None else SURE
    is_sure = best.score >= sure and not best.cues.is_doubtful
    return Outdated(best.place, best.passage, is_sure, best.cues.content_of(best.memory))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A memory that a passage may make outdated: ``seen``, of shape (1920,), is what the embedder says of both."""

    place: int
    memory: str
    passage: str
    cues: Cues
    seen: Vectors
    score: float


def _judged(entailment: EntailmentModel, found: Sequence[_Candidate], weights: dict[str, Vectors]) -> list[_Candidate]:
    """Return the candidates with the second model's scores; with their own while the network is unavailable."""
    try:
        pairs = read_entailment(entailment, [(each.memory, each.passage) for each in found])
    except EntailmentUnavailable:
        return list(found)
    rows = zip(found, pairs, strict=True)
    told = [np.concatenate([each.seen, pair]) @ weights["judged"] + weights["judged_bias"] for each, pair in rows]
    return [
        replace(each, score=float(score + each.cues.values @ weights["judged_cues"]))
        for each, score in zip(found, told, strict=True)
    ]


def read_entailment(entailment: EntailmentModel, pairs: Sequence[tuple[str, str]]) -> Vectors:
    """Return what the network sees in pairs of a memory and a passage: (n, 386). Raises EntailmentUnavailable."""
    return np.concatenate(entailment.read_pairs(pairs), axis=1)


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

"""Find the memory that a message makes outdated, whatever its words, and return its new wording.

A linear model over the bundled embedder's output for the message and the memory chooses the candidates, which
``benchmarks.gates.outdated`` fits. The entailment network judges them, tuned for this question (``benchmarks.tuning``).
Without it, or with another embedder, nothing is found, and only ``compare`` detects changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from language.backends import get_embedder, judged_by
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder

from .beside import after_denials, without_others
from .questions import is_question
from .rewording import leaves_it, reworded
from .sentences import Sentence, split_sentences
from .states import states_over
from .stems import content_prefixes

WEIGHTS = Path(__file__).with_name("outdated.npz")
TUNING = "outdated"
LEAST, SURE, PLAIN, CERTAIN = 0.3, 1.25, 2.5, 3.75
"""From which logits on the person is asked whether a memory still holds, it is reworded, told as no longer true where
no wording can be made, and of the past denied.
"""
LEAST_LIKELY, _MOST_JUDGED = -1.0, 4
"""From which score of the linear model on the network judges, and at most how many: each takes some 10 ms."""
_MOST_NEAR = 3
"""How many memories at most are considered for a passage: those with the highest scores of the linear model."""
_MOST_SENTENCES, _MOST_WORDS = 3, 40
"""Maximum length of the passages that are scored: a change often takes two sentences."""

_FOR_EFFECT = re.compile(
    r"^\W*(?:can you believe (?:it|that|this)|(?:do )?you know what|guess what)[,:!?–—-]+ ?"
    r"|(?:,? (?:\w+ ){0,2}(?:eh|huh|innit)|(?:,| ?[–—]| -) ?(?:right|you know))\?\W*$",
    re.IGNORECASE,
)
"""What makes no question of a sentence: "Can you believe it, …", "…, not bad eh?"."""
_ENDS = re.compile(
    r"\b(?:cancel(?:l?ed)?|scrapped|scrapyard|binned|drowned|RIP|packed (?:it|that) in|call(?:ed)? it a day"
    r"|(?:let|letting) [^.,;!?]{1,40}? (?:lapse|slide|slip|go))\b",
    re.IGNORECASE,
)
"""Words of an end that need no second look."""


@dataclass(frozen=True, slots=True)
class Outdated:
    """The position of the outdated memory, and the passage of the message as evidence.

    ``content`` is its new wording; None if it is not sure, or no correct sentence can be made. ``stated``: the message
    says so in as many words.
    """

    place: int
    quote: str
    content: str | None
    stated: bool = False


def all_outdated(said: str, memories: Sequence[str], vectors: Sequence[Vectors | None] = ()) -> Sequence[Outdated]:
    """Return the memories of states that a message says to be over; without any, that which ``outdated`` finds."""
    said = after_denials(said)
    if not _states(said):
        return ()
    over = tuple(states_over(said, memories))
    if over:
        return [Outdated(each.place, each.sentence.text, each.content, stated=True) for each in over]
    found = outdated(said, memories, vectors)
    return () if found is None else (found,)


def outdated(said: str, memories: Sequence[str], vectors: Sequence[Vectors | None] = ()) -> Outdated | None:
    """Return the memory that a message makes outdated: the one with the highest logit, if that is at least ``LEAST``.

    ``memories`` are statements in the third person, ``vectors`` those of them that are stored, of shape (384,). Those
    without a stored one are considered only if they have a content word of the message. None for a question, with
    another embedder, or while it or the network is unavailable.
    """
    if not _states(said):
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
    meant = [(places[which], passages[number]) for _, (number, which) in likely]
    heard = [(place, passage, without_others(memories[place], passage)) for place, passage in meant]
    heard = [(place, passage, own) for place, passage, own in heard if own and not leaves_it(memories[place], own)]
    logits = judged_by(TUNING, [(memories[place], own) for place, _, own in heard])
    if logits is None:
        return None
    best = int(logits.argmax())
    logit, (place, passage, own) = float(logits[best]), heard[best]
    if logit < LEAST:
        return None
    is_plain, is_certain = logit >= PLAIN, logit >= CERTAIN
    is_sure = logit >= SURE or _ENDS.search(own) is not None
    content = reworded(memories[place], own, is_plain=is_plain, is_certain=is_certain) if is_sure else None
    return Outdated(place, passage, content)


def _states(said: str) -> bool:
    """Whether a message states something: not only asks, but for "eh?" behind it or "can you believe it" before."""
    return any(not is_question(_FOR_EFFECT.sub("", each.text)) for each in split_sentences(said))


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

"""Requests not to keep something that no pattern has, judged by a small network over the bundled embedder.

``benchmarks.gates.train`` makes the network. A linear model of words chooses what is embedded, some 7 ms a part; with
another embedder nothing is judged and the patterns stand alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from language.backends import get_embedder
from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.http import EmbedderUnavailable
from language.gates.judging import Layers, scores
from language.reading.sentences import split_sentences

WEIGHTS = Path(__file__).with_name("judged.npz")
CLASSES = ("neither", "points", "no")
LEAST_THAT_POINTS, LEAST_THAT_DECLINES = 2.5, 0.0
_MOST_WORDS = 16
_MOST_PIECES = 6
_LONGEST_ANSWER = 160

FEATURES = 4096
_LEAST_WORTH = -1.0
"""What a part must have by its words to be embedded: of ordinary parts one in five has it, of requests 97 of 100."""

_PARTS = re.compile(r"(?:[,;:–—(]\s*|\s-+\s|\s(?=(?:but|and|so)\s))")


def has_cue(line: str) -> bool:
    """Whether a text has a short part that may refuse by its words and pairs of words, so that it is worth judging."""
    return any(True for _ in _pieces(line))


def judged_spans(line: str) -> list[tuple[int, int]]:
    """Where a text asks that something be not kept, as characters from and to; of one sentence only one part."""
    pieces = list(_pieces(line))[: _MOST_PIECES * 2]
    margins = _margins([line[start:end] for start, end in pieces])
    found: dict[int, tuple[int, int]] = {}
    for (start, end), margin in zip(pieces, margins, strict=False):
        if margin[1] - margin[0] >= LEAST_THAT_POINTS:
            sentence = next(each.end for each in split_sentences(line) if each.start <= start < each.end)
            found.setdefault(sentence, (start, end))
    return list(found.values())


def declines(answer: str) -> bool:
    """Whether an answer to the question if something may be kept says no."""
    if len(answer) > _LONGEST_ANSWER:
        return False
    margins = _margins([answer.replace("’", "'")])
    return bool(len(margins)) and float(margins[0][1:].max() - margins[0][0]) >= LEAST_THAT_DECLINES


def _pieces(line: str) -> Iterator[tuple[int, int]]:
    """The parts of sentences that may ask: what commas and the like part, then the sentence as a whole."""
    for sentence in split_sentences(line):
        cuts = [match.end() for match in _PARTS.finditer(sentence.text)]
        parts = list(zip([0, *cuts], [*cuts, len(sentence.text)], strict=True))
        for start, end in [*parts, *([(0, len(sentence.text))] if cuts else [])]:
            text = sentence.text[start:end]
            if 1 <= len(text.split()) <= _MOST_WORDS and _worth(text):
                yield sentence.start + start, sentence.start + end


def features(text: str) -> list[int]:
    """The words, neighbouring words and runs of four letters of a text, as places in a row of ``FEATURES``."""
    low = " ".join(text.lower().replace("’", "'").split())
    words = re.findall(r"[\w']+", low)
    found = {*words, *(f"{one} {two}" for one, two in pairwise(["^", *words, "$"]))}
    found |= {f"#{low[start : start + 4]}" for start in range(len(low) - 3)}
    return sorted({crc32(each.encode()) % FEATURES for each in found})


def _worth(text: str) -> bool:
    places = features(text)
    weights, bias = _words()
    return float(weights[places].sum()) / max(1, len(places)) ** 0.5 + bias > _LEAST_WORTH


def _margins(texts: Sequence[str]) -> Vectors:
    """How much speaks for each of the classes, a row a text; no rows where the bundled embedder is not in use."""
    embedder = get_embedder()
    if not texts or not isinstance(embedder, BundledEmbedder):
        return np.empty((0, len(CLASSES)), dtype=np.float32)
    try:
        vectors, traits = embedder.read_passages(texts)
    except EmbedderUnavailable:
        return np.empty((0, len(CLASSES)), dtype=np.float32)
    return scores(_layers(), np.concatenate([vectors, traits], axis=1))


@cache
def _words() -> tuple[Vectors, float]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return stored["words"].astype(np.float32), float(stored["words_bias"])


@cache
def _layers() -> Layers:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Layers(*(stored[part].astype(np.float32) for part in Layers._fields))

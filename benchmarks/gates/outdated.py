"""Fit what finds the memories that a message may put out of date: ``python -m benchmarks.gates.outdated``.

Each line of ``outdated.tsv`` has a label (``kept`` or ``replaced``), a memory and a later message. Negative pairs are
added: each message with other memories, and ordinary talk with any memory. A ridge regression on the bundled embedder's
vectors weighs them. With ``--check`` nothing is written, and the cross-validated results are printed (folds of
neighbouring lines). What judges the memories that it finds is tuned on the same lines (``benchmarks.tuning``).
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.lines import labelled_lines, lines
from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.reading.outdated import WEIGHTS

OTHERS, OF_TALK = 4, 2
"""How many other memories each message is paired with, and each sentence of ordinary talk."""
COUNT_OF_OTHERS = 0.5
"""What an added pair counts for, beside 1 for a line of the file."""
RIDGE = 8_000.0
SAME = 0.97
"""The cosine from which another memory is taken for the same one."""
FOLDS, FOLD_LINES = 4, 20


class Pairs(NamedTuple):
    """Features of pairs (n, width), their labels -1 or 1, what each counts for, and the line of its message, or -1."""

    features: Vectors
    labels: Vectors
    counts: Vectors
    lines: Vectors


class Read(NamedTuple):
    """The memories and messages of the labelled lines, then ordinary talk, and what the embedder sees in them."""

    labels: Vectors
    memories: list[str]
    said: list[str]
    known: Vectors
    vectors: Vectors
    traits: Vectors

    def pairs(self, said: NDArray[np.int64], about: NDArray[np.int64]) -> Pairs:
        """Return pairs of messages and memories by their places, the labelled ones first."""
        told, known, count = self.vectors[said], self.known[about], len(self.memories)
        features = np.concatenate([told, self.traits[said], told * known], axis=1)
        labels, counts = (np.full(len(said), each, dtype=np.float32) for each in (-1.0, COUNT_OF_OTHERS))
        labels[:count], counts[:count] = self.labels, 1.0
        return Pairs(features, labels, counts, np.where(said < count, said, -1))


def gather() -> Read:
    """Read and embed the labelled lines and ordinary talk."""
    embedder = BundledEmbedder()
    rows = labelled_lines("gates/outdated.tsv")
    talk = lines("gates/talk.txt")
    labels = np.array([1.0 if label == "replaced" else -1.0 for label, *_ in rows])
    memories, said = [memory for _, memory, _ in rows], [*(message for *_, message in rows), *talk]
    return Read(labels, memories, said, embedder.embed_passages(memories), *embedder.read_passages(said))


def at_random(read: Read) -> Pairs:
    """Return the labelled pairs, and each message and sentence of talk with other memories."""
    count, random = len(read.memories), np.random.default_rng(0)
    said = np.concatenate([np.arange(count), np.repeat(np.arange(count), OTHERS)])
    about = np.concatenate([np.arange(count), random.integers(count, size=count * OTHERS)])
    others = (np.arange(len(said)) < count) | ((read.known[said] * read.known[about]).sum(axis=1) < SAME)
    said = np.concatenate([said[others], np.repeat(np.arange(count, len(read.said)), OF_TALK)])
    about = np.concatenate([about[others], random.integers(count, size=(len(read.said) - count) * OF_TALK)])
    return read.pairs(said, about)


def fit(pairs: Pairs) -> tuple[Vectors, float]:
    """Return the weights and the bias of a ridge regression on scaled features."""
    mean, spread = pairs.features.mean(axis=0), pairs.features.std(axis=0) + 1e-6
    scaled = (pairs.features - mean) / spread
    weighed = scaled * pairs.counts[:, None]
    middle = float((pairs.labels * pairs.counts).sum() / pairs.counts.sum())
    slopes = weighed.T @ scaled + RIDGE * np.eye(scaled.shape[1], dtype=np.float32)
    found = np.linalg.solve(slopes, weighed.T @ (pairs.labels - middle)) / spread
    return found, float(middle - mean @ found)


def unseen_scores(pairs: Pairs) -> NDArray[np.float64]:
    """Return the scores of pairs by regressions without their message's fold; pairs of talk are in all."""
    fold = np.where(pairs.lines >= 0, pairs.lines // FOLD_LINES % FOLDS, -1)
    scores = np.zeros(len(fold))
    for number in range(FOLDS):
        weights, bias = fit(Pairs(*(each[fold != number] for each in pairs)))
        told = pairs.features @ weights + bias
        scores[fold == number] = told[fold == number]
        scores[fold == -1] += told[fold == -1] / FOLDS
    return scores


def check(scores: NDArray[np.float64], pairs: Pairs) -> None:
    """Print how many of the labelled pairs are found, and wrongly, at several scores."""
    labelled = pairs.counts == 1.0
    for least in np.arange(-1.0, 0.6, 0.1):
        right, wrongly = (scores[labelled & (pairs.labels == label)] >= least for label in (1.0, -1.0))
        others = scores[~labelled] >= least
        print(f"score {least:5.2f}: {right.mean():.3f} found, {wrongly.mean():.3f} wrongly, others {others.mean():.3f}")


def main() -> None:
    """Fit on all lines and write the weights, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    pairs = at_random(gather())
    if is_check:
        check(unseen_scores(pairs), pairs)
        return
    slopes, bias = fit(pairs)
    width = BundledEmbedder.dimensions
    parts = {"vector": slopes[:width], "traits": slopes[width:-width], "both": slopes[-width:], "bias": bias}
    np.savez_compressed(WEIGHTS, allow_pickle=False, **{k: np.asarray(v, dtype=np.float32) for k, v in parts.items()})


if __name__ == "__main__":
    main()

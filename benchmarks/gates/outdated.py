"""Fit what judges whether a message puts a memory out of date: ``python -m benchmarks.gates.outdated``.

Each line of ``outdated.tsv`` has a label (``kept`` or ``replaced``), a memory and a later message. Negative pairs are
added: each message with other memories, and ordinary talk with any memory. A ridge regression on the vectors comes
first, and chooses the likeliest other memory of each message. A second one, which also has what the entailment network
sees, is fitted on the labelled pairs and those. A logistic regression weighs the score of each with the cues of the
grammar. With ``--check`` nothing is written, and the cross-validated results are printed (folds of neighbouring lines).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.entailment.model import EntailmentModel
from language.reading.outdated import WEIGHTS, told_by
from language.reading.outdated_cues import cues_of

HERE = Path(__file__).parent
OTHERS, OF_TALK = 4, 2
"""How many other memories each message is paired with, and each sentence of ordinary talk."""
COUNT_OF_OTHERS = 0.5
"""What an added pair counts for, beside 1 for a line of the file."""
RIDGE, RIDGE_JUDGED, SHRINK = 8_000.0, 4_000.0, 2.0
STEPS = 20
"""Newton steps of the logistic regression."""
SAME, ALIKE, AMONG = 0.97, 0.9, 60
"""The cosines from which another memory is taken for the same one, and for one that the message may outdate as well,
and among how many other memories the likeliest is looked for."""
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
    rows = [line.split("\t") for line in (HERE / "outdated.tsv").read_text(encoding="utf-8").splitlines() if line]
    talk = [line for line in (HERE / "talk.txt").read_text(encoding="utf-8").splitlines() if line]
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


def nearest(read: Read, slopes: Vectors) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the labelled pairs, and of each message with the likeliest of ``AMONG`` other memories."""
    count, random = len(read.memories), np.random.default_rng(1)
    about = list(range(count))
    both = slopes[-BundledEmbedder.dimensions :]
    for place, told in enumerate(read.vectors):
        others = random.choice(count, AMONG, replace=False)
        if place < count:
            others = others[read.known[others] @ read.known[place] < ALIKE]
        about.append(int(others[(read.known[others] @ (told * both)).argmax()]))
    return np.concatenate([np.arange(count), np.arange(len(read.said))]), np.array(about)


def fit(pairs: Pairs, ridge: float = RIDGE) -> tuple[Vectors, float]:
    """Return the weights and the bias of a ridge regression on scaled features."""
    mean, spread = pairs.features.mean(axis=0), pairs.features.std(axis=0) + 1e-6
    scaled = (pairs.features - mean) / spread
    weighed = scaled * pairs.counts[:, None]
    middle = float((pairs.labels * pairs.counts).sum() / pairs.counts.sum())
    slopes = weighed.T @ scaled + ridge * np.eye(scaled.shape[1], dtype=np.float32)
    found = np.linalg.solve(slopes, weighed.T @ (pairs.labels - middle)) / spread
    return found, float(middle - mean @ found)


def unseen_scores(pairs: Pairs, scored: Pairs, ridge: float = RIDGE) -> NDArray[np.float64]:
    """Return the scores of pairs by regressions without their message's fold; pairs of talk are in all."""
    fold, scored_fold = (np.where(each.lines >= 0, each.lines // FOLD_LINES % FOLDS, -1) for each in (pairs, scored))
    scores = np.zeros(len(scored_fold))
    for number in range(FOLDS):
        weights, bias = fit(Pairs(*(each[fold != number] for each in pairs)), ridge)
        scores[scored_fold == number] = scored.features[scored_fold == number] @ weights + bias
        scores[scored_fold == -1] += (scored.features[scored_fold == -1] @ weights + bias) / FOLDS
    return scores


def weigh(scores: NDArray[np.float64], cues: Vectors, labels: Vectors, counts: Vectors) -> NDArray[np.float64]:
    """Return the weights of the score, the cues and the bias by a logistic regression."""
    told = np.concatenate([scores[:, None], cues, np.ones((len(cues), 1))], axis=1)
    weights, shrink = np.zeros(told.shape[1]), SHRINK * np.eye(told.shape[1])
    shrink[-1, -1] = 0.0
    for _ in range(STEPS):
        likely = 1 / (1 + np.exp(-told @ weights))
        slope = told.T @ (counts * (likely - (labels > 0))) + shrink @ weights
        curve = (told * (counts * likely * (1 - likely))[:, None]).T @ told + shrink
        weights -= np.linalg.solve(curve, slope)
    return weights


def check(scores: NDArray[np.float64], cues: Vectors, labels: Vectors, counts: Vectors, lines: Vectors) -> None:
    """Print how many of the labelled pairs are found, and wrongly, at several scores."""
    fold, labelled = lines // FOLD_LINES % FOLDS, counts == 1.0
    found = np.zeros(len(lines))
    for number in range(FOLDS):
        in_fold = fold == number
        weights = weigh(scores[~in_fold], cues[~in_fold], labels[~in_fold], counts[~in_fold])
        found[in_fold] = scores[in_fold] * weights[0] + cues[in_fold] @ weights[1:-1] + weights[-1]
    for least in np.arange(-0.5, 2.6, 0.25):
        right, wrongly = (found[labelled & (labels == label)] >= least for label in (1.0, -1.0))
        others = found[~labelled] >= least
        print(f"score {least:5.2f}: {right.mean():.3f} found, {wrongly.mean():.3f} wrongly, others {others.mean():.3f}")


def main() -> None:
    """Fit on all lines and write the weights, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    read = gather()
    pairs = at_random(read)
    fitted = fit(pairs)
    said, about = nearest(read, fitted[0])
    texts = [(read.memories[memory], read.said[message]) for message, memory in zip(said, about, strict=True)]
    cues = np.stack([told_by(cues_of(message, memory)) for memory, message in texts])
    weighed = read.pairs(said, about)
    seen = EntailmentModel().see_pairs(texts)
    judged = weighed._replace(features=np.concatenate([weighed.features, read.known[about], seen], axis=1))
    scores = unseen_scores(pairs, weighed)
    judged_scores = unseen_scores(judged, judged, RIDGE_JUDGED)
    told = cues, weighed.labels, weighed.counts
    if is_check:
        check(scores, *told, weighed.lines)
        check(judged_scores, *told, weighed.lines)
        return
    slopes, bias, by_cues = _weighed(fitted, weigh(scores, *told))
    width = BundledEmbedder.dimensions
    parts = {
        "vector": slopes[:width],
        "traits": slopes[width:-width],
        "both": slopes[-width:],
        "cues": by_cues,
        "bias": bias,
    }
    names = ("judged", "judged_bias", "judged_cues")
    parts |= zip(names, _weighed(fit(judged, RIDGE_JUDGED), weigh(judged_scores, *told)), strict=True)
    np.savez_compressed(WEIGHTS, allow_pickle=False, **{k: np.asarray(v, dtype=np.float32) for k, v in parts.items()})


def _weighed(fitted: tuple[Vectors, float], weights: NDArray[np.float64]) -> tuple[Any, float, Any]:
    """Return slopes, bias, and the weights of the cues of both regressions together."""
    slopes, bias = fitted
    return slopes * weights[0], float(bias * weights[0] + weights[-1]), weights[1:-1]


if __name__ == "__main__":
    main()

"""Fit what judges whether a message puts a memory out of date: ``python -m benchmarks.gates.outdated``.

Each line of ``outdated.tsv`` has a label (``kept`` or ``replaced``), a memory and a later message. Negative pairs are
added: each message with other memories, and ordinary talk with any memory. A ridge regression on the vectors comes
first; a logistic regression weighs its score with the cues of the grammar. A second model, which also has what the
entailment network sees, is fitted likewise on the labelled pairs and the nearest added ones. With ``--check`` nothing
is written, and the cross-validated results are printed (folds of neighbouring lines).
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
from language.reading.outdated import WEIGHTS, read_entailment
from language.reading.outdated_cues import CUES, cues_of

HERE = Path(__file__).parent
OTHERS, OF_TALK = 4, 2
"""How many other memories each message is paired with, and each sentence of ordinary talk."""
COUNT_OF_OTHERS = 0.5
"""What an added pair counts for, beside 1 for a line of the file."""
RIDGE, RIDGE_JUDGED, SHRINK = 8_000.0, 2_000.0, 2.0
STEPS = 20
"""Newton steps of the logistic regression."""
ALIKE = 0.97
"""The cosine from which another memory is taken for the same one."""
FOLDS, FOLD_LINES = 6, 20


class Pairs(NamedTuple):
    """Features of pairs (n, 1920), their labels -1 or 1, what each counts for, and the line of its message, or -1."""

    features: Vectors
    labels: Vectors
    counts: Vectors
    lines: Vectors


class Weighed(NamedTuple):
    """The labelled pairs, and each message with the nearest of its other memories: cues, places, and both texts."""

    cues: Vectors
    places: NDArray[np.int64]
    texts: list[tuple[str, str]]


def gather() -> tuple[Pairs, Weighed]:
    """Embed the labelled pairs and the added ones; return them, and those that are weighed, the labelled ones first."""
    embedder, random = BundledEmbedder(), np.random.default_rng(0)
    lines = [line.split("\t") for line in (HERE / "outdated.tsv").read_text(encoding="utf-8").splitlines() if line]
    talk = [line for line in (HERE / "talk.txt").read_text(encoding="utf-8").splitlines() if line]
    memories = embedder.embed_passages([memory for _, memory, _ in lines])
    vectors, traits = embedder.read_passages([*(message for *_, message in lines), *talk])
    count = len(lines)
    said = np.concatenate([np.arange(count), np.repeat(np.arange(count), OTHERS)])
    about = np.concatenate([np.arange(count), random.integers(count, size=count * OTHERS)])
    others = (np.arange(len(said)) < count) | ((memories[said] * memories[about]).sum(axis=1) < ALIKE)
    said = np.concatenate([said[others], np.repeat(np.arange(count, len(vectors)), OF_TALK)])
    about = np.concatenate([about[others], random.integers(count, size=len(talk) * OF_TALK)])
    labels, counts = np.full(len(said), -1.0), np.full(len(said), COUNT_OF_OTHERS)
    labels[:count] = [1.0 if label == "replaced" else -1.0 for label, *_ in lines]
    counts[:count] = 1.0
    features = np.concatenate([vectors[said], traits[said], vectors[said] * memories[about]], axis=1)
    near = (vectors[said] * memories[about]).sum(axis=1)
    added = np.arange(count, len(said))
    nearest = [own[near[own].argmax()] for line in range(count) if (own := added[said[added] == line]).size]
    places = np.concatenate([np.arange(count), np.array(nearest, dtype=int)])
    texts = [(lines[about[place]][1], lines[said[place]][2]) for place in places]
    found = (cues_of(message, memory) for memory, message in texts)
    cues = np.stack([each.values if each is not None else np.zeros(CUES, dtype=np.float32) for each in found])
    return Pairs(features, labels, counts, np.where(said < count, said, -1)), Weighed(cues, places, texts)


def fit(pairs: Pairs, ridge: float = RIDGE) -> tuple[Vectors, float]:
    """Return the weights and the bias of a ridge regression on scaled features."""
    mean, spread = pairs.features.mean(axis=0), pairs.features.std(axis=0) + 1e-6
    scaled = (pairs.features - mean) / spread
    weighed = scaled * pairs.counts[:, None]
    middle = float((pairs.labels * pairs.counts).sum() / pairs.counts.sum())
    slopes = weighed.T @ scaled + ridge * np.eye(scaled.shape[1])
    found = np.linalg.solve(slopes, weighed.T @ (pairs.labels - middle)) / spread
    return found, float(middle - mean @ found)


def unseen_scores(pairs: Pairs, ridge: float = RIDGE) -> NDArray[np.float64]:
    """Return the score of each pair by a regression without its message's fold; pairs of talk are in all."""
    fold = np.where(pairs.lines >= 0, pairs.lines // FOLD_LINES % FOLDS, -1)
    scores = np.zeros(len(fold))
    for number in range(FOLDS):
        weights, bias = fit(Pairs(*(each[fold != number] for each in pairs)), ridge)
        scores[fold == number] = pairs.features[fold == number] @ weights + bias
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
    pairs, (cues, places, texts) = gather()
    entailed = read_entailment(EntailmentModel(), texts)
    weighed = Pairs(*(each[places] for each in pairs))
    judged = weighed._replace(features=np.concatenate([weighed.features, entailed], axis=1))
    scores, judged_scores = unseen_scores(pairs)[places], unseen_scores(judged, RIDGE_JUDGED)
    told = cues, weighed.labels, weighed.counts
    if is_check:
        check(scores, *told, weighed.lines)
        check(judged_scores, *told, weighed.lines)
        return
    slopes, bias, by_cues = _weighed(fit(pairs), weigh(scores, *told))
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

"""Fit what judges whether a message puts a memory out of date: ``python -m benchmarks.gates.outdated``.

Each line of ``outdated.tsv`` has a label (``kept`` or ``replaced``), a memory and a later message. Negative pairs are
added: each message with other memories, and ordinary talk with any memory. With ``--check`` nothing is written, and the
cross-validated results are printed (folds of neighbouring lines).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np

from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.reading.outdated import WEIGHTS

HERE = Path(__file__).parent
OTHERS, OF_TALK = 4, 2
"""How many other memories each message is paired with, and each sentence of ordinary talk."""
COUNT_OF_OTHERS = 0.5
"""What an added pair counts for, beside 1 for a line of the file."""
RIDGE = 8_000.0
ALIKE = 0.97
"""The cosine from which another memory is taken for the same one."""
FOLDS, FOLD_LINES = 6, 20


class Pairs(NamedTuple):
    """Features of pairs (n, 1920), their labels -1 or 1, what each counts for, and the line of its message, or -1."""

    features: Vectors
    labels: Vectors
    counts: Vectors
    lines: Vectors


def gather() -> tuple[Pairs, int]:
    """Embed the labelled pairs and the added ones. Returns them, and how many are labelled: the first."""
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
    return Pairs(features, labels, counts, np.where(said < count, said, -1)), count


def fit(pairs: Pairs) -> tuple[Vectors, float]:
    """Return the weights and the bias of a ridge regression on scaled features."""
    mean, spread = pairs.features.mean(axis=0), pairs.features.std(axis=0) + 1e-6
    scaled = (pairs.features - mean) / spread
    weighed = scaled * pairs.counts[:, None]
    middle = float((pairs.labels * pairs.counts).sum() / pairs.counts.sum())
    slopes = weighed.T @ scaled + RIDGE * np.eye(scaled.shape[1])
    found = np.linalg.solve(slopes, weighed.T @ (pairs.labels - middle)) / spread
    return found, float(middle - mean @ found)


def check(pairs: Pairs, count: int) -> None:
    """Print how many of the labelled pairs are found, and wrongly, at several scores."""
    fold = np.where(pairs.lines >= 0, pairs.lines // FOLD_LINES % FOLDS, -1)
    scores = np.zeros(count)
    for number in range(FOLDS):
        weights, bias = fit(Pairs(*(each[fold != number] for each in pairs)))
        out = fold[:count] == number
        scores[out] = pairs.features[:count][out] @ weights + bias
    replaced = pairs.labels[:count] > 0
    for least in np.arange(-0.9, 0.1, 0.1):
        found, wrongly = (scores[replaced] >= least).mean(), (scores[~replaced] >= least).mean()
        print(f"score {least:5.2f}: {found:.3f} found, {wrongly:.3f} wrongly")


def main() -> None:
    """Fit on all lines and write the weights, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    pairs, count = gather()
    if parser.parse_args().check:
        check(pairs, count)
        return
    weights, bias = fit(pairs)
    width = BundledEmbedder.dimensions
    parts = {"vector": weights[:width], "traits": weights[width:-width], "both": weights[-width:], "bias": bias}
    np.savez_compressed(WEIGHTS, allow_pickle=False, **{k: np.asarray(v, dtype=np.float32) for k, v in parts.items()})


if __name__ == "__main__":
    main()

"""Train what decides whether a statement says what a person rejected: ``python -m benchmarks.sameness.rejections``.

It writes ``statements/policy/resembling.npz``. Training data are pairs of what a person rejected and what somebody says
later, from the tests and ``rejected.tsv``, and those of consolidation, which keeps more apart: they weigh less.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.evaluation.duplicates import labelled
from language.embedders.e5.embedder import BundledEmbedder
from language.likeness import likeness
from language.reading.sameness import StatementPair, Worded
from statements.policy.resembling import WEIGHTS, may_be_near, signs_of
from tests.statements import resembling

from .train import learn

FILES = {"rejected.tsv": 1.0, "written.tsv": 0.5, "fifth.tsv": 0.4, "pairs.tsv": 0.3}
"""The files of pairs, each with the weight of its pairs."""


def cases() -> Iterator[tuple[str, str, bool, float]]:
    """Yield the training pairs: rejected, said, whether it says the same, weight."""
    for name, weight in FILES.items():
        for pairs, is_same in zip(labelled(Path(__file__).with_name(name)), (True, False), strict=True):
            yield from ((*pair, is_same, weight) for pair in pairs)
    tests = resembling
    same = [*tests.PARAPHRASES, *tests.UNSEEN_PARAPHRASES, *tests.TOLD_APART_PARAPHRASES]
    apart = [*tests.NEAR, *tests.UNSEEN_NEAR, *tests.TOLD_APART_NEAR]
    for rejections, ordinary in (
        (tests.REJECTED, tests.ORDINARY),
        (tests.UNSEEN_REJECTED, tests.UNSEEN_ORDINARY),
    ):
        same += [(rejected, said) for rejected, each in rejections.items() for said in each]
        apart += [(rejected, said) for rejected in rejections for said in ordinary]
    yield from ((*pair, True, 1.0) for pair in same)
    yield from ((*pair, False, 1.0) for pair in apart)


def main() -> None:
    """Train on the pairs that are compared, and write the weights."""
    told = list(cases())
    embedder = BundledEmbedder()
    rejections, statements, *_ = zip(*told, strict=True)
    vectors = [embedder.embed_passages(list(each)) for each in (rejections, statements)]
    rows, counts = [], []
    for (rejected, said, is_same, weight), one, other in zip(told, *vectors, strict=True):
        similarity, alike = float(one @ other), likeness(one, other)
        if may_be_near(rejected, said, similarity, alike):
            rows.append(signs_of(StatementPair(Worded(rejected), Worded(said)), similarity, alike))
            counts.append((float(is_same), weight))
    names = sorted(rows[0])
    wanted, weights = np.array(counts).T
    learned = learn(np.array([[row[name] for name in names] for row in rows]), wanted, weights)
    np.savez_compressed(
        WEIGHTS,
        names=np.frombuffer(" ".join(names).encode(), np.uint8),
        weights=learned.weights.astype(np.float32),
        bias=np.float32(learned.bias),
    )


if __name__ == "__main__":
    main()

"""Train what decides whether a statement says what a person rejected: ``python -m benchmarks.sameness.rejections``.

There are three models: "entailed" compares two texts, "worded" does without the entailment network, "traced" compares a
text with the traces of a purged one. It writes ``statements/policy/resembling.npz``. Training data are pairs of what a
person rejected and what somebody says later, from the tests and ``…rejected.tsv``, and those of consolidation, which
keeps more apart: they weigh less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluation.duplicates import labelled
from language.embedders.e5.embedder import BundledEmbedder
from language.likeness import likeness
from language.reading.entailed import entailed_features
from language.reading.sameness import StatementPair, Worded
from language.reading.traces import Traces
from statements.policy.resembling import (
    LEAST_LIKENESS,
    LEAST_SIMILARITY,
    WEIGHTS,
    may_be_near,
    signs_of,
    traced_signs,
)
from tests.statements import resembling

from .train import DECAY, learn

DECAY_ENTAILED = 1e-2

FILES = {
    "rejected.tsv": 1.0,
    "later_rejected.tsv": 1.0,
    "written.tsv": 0.5,
    "fifth.tsv": 0.4,
    "pairs.tsv": 0.3,
    "later.tsv": 0.3,
    "latest_rejected.tsv": 1.0,
    "latest.tsv": 0.3,
}
"""The files of pairs, each with the weight of its pairs."""
ENTAILED_ONLY = frozenset({"latest_rejected.tsv", "latest.tsv"})
"""Files of hints and near pairs that no words or traces tell apart: the other models would only become more lenient."""
LENIENCE = {"worded": 0.0, "entailed": 0.5, "traced": 0.9}
"""What is added to the bias of each model: with traces, paraphrases that are missed count more than near ones held."""


def cases() -> Iterator[tuple[str, str, bool, float, bool]]:
    """Yield the training pairs: rejected, said, whether it says the same, weight, whether only "entailed" learns."""
    for name, weight in FILES.items():
        for pairs, is_same in zip(labelled(Path(__file__).with_name(name)), (True, False), strict=True):
            yield from ((*pair, is_same, weight, name in ENTAILED_ONLY) for pair in pairs)
    tests = resembling
    same = [*tests.PARAPHRASES, *tests.UNSEEN_PARAPHRASES, *tests.TOLD_APART_PARAPHRASES]
    apart = [*tests.NEAR, *tests.UNSEEN_NEAR, *tests.TOLD_APART_NEAR]
    for rejections, ordinary in (
        (tests.REJECTED, tests.ORDINARY),
        (tests.UNSEEN_REJECTED, tests.UNSEEN_ORDINARY),
    ):
        same += [(rejected, said) for rejected, each in rejections.items() for said in each]
        apart += [(rejected, said) for rejected in rejections for said in ordinary]
    yield from ((*pair, True, 1.0, False) for pair in same)
    yield from ((*pair, False, 1.0, False) for pair in apart)


def entailed(first: str, second: str) -> dict[str, float]:
    """What the entailment network says of two texts. Exits without it."""
    found = entailed_features(first, second)
    if found is None:
        raise SystemExit("The entailment network is switched off or can't be loaded.")
    return found


class Compared(NamedTuple):
    """A training pair: the features of each model, None where the model is not asked; the label and the weight."""

    worded: Mapping[str, float] | None
    entailed: Mapping[str, float] | None
    traced: Mapping[str, float] | None
    is_same: bool
    weight: float


def compared() -> list[Compared]:
    """Compare the training pairs."""
    told = list(cases())
    embedder = BundledEmbedder()
    rejections, statements, *_ = zip(*told, strict=True)
    vectors = [embedder.embed_passages(list(each)) for each in (rejections, statements)]
    read: dict[str, Worded] = {}
    found = []
    for (rejected, said, is_same, weight, only), one, other in zip(told, *vectors, strict=True):
        similarity, alike = float(one @ other), likeness(one, other)
        worded = both = traced = None
        if min(similarity - LEAST_SIMILARITY, alike - LEAST_LIKENESS) >= 0:
            pair = StatementPair(*(read.setdefault(text, Worded(text)) for text in (rejected, said)))
            traced = traced_signs(Traces.of(pair.first, str), pair.second, similarity, alike, str)
            if may_be_near(rejected, said, similarity, alike):
                worded = signs_of(pair, similarity, alike)
                both = {**worded, **entailed(rejected, said)}
        found.append(Compared(None if only else worded, both, None if only else traced, is_same, weight))
    return found


def fit(
    rows: Sequence[Mapping[str, float]], wanted: Sequence[bool], counts: Sequence[float], decay: float
) -> dict[str, Any]:
    """Fit a model, and return its arrays."""
    names = sorted(rows[0])
    told = np.array([[row[name] for name in names] for row in rows])
    learned = learn(told, np.array(wanted, float), np.array(counts), decay)
    return {
        "names": np.frombuffer(" ".join(names).encode(), np.uint8),
        "weights": learned.weights.astype(np.float32),
        "bias": np.float32(learned.bias),
    }


def main() -> None:
    """Train the models, and write the weights."""
    told = compared()
    made: dict[str, Any] = {}
    for model, lenience in LENIENCE.items():
        asked = [(signs, each) for each in told if (signs := getattr(each, model)) is not None]
        rows, kept = zip(*asked, strict=True)
        decay = DECAY_ENTAILED if model == "entailed" else DECAY
        found = fit(rows, [each.is_same for each in kept], [each.weight for each in kept], decay)
        found["bias"] += np.float32(lenience)
        made |= {f"{model}_{part}": array for part, array in found.items()}
    np.savez_compressed(WEIGHTS, **made)


if __name__ == "__main__":
    main()

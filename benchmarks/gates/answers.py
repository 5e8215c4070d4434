"""Learn which answers decline to have something kept: ``python -m benchmarks.gates.answers`` writes what is known.

Each line of ``answers.tsv`` has a label ("no" or "yes"), the question whether to keep something, and an answer. What is
seen of them is projected to the directions in which they differ most; a kernel ridge regression then weighs each known
answer. With ``--check`` nothing is written, and the cross-validated results are printed (folds of neighbouring lines).
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

import numpy as np

from benchmarks.gates.train import answer_lines, refusal_lines
from language.backends import embedder_replaced
from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.entailment.model import EntailmentModel
from language.reading.refusals.answers import WEIGHTS, Known, compared, cues_of, likenesses, read_answers, scores
from language.reading.refusals.wording import LONGEST_ANSWER

DIRECTIONS, RIDGE = 256, 0.1
STEPS = 127
"""The number of steps in which the largest value of a direction is stored."""
FOLDS, FOLD_LINES = 6, 20


def gather() -> tuple[list[tuple[str, str]], Vectors]:
    """Return questions whether to keep something with their answers, and labels: 1 for a no, -1 for others.

    An answer without a question, and some of the texts of ``refusals.txt``, are given the questions that occur often.
    """
    own = answer_lines()
    often = [question for question, count in Counter(asked for _, asked, _ in own if asked).items() if count >= 3]
    neither, points, no, _ = refusal_lines()
    told = [(label == "no", asked, answer) for label, asked, answer in own if asked]
    any_question = [(False, text) for text in neither[::5]] + [(True, text) for text in points[::8]]
    any_question += [(True, text) for text in no] + [(False, answer) for _, asked, answer in own if not asked]
    told += [(label, often[number % len(often)], text) for number, (label, text) in enumerate(any_question)]
    told = [each for each in told if len(each[-1]) <= LONGEST_ANSWER]
    labels = np.array([1.0 if label else -1.0 for label, *_ in told], dtype=np.float32)
    return [(asked, answer) for _, asked, answer in told], labels


def fit(seen: Vectors, cues: Vectors, labels: Vectors) -> Known:
    """Return the known answers with their weights."""
    middle, spread = seen.mean(axis=0), seen.std(axis=0) + 1e-6
    scaled = (seen - middle) / spread / np.float32(seen.shape[1] ** 0.5)
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    directions = vectors[:, ::-1][:, :DIRECTIONS] / spread[:, None] / np.float32(seen.shape[1] ** 0.5)
    directions = directions.astype(np.float16).astype(np.float32)
    middle = middle.astype(np.float16).astype(np.float32)
    answers = compared(middle, directions, seen, cues)
    steps = np.maximum(np.abs(answers).max(axis=0) / STEPS, 1e-6).astype(np.float32)
    answers = np.round(answers / steps) * steps
    alike = likenesses(answers, answers) + RIDGE * np.eye(len(answers), dtype=np.float32)
    return Known(middle, directions, steps, answers, np.linalg.solve(alike, labels))


def check(seen: Vectors, cues: Vectors, labels: Vectors) -> None:
    """Print how many are found, and wrongly, at several scores."""
    fold = np.arange(len(labels)) // FOLD_LINES % FOLDS
    found = np.zeros(len(labels))
    for number in range(FOLDS):
        out = fold == number
        found[out] = scores(fit(seen[~out], cues[~out], labels[~out]), seen[out], cues[out])
    for least in np.arange(-0.5, 0.6, 0.125):
        right, wrongly = ((found[labels == label] >= least).mean() for label in (1, -1))
        print(f"score {least:6.3f}: {right:.3f} found, {wrongly:.3f} wrongly")


def main() -> None:
    """Learn all lines and write what is known, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    given, labels = gather()
    embedder = BundledEmbedder()
    with embedder_replaced(embedder):
        seen, cues = read_answers(embedder, EntailmentModel(), given), cues_of(given)
    if parser.parse_args().check:
        check(seen, cues, labels)
        return
    known = fit(seen, cues, labels)
    stored: dict[str, Any] = {part: value.astype(np.float16) for part, value in known._asdict().items()}
    stored |= {"answers": np.round(known.answers / known.steps).astype(np.int8), "steps": known.steps}
    np.savez_compressed(WEIGHTS, allow_pickle=False, **stored)


if __name__ == "__main__":
    main()

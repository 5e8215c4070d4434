"""Judge whether the answer to the question whether something may be kept is a no, with a small network of our own.

It sees how the bundled embedder reads the answer, alone and after its question, and how well two claims about the
answer follow from it. This takes some 100 ms of processor time, so only short answers to such questions are judged.
``benchmarks.gates.train`` trains it. Nothing is judged with another embedder or without the network for entailment.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from language.backends import get_embedder, get_entailment
from language.base import LanguageError, Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.entailment.model import EntailmentModel
from language.gates.judging import Layers, scores

from .questions import without_recital
from .wording import LONGEST_ANSWER

WEIGHTS = Path(__file__).with_name("answers.npz")
LEAST_THAT_DECLINES, LEAST_OF_PLAIN_WORDS, SURELY_KEEPS = 0.0, -3.0, -2.0
"""The margins that make a no, a no where a pattern finds one too, and an answer in which nothing else is refused."""
_ASKED = 200
"""The characters of a question that are read, from its end."""
_AGREES = "The person agrees that this is remembered."
_PRIVATE = "The person wants this to stay private."


def refusing_margin(question: str, answer: str) -> float | None:
    """The log-odds that an answer declines; None if it is too long to be one, or the networks are not there.

    Of the question our fixed sentences are not read: with "no language model …" before it, nearly all declined.
    """
    question = without_recital(question)[-_ASKED:]
    question, answer = (text.strip().replace("’", "'") for text in (question, answer))
    embedder, entailment = get_embedder(), get_entailment()
    if not question or len(answer) > LONGEST_ANSWER or entailment is None or not isinstance(embedder, BundledEmbedder):
        return None
    try:
        keeps, declines = scores(_layers(), read_answers(embedder, entailment, [(question, answer)])[0])
    except LanguageError:  # Logged where it failed.
        return None
    return float(declines - keeps)


def read_answers(embedder: BundledEmbedder, entailment: EntailmentModel, given: Sequence[tuple[str, str]]) -> Vectors:
    """Return what is seen of pairs of a question and its answer, one row each.

    Raises EmbedderUnavailable and EntailmentUnavailable.
    """
    answers = [answer for _, answer in given]
    seen = [*embedder.read_passages(answers), *embedder.read_passages([f"{asked} {answer}" for asked, answer in given])]
    talks = [f"Assistant: {asked} Person: {answer}" for asked, answer in given]
    for texts, claim in ((answers, _AGREES), (talks, _AGREES), (answers, _PRIVATE)):
        seen += entailment.read_pairs([(text, claim) for text in texts])
    return np.concatenate(seen, axis=1)


@cache
def _layers() -> Layers:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Layers(*(stored[part].astype(np.float32) for part in Layers._fields))

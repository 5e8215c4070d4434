"""Judge whether the answer to the question whether something may be kept is a no, by the answers of known meaning.

Compared are how the bundled embedder reads the answer, alone and after its question, how well two claims about the
answer follow from it, and what the patterns find in it. This takes some 100 ms of processor time, so only short
answers to such questions are judged. ``benchmarks.gates.answers`` learns the answers. Nothing is judged with another
embedder or without the network for entailment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from language.backends import get_embedder, get_entailment
from language.base import LanguageError, Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.entailment.model import EntailmentModel

from . import offers, wording
from .questions import without_recital
from .requests import acts_in, flat

WEIGHTS = Path(__file__).with_name("answers.npz")
LEAST_THAT_DECLINES, SURELY_KEEPS = 0.05, -0.5
"""The scores, from about -1 to 1, of a no, and of an answer in which nothing else is refused."""
_ASKED = 200
"""The characters of a question that are read, from its end."""
_AGREES = "The person agrees that this is remembered."
_PRIVATE = "The person wants this to stay private."
_OF_A_CUE = 0.25
"""What a cue counts for in the distance between answers."""
_FORBIDS = re.compile(
    r"\W*(?:nothing|not a (?:single )?word)(?: at all)? (?:about|of|on) (?:my|our|me|us|him|her|them|it|this|that)\b"
    r"(?![^.!?]*\b(?:is|are|was|were|has|could|can)\b)",
    re.IGNORECASE,
)
"""An answer that forbids a topic: "Nothing about my kids, ever"; not "Nothing about them is secret"."""
_ONLY_ONCE = re.compile(
    r"\b(?:don'?t|do not|needn'?t|let'?s not|no need to|rather not|not to)\b(?: [\w']+){0,3}?"
    r" (?:make|turn|become|as)\b(?! the rules)(?: [\w']+){0,4}?"
    r" (?:rules?|habit|default|standard|permanent|norm|principle)\b",
    re.IGNORECASE,
)
"""An answer that lets nothing become a rule: "depends on the text, so don't make a rule out of it"."""
_NEEDLESS = re.compile(
    r"(?:^|[.,;!–—]|\b(?:so|and|but))\s*(?:(?:please )?(?:don'?t|do not|no need to) bother|(?:there'?s |there is )?no"
    r" (?:point|use|sense)(?: in (?:it|that|keeping\b.*))?|(?:it'?s |that'?s )?not worth (?:it|keeping|noting|saving)"
    r"|(?:please|rather|better) (?:don'?t|do not)(?=\W*$))\s*(?:[.,;!]|$)"
    r"|\bthank(?:s| you)\b[^.!?]{0,40}\bi(?:'m| am) (?:good|fine|all set)\s*(?:[.;!]|$)"
    r"|\bi'?ll pass(?: on (?:that|this|it))?(?:,? thank(?:s| you))?\s*(?:[.;!]|$)"
    r"|^\W*(?:(?:not necessary|not needed|unnecessary)\b|what for\?|(?:can|could) (?:we|you) not\?"
    r"|(?:rather|better|please) not (?:until|till|before|unless|yet|while)\b)",
    re.IGNORECASE,
)
"""An answer that sees no need for it, or not yet."""
_IN_JEST = re.compile(
    r"\b(?:only|just) (?:an? (?:\w+ )?(?:test|joke|example|experiment|guess|whim|bet|phase|one-off|trial"
    r"|figure of speech)|testing|joking|kidding)(?=\s*(?:[.,:;!?…–—]|$|(?:and|so|but|lol|haha)\b))",
    re.IGNORECASE,
)
"""What is said after a no of what was not meant: "lol no, it was only a test"."""
_ENDS_WITH_NO = re.compile(r"\bno\W*$", re.IGNORECASE)


class Known(NamedTuple):
    """Known answers: ``middle`` and ``directions`` (width, n) of what is compared, ``steps`` of the stored numbers
    (n + cues), the ``answers`` (count, n + cues) in whole steps, and what each says for a no (``weights``).
    """

    middle: Vectors
    directions: Vectors
    steps: Vectors
    answers: Vectors
    weights: Vectors


def score(question: str, answer: str) -> float | None:
    """How far an answer to a question declines; None if it is too long to be one, or the networks are not there.

    Who forbids a topic, lets nothing become a rule or sees no need declines fully, whatever the networks say.
    Of the question our fixed sentences are not read: with "no language model …" before it, nearly all declined.
    """
    given = without_recital(question).strip(), answer.strip()
    if given[0] and _declines_fully(given[1].replace("’", "'")):
        return 1.0
    embedder, entailment = get_embedder(), get_entailment()
    is_answer = given[0] and len(given[1]) <= wording.LONGEST_ANSWER
    if not is_answer or entailment is None or not isinstance(embedder, BundledEmbedder):
        return None
    try:
        seen = read_answers(embedder, entailment, [given])
    except LanguageError:  # Logged where it failed.
        return None
    return float(scores(_known(), seen, cues_of([given]))[0])


def _declines_fully(answer: str) -> bool:
    is_short = len(answer) <= wording.LONGEST_ANSWER
    once = _ONLY_ONCE.search(answer) or _NEEDLESS.search(answer) or _IN_JEST.search(wording.after_opening_no(answer))
    return _FORBIDS.match(answer) is not None or (is_short and once is not None)


def read_answers(embedder: BundledEmbedder, entailment: EntailmentModel, given: Sequence[tuple[str, str]]) -> Vectors:
    """Return what is seen of pairs of a question and its answer, one row each.

    Raises EmbedderUnavailable and EntailmentUnavailable.
    """
    told = list(map(_plain, given))
    answers = [answer for _, answer in told]
    seen = [*embedder.read_passages(answers), *embedder.read_passages([f"{asked} {answer}" for asked, answer in told])]
    talks = [f"Assistant: {asked} Person: {answer}" for asked, answer in told]
    for texts, claim in ((answers, _AGREES), (talks, _AGREES), (answers, _PRIVATE)):
        seen += entailment.read_pairs([(text, claim) for text in texts])
    return np.concatenate(seen, axis=1)


def cues_of(given: Sequence[tuple[str, str]]) -> Vectors:
    """Return what the patterns find in pairs of a question and its answer, one row each."""
    return np.array(
        [
            (
                wording.says_no(answer),
                wording.says_no(answer, goes_on=True),
                wording.is_clear_no(answer),
                wording.says_yes(answer),
                wording.allows_keeping(answer),
                wording.begins_with_yes(answer),
                wording.after_opening_no(answer) != "",
                bool(acts_in(flat(answer))),
                offers.asks_for_objections(asked),
                offers.objects(answer),
                _ENDS_WITH_NO.search(answer) is not None,
                offers.asks_to_keep(asked),
                "?" in answer,
                answer.endswith("?"),
            )
            for asked, answer in map(_plain, given)
        ],
        dtype=np.float32,
    )


def compared(middle: Vectors, directions: Vectors, seen: Vectors, cues: Vectors) -> Vectors:
    """Return what is compared of answers, one row each."""
    return np.concatenate([(seen - middle) @ directions, _OF_A_CUE * cues], axis=1)


def likenesses(answers: Vectors, known: Vectors) -> Vectors:
    """Return how alike answers and known ones are, from 0 to 1: shape (answers, known)."""
    far: Vectors = (answers**2).sum(axis=1)[:, None] + (known**2).sum(axis=1) - 2 * answers @ known.T
    return np.exp(-far)


def scores(known: Known, seen: Vectors, cues: Vectors) -> Vectors:
    """Return how far answers decline, from about -1 to 1."""
    made: Vectors = likenesses(compared(known.middle, known.directions, seen, cues), known.answers) @ known.weights
    return made


def _plain(given: tuple[str, str]) -> tuple[str, str]:
    """A question, from its end, and its answer, with plain apostrophes."""
    asked, answer = (text.strip().replace("’", "'") for text in (given[0][-_ASKED:], given[1]))
    return asked, answer


@cache
def _known() -> Known:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        known = Known(*(stored[part].astype(np.float32) for part in Known._fields))
    return known._replace(answers=known.answers * known.steps)

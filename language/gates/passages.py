"""What a document says, in sentences: a text that is kept as it is may be JSON, a list or a page of notes."""

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
    """The texts of what is JSON, unescaped and one on a line; anything else as it is."""
    if text.lstrip()[:1] not in {"{", "["}:
        return text
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return "\n".join(_texts(read))


def passages(text: str, beside: int = 0) -> list[str]:
    """The sentences and lines of a document that may say something, without bullets; no code, and no mere labels.

    ``beside`` is how many documents are read with it: of many, each is read less far.
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

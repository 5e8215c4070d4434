"""Splits verbatim documents (JSON, lists, notes) into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import orjson

FEWEST_WORDS, FEWEST_TOLD = 4, 3
MOST_PASSAGES = 40
MOST_AT_ONCE, FEWEST_OF_EACH = 1_000, 4
"""More of one text, or of many at once, are not judged by meaning: each takes milliseconds. Rules read all of it."""

_ENDS = re.compile(r"(?<=[.!?;])\s+|\n+")
_BULLET = re.compile(r"^(?:[\s>#*+•-]|\d+[.)]\s|\[[ xX]?\])+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CODE = re.compile(r"[{}<>=|\\`]|\w\(|::|->")


def is_json(text: str) -> bool:
    """Whether a text looks like a JSON object or list."""
    return text.lstrip()[:1] in {"{", "["}


def spoken(text: str) -> str:
    """Return the strings of a JSON text, unescaped and one per line; other text unchanged."""
    if not is_json(text):
        return text
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    return "\n".join(_texts(read))


def most_judged(beside: int) -> int:
    """Return how many passages of a text are judged by meaning if ``beside`` others are read together with it."""
    return min(MOST_PASSAGES, max(FEWEST_OF_EACH, MOST_AT_ONCE // (beside + 1)))


def passages(text: str, beside: int = 0) -> list[str]:
    """Return the sentences and lines of a document, without bullets, code and labels.

    ``beside``: number of documents read together; the more, the shorter the part of each.
    """
    most = most_judged(beside)
    cut = (_BULLET.sub("", each).strip() for each in _ENDS.split(spoken(text)))
    kept = (each for each in cut if len(each.split()) >= FEWEST_WORDS and not _CODE.search(each))
    return [*dict.fromkeys(kept)][:most]


def pieces_of(text: str, together: int = 0) -> list[str]:
    """Return the sentences and lines of a document, or the texts in a JSON one, of any length.

    Those of a few words are also joined, if that has up to ``together`` characters: of a JSON text those of each object
    with their keys.
    """
    pieces = [each for each in _ENDS.split(spoken(text)) if each.strip()]
    return [*dict.fromkeys([*pieces, *(each for each in _together(text) if len(each) <= together)])]


def told_together(text: str, longest: int) -> list[str]:
    """Return what the short pieces of a document say together, in at most ``longest`` characters each.

    Of a JSON text that is each object and list with its keys, what holds others before those.
    """
    told = (each for each in reversed(_together(text)) if each != text.strip() and len(each) <= longest)
    return [each for each in told if len(each.split()) >= FEWEST_TOLD]


def _together(text: str) -> list[str]:
    """Join the short pieces of a text: of a JSON text those of each object, the innermost first."""
    if is_json(text):
        with suppress(orjson.JSONDecodeError):
            return list(_joined(orjson.loads(text)))
    return [" ".join(each for each in _ENDS.split(spoken(text)) if each.strip() and _is_short(each))]


def _is_short(piece: str) -> bool:
    return len(piece.split()) < FEWEST_WORDS


def _joined(value: Any) -> Iterator[str]:
    """Yield the keys and short texts of each object and list, with those inside it; those of ``value`` last."""
    if isinstance(value, str | int | float) and not isinstance(value, bool) and _is_short(str(value)):
        yield str(value)
    elif isinstance(value, dict | list):
        said = []
        for key, each in value.items() if isinstance(value, dict) else (("", each) for each in value):
            inside = list(_joined(each))
            yield from inside
            said.append(" ".join([_spelled(key), *inside[-1:]]).strip())
        yield " ".join(said)


def _spelled(key: str) -> str:
    """The words of a JSON key: "preferredName" and "preferred_name" are two."""
    return _CAMEL.sub(" ", key).replace("_", " ").replace("-", " ")


def labelled(text: str) -> list[str]:
    """Return the lines of a document; of a JSON text its keys with their texts: "preferred name: Bobby"."""
    if is_json(text):
        with suppress(orjson.JSONDecodeError):
            return list(_labelled(orjson.loads(text), ""))
    return [_BULLET.sub("", line).strip() for line in text.splitlines()]


def _labelled(value: Any, label: str) -> Iterator[str]:
    if isinstance(value, str):
        yield f"{label}: {value}" if label else value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _labelled(each, _spelled(key).lower())
    elif isinstance(value, list):
        for each in value:
            yield from _labelled(each, label)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)

"""Normalised views of a text for the gates."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from language.shown import lookalikes

from .disguises import decoded, respelled

# Not all of them are format characters to Unicode: fillers and the grapheme joiner are drawn as nothing too.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u3164\uffa0\u2800") | {chr(code) for code in range(0xFE00, 0xFE10)}
_STROKES = str.maketrans(
    {**dict(zip("łøđħıßæœðɔƃ", "lodhisaodcg", strict=True)), **dict.fromkeys("’ʼ‘`´", chr(39)), "þ": "th"}
)

_BOXED_LETTER = re.compile(
    r"(?:(?:CROSSED )?NEGATIVE .*|REGIONAL .*|PARENTHESIZED .*|LATIN LETTER SMALL CAPITAL|LATIN .* TURNED) ([A-Z])"
)
_BRAILLE = dict(
    zip(
        b"\x01\x03\x09\x19\x11\x0b\x1b\x13\x0a\x1a\x05\x07\x0d\x1d\x15\x0f\x1f\x17\x0e\x1e%':-=5",
        ascii_lowercase,
        strict=True,
    )
)
"""Letters by their dots, the first of which is the lowest bit."""

_FOLDED_CATEGORIES = {"Zs": " ", "Pd": "-"}
_BLANKS = re.compile(" {2,}")
_BESIDE_LATIN = re.compile("[a-z][^\x00-\x7f]|[^\x00-\x7f][a-z]")


class _Table(dict[int, str]):
    """A lazy table for ``str.translate``."""

    def __init__(self, read: Callable[[str], str]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, code: int) -> str:
        value = self[code] = self._read(chr(code))
        return value


@dataclass(frozen=True, slots=True)
class GateText:
    """A normalised text with its original."""

    text: str
    original: str

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Map a half-open range of the normalised text to the original."""
        if self.original.isascii():
            return start, end
        places = [place for place, character in enumerate(self.original) for _ in character.translate(_PLAIN)]
        return places[start], places[end - 1] + 1


def plain(text: str) -> GateText:
    """Normalise compatibility forms, blanks, dashes and digits, and remove invisible characters."""
    return GateText(text if text.isascii() else text.translate(_PLAIN), text)


def _read(character: str) -> str:
    category = unicodedata.category(character)
    if category in {"Cf", "Me"} or character in _INVISIBLE or "\U000e0100" <= character <= "\U000e01ef":
        return ""
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category in _FOLDED_CATEGORIES or character == "−":
        return _FOLDED_CATEGORIES.get(category, "-")
    name = unicodedata.name(character, "")
    letter = _BOXED_LETTER.fullmatch(name)
    if letter:
        return letter[1]
    if name.startswith("BRAILLE PATTERN DOTS"):
        return _BRAILLE.get(ord(character) - 0x2800, " ")
    form = unicodedata.normalize("NFKC", character)
    return " " if category == "So" and form == character else form


def folded(text: str) -> str:
    """Fold case, and remove accents of Latin, Greek and Cyrillic letters."""
    text = text.casefold()
    return text if text.isascii() else text.translate(_BARE)


def _bare(character: str) -> str:
    apart = unicodedata.normalize("NFKD", character)
    bare = "".join(part for part in apart if not "\u0300" <= part <= "\u036f")
    return unicodedata.normalize("NFC", bare).translate(_STROKES)


_PLAIN = _Table(_read)
_BARE = _Table(_bare)


def views(text: str) -> Iterator[str]:
    """Return the folded views of a text: plain, look-alikes replaced, respelled, decoded; each view once."""
    first = plain(text).text
    base = _folded_line(first)
    yield base
    if not base.isascii() and _BESIDE_LATIN.search(base):
        latin = _folded_line(base.translate(lookalikes()))
        if latin != base:
            yield latin
            base = latin
    yield from respelled(base)
    for said in decoded(first):
        yield _folded_line(plain(said).text)


def _folded_line(text: str) -> str:
    return _BLANKS.sub(" ", folded(text))

"""A text as somebody reads it, whatever characters it is spelled with: what the gates look at."""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from confusable_homoglyphs.confusables import confusables_data

# Not all of them are format characters to Unicode: fillers and the grapheme joiner are drawn as nothing too.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u3164\uffa0\u2800") | {chr(code) for code in range(0xFE00, 0xFE10)}
_STROKES = str.maketrans("łøđħıßæœ", "lodhisao")
_LEET = str.maketrans("0134578@$!", "oieastbasi")

_BESIDE_LATIN = re.compile("[a-z][^\x00-\x7f]|[^\x00-\x7f][a-z]")
_LETTERS_APART = re.compile(r"(?<![^\W\d_])[^\W\d_](?:[ ._\-*|/·]{1,3}[^\W\d_](?![^\W\d_])){5,}")
_LEET_WORD = re.compile(r"(?<![\w@$])(?=[a-z@$!0-9]*[a-z])(?=[a-z]*[0134578@$!])[a-z@$!0134578]{3,}(?![\w@$])")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,}={0,2}(?![A-Za-z0-9+/_=-])")


class _Table(dict[int, str]):
    """What ``str.translate`` puts in the place of each character, worked out when one first comes up."""

    def __init__(self, read: Callable[[str], str]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, code: int) -> str:
        value = self[code] = self._read(chr(code))
        return value


@dataclass(frozen=True, slots=True)
class Reading:
    """A text in plain characters, beside the original."""

    text: str
    original: str

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The range of the original that a range of the plain text (half-open, not empty) stands for."""
        if self.original.isascii():
            return start, end
        places = [place for place, character in enumerate(self.original) for _ in character.translate(_PLAIN)]
        return places[start], places[end - 1] + 1


def plain(text: str) -> Reading:
    """Compatibility forms and all blanks and dashes as one, digits of every script as ASCII, the invisible left out."""
    return Reading(text if text.isascii() else text.translate(_PLAIN), text)


def _read(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf" or character in _INVISIBLE or "\U000e0100" <= character <= "\U000e01ef":
        return ""
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Zs":
        return " "
    if category == "Pd" or character == "−":
        return "-"
    return unicodedata.normalize("NFKC", character)


def folded(text: str) -> str:
    """Plain text without case, and without the accents of Latin, Greek and Cyrillic letters."""
    text = text.casefold()
    return text if text.isascii() else text.translate(_BARE)


def _bare(character: str) -> str:
    apart = unicodedata.normalize("NFKD", character)
    bare = "".join(part for part in apart if not "\u0300" <= part <= "\u036f")
    return unicodedata.normalize("NFC", bare).translate(_STROKES)


_PLAIN = _Table(_read)
_BARE = _Table(_bare)


def views(text: str) -> Iterator[str]:
    """The ways to read a text: as it is, then with look-alikes, spaced letters and base64 undone. All folded.

    Only ways that differ from the first are given.
    """
    first = plain(text).text
    base = folded(first)
    yield base
    if _BESIDE_LATIN.search(base):
        latin = base.translate(_lookalikes())
        if latin != base:
            yield latin
            base = latin
    yield from _letters_joined(base)
    unleet = _LEET_WORD.sub(lambda word: word.group().translate(_LEET), base)
    if unleet != base:
        yield unleet
    for found in _BASE64.finditer(first):
        decoded = _decoded(found.group())
        if decoded:
            yield folded(plain(decoded).text)


def _letters_joined(text: str) -> Iterator[str]:
    for run in _LETTERS_APART.finditer(text):
        yield "".join(character for character in run.group() if character.isalpha())


def _decoded(blob: str) -> str:
    """What a base64 blob says, when it is text."""
    blob = blob.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        text = base64.b64decode(blob + "=" * (-len(blob) % 4)).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return text if text.isprintable() or not any(ord(character) < 9 for character in text) else ""


@cache
def _lookalikes() -> dict[int, str]:
    """Letters of other scripts that look like a Latin one, by Unicode's table of confusable characters."""
    table = {}
    for character, twins in confusables_data.items():
        if len(character) != 1 or character.isascii() or not character.islower():
            continue
        latin = next((twin["c"] for twin in twins if twin["c"].isascii() and twin["c"].isalpha()), None)
        if latin is not None:
            table[ord(character)] = latin.casefold()
    return table

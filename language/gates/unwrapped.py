"""What a text says in an encoding, or with markup around its words: to compare it with what was refused."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from language.shown import letters_of

from .disguises import decoded
from .reading import plain

_TAGS = re.compile("[\U000e0020-\U000e007e]+")
"""Characters that nothing shows, and that each stand for one of ASCII."""
_TAG_OFFSET = 0xE0000
_MARKUP = re.compile(r"<[^<>]{0,80}>")
_MAY_WRAP = re.compile("%[0-9a-fA-F]{2}|&#?\\w+;|[\U000e0020-\U000e007e]|\\\\[ux][0-9a-fA-F]|<|[A-Za-z0-9+/=_-]{12}")
_ENTITY = re.compile(r"&#?\w{2,8};")
_WORD = re.compile(r"\S+")
_MARKS = ".,;:!?"
"""Inside a word "!" stands for a letter."""


def unwrapped(text: str) -> Iterator[str]:
    """Yield the readings of a text by which it says something else than its letters: decoded, and without markup."""
    if _TAGS.search(text):
        yield "".join(map(_from_tags, _TAGS.findall(text)))
    if "<" in text and (bare := _MARKUP.sub("", text)) != text:
        yield bare
    if "%" in text and (said := unquote(text)) != text:
        yield said
    if _ENTITY.search(text) and (said := html.unescape(text)) != text:
        yield said
    yield from decoded(plain(text).text)


class Spelled(NamedTuple):
    """The letters of a text, and of each letter the range of the word that it stands in."""

    letters: str
    places: list[tuple[int, int]]

    @classmethod
    def of(cls, text: str) -> Spelled:
        """Read the words of a text, decoded where they are in an encoding, without marks, blanks and markup."""
        letters, places = [], []
        bare = _MARKUP.sub(lambda found: " " * len(found[0]), text) if "<" in text else text
        for word in _WORD.finditer(bare):
            said = letters_of(_read(word[0]).strip(_MARKS))
            letters.append(said)
            places += [word.span()] * len(said)
        return cls("".join(letters), places)

    def find(self, letters: str) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the text whose words spell these letters."""
        at = self.letters.find(letters)
        while at >= 0:
            yield self.places[at][0], self.places[at + len(letters) - 1][1]
            at = self.letters.find(letters, at + 1)


def _read(word: str) -> str:
    return next(unwrapped(word), word) if _MAY_WRAP.search(word) else word


def _from_tags(tags: str) -> str:
    return "".join(chr(ord(tag) - _TAG_OFFSET) for tag in tags)

"""Texts as their readers see them: quoted, and to compare them, without what is not shown and in one alphabet."""

from __future__ import annotations

import unicodedata
from functools import cache

import regex
from confusable_homoglyphs.confusables import confusables_data
from django.utils.translation import gettext as _

_IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}]+")
_WORD = regex.compile(r"\w+")
_LATIN_LETTER = regex.compile(r"\p{Latin}")
_FOREIGN_LETTER = regex.compile(r"[\p{L}--\p{Latin}]", regex.V1)
_ALIKE = str.maketrans("i1|0345789@$!", "llloeastbgasl")
"""Digits, marks and an "i" that stand for a letter, as one of those that look so."""
_OF_WHOLE_LANGUAGES = frozenset("ı")


def quoted(text: str) -> str:
    """Put a text into the quotation marks of the active language."""
    return _("“%(statement)s”") % {"statement": text}


def as_shown(text: str) -> str:
    """Return a text as its reader sees it, for comparisons: "c\\u200bello" and "сello" with a Cyrillic с are "cello".

    Zero-width and formatting characters, soft hyphens, variation selectors and tags are left out. Look-alikes of Latin
    letters become these in a word that is Latin then, if it has such letters too, or if the whole text is Latin then.
    """
    if text.isascii():
        return text
    shown = _IGNORABLE.sub("", text)
    table = _lookalikes_to_fold()
    if table.keys().isdisjoint(map(ord, shown)):
        return shown
    latin = shown.translate(table)
    if _LATIN_LETTER.search(shown) and not _FOREIGN_LETTER.search(latin):
        return latin
    return _WORD.sub(lambda word: _in_latin(word[0]), shown)


def letters_of(text: str) -> str:
    """Return the letters and figures of a text without blanks, marks and accents, alike ones in one spelling.

    To find a text inside another one, however it is cut: "the ce11o", "the c.ello" and "thé cel lo" are one.
    """
    plain = unicodedata.normalize("NFKD", as_shown(text)).casefold().translate(_ALIKE)
    return "".join(filter(str.isalnum, plain))


def _in_latin(word: str) -> str:
    latin = word.translate(_lookalikes_to_fold())
    return latin if _LATIN_LETTER.search(word) and not _FOREIGN_LETTER.search(latin) else word


@cache
def lookalikes() -> dict[int, str]:
    """Map look-alikes of Latin letters, by their compatibility form or Unicode's table of confusable characters."""
    table = {}
    for character, twins in confusables_data.items():
        if len(character) != 1 or character.isascii():
            continue
        form = unicodedata.normalize("NFKC", character)
        likes = [form, *(twin["c"] for twin in twins)] if form.isalpha() else []
        latin = next((like for like in likes if len(like) == 1 and like.isascii() and like.isalpha()), "")
        if latin:
            table[ord(character)] = latin
    return table


@cache
def _lookalikes_to_fold() -> dict[int, str]:
    return {code: latin for code, latin in lookalikes().items() if chr(code) not in _OF_WHOLE_LANGUAGES}

"""Recognise English, and texts in other languages, by their function words."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from .lexicon import is_word
from .parse import Word, irregular
from .words import CASUAL_SPELLINGS, ENGLISH, listed

_FEWEST_STRANGE = 3
_WORD = regex.compile(r"\p{L}+")
_SMALL = (
    listed(
        "der das und ich ist nicht ein eine einen einem einer mein meine meinen meinem meiner dein deine mir mich "
        "dir dich "
        "du wir sie ihr dass mit auf für von zu bei im vom zum zur bin bist sind habe hast hat haben wird weißt "
        "wer wie wo "
        "wann warum wohne arbeite heiße heißt gern gerne auch noch sehr merk merke vergiss über als "
        "je tu il elle nous vous suis est sont mon ma mes les des une dans pour avec que qui où j ai "
        "yo soy mi mis el los las es una en con para que vivo tengo está "
        "ik ben mijn het een niet van woon heb en "
        "io sono mio mia che gli nel della "
        "eu sou meu minha não uma em os"
    )
    - ENGLISH
)


def is_foreign(text: str) -> bool:
    """Whether it has at least two function words of other languages, and more of them than of English.

    Without any of English, it also is if the most of its words, and at least three, are not English.
    """
    said = _WORD.findall(text)
    words = [word.lower() for word in said]
    foreign = sum(word in _SMALL for word in words)
    english = sum(word in ENGLISH for word in words)
    if foreign > 1 or english:
        return foreign > max(english, 1)
    strange = sum(word.islower() and _is_strange(word) for word in said)
    return strange >= _FEWEST_STRANGE and strange * 2 >= len(words)


def is_mostly_foreign(text: str) -> bool:
    """Like ``is_foreign``; also if more than half of the words are not English, however few they are."""
    words = [word.lower() for word in _WORD.findall(text)]
    return 2 * sum(map(_is_strange, words)) > len(words) or is_foreign(text)


def _is_strange(word: str) -> bool:
    """Whether English has no such word, in lower case, in whatever spelling of a chat."""
    return not (word in ENGLISH or word in CASUAL_SPELLINGS or is_word(irregular(word)))


def is_english(words: Sequence[Word]) -> bool:
    """Whether a sentence has enough English function words to be read."""
    plain = [word.low for word in words if word.text[:1].isalpha()]
    odd = sum(not word.isascii() for word in plain)
    small = sum(word in ENGLISH for word in plain)
    small += sum(word.pos == "VERB" and word.lemma != word.low for word in words)
    return bool(plain) and odd * 3 <= len(plain) and small * 6 >= len(plain)

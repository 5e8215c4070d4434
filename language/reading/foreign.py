"""Recognise a text in a language other than English by its function words."""

from __future__ import annotations

import regex

from .words import ENGLISH, listed

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
    """Whether it has at least two function words of other languages, and more of them than of English."""
    words = [word.lower() for word in _WORD.findall(text)]
    foreign = sum(word in _SMALL for word in words)
    return foreign > 1 and foreign > sum(word in ENGLISH for word in words)

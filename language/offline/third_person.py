"""Putting a text that speaks as the user ("I live in Porto") into the third person, where that needs no guess."""

from __future__ import annotations

from language.offline.modality import is_english
from language.offline.people import USER
from language.offline.rewrite import Unclear, Voice, finished, rewritten
from language.offline.sentences import split_sentences
from language.offline.tokens import tokenize

_VOICE = Voice(user="the user", legacy="")
_FIRST = frozenset({"i", "me", "my", "mine", "myself"})
_QUOTES = frozenset('"“”«»‘')


def in_third_person(text: str) -> str:
    """The text with its English sentences in the first person put into the third.

    A sentence stays as it is when it quotes somebody or when a pronoun could mean more than one.
    """
    return " ".join(_rewritten(sentence.text) for sentence in split_sentences(text)) or text


def _rewritten(sentence: str) -> str:
    tokens = tokenize(sentence)
    if _FIRST.isdisjoint(token.low for token in tokens) or not _QUOTES.isdisjoint(sentence) or not is_english(tokens):
        return sentence
    try:
        return finished("", rewritten(tokens, _VOICE, USER))
    except Unclear:
        return sentence

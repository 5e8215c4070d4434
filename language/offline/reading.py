"""The sentences of messages with their words, and which of them the rules may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from language.base import Utterance
from language.offline import modality
from language.offline.sentences import MAX_CHARACTERS, Sentence, own_words, split_sentences
from language.offline.tokens import Token, tokenize

MAX_SENTENCE = 600
MAX_TOKENS = 160

Lines = Mapping[int, "list[Line]"]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence and its words (those of its first 600 characters).

    ``english`` says that it is in English as far as its small words tell, ``readable`` that the rules may read it: it
    is English, not too long, and free of quotations, addresses and mark-up.
    """

    sentence: Sentence
    tokens: tuple[Token, ...]
    english: bool
    readable: bool


def lines_of(messages: Iterable[Utterance]) -> Lines:
    """Return the lines of each message by its index."""
    return {message.index: _lines(message.content) for message in messages}


def _lines(content: str) -> list[Line]:
    lines = []
    for sentence in split_sentences(own_words(content[:MAX_CHARACTERS])):
        tokens = tuple(tokenize(sentence.text[:MAX_SENTENCE], sentence.start))
        english = modality.is_english(tokens)
        short = len(sentence.text) <= MAX_SENTENCE and len(tokens) <= MAX_TOKENS
        lines.append(Line(sentence, tokens, english, english and short and modality.is_plain(sentence.text)))
    return lines

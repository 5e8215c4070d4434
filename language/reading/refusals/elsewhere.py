"""What a request to forget names, to be found in other conversations, where nothing around it tells what was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from language.reading.questions import is_question
from language.reading.sentences import split_sentences

from ..parse import parse
from ..words import listed
from .meaning import find_refusal
from .records import Turn
from .subjects import beginnings_of, content_words, lemmas

_JOINED = re.compile(r",|\b(?:and|or|nor)\b")
_TIMES = listed("time day week weekend fortnight month year morning afternoon evening night hour minute")


@dataclass(frozen=True, slots=True)
class NamedThing:
    """A thing that is named: the lemmas of its ``words``, and of the ``nouns`` among them.

    ``all_of_it``: everything about it is to go, or all that was said of it. ``beginnings``: for each word those of its
    forms.
    """

    words: frozenset[str]
    nouns: frozenset[str]
    all_of_it: bool
    beginnings: Sequence[Sequence[str]]

    def sentences_in(self, text: str) -> Iterator[str]:
        """Yield the sentences that have all its words, its nouns as nouns, and ask nothing."""
        for sentence in (each.text for each in split_sentences(text)):
            low = sentence.lower()
            may_hold = all(any(each in low for each in word) for word in self.beginnings)
            if not may_hold or is_question(sentence):
                continue
            if self.words <= lemmas(sentence) and self.nouns <= _nouns(sentence):
                yield sentence


def named_things(request: str) -> list[NamedThing]:
    """Return what the requests of a message name by a noun, each thing by itself; units of time name nothing."""
    things = []
    for sentence in (each.text for each in split_sentences(request)):
        refusal = find_refusal([Turn("user", sentence)], 0)
        if refusal is None or not refusal.named_lemmas:
            continue
        for part in _JOINED.split(sentence):
            words = lemmas(part) & refusal.named_lemmas
            nouns = (_nouns(part) & words) - _TIMES
            if nouns:
                beginnings = [beginnings_of(word) for word in sorted(words)]
                things.append(NamedThing(words, nouns, refusal.covers_all, beginnings))
    return things


def _nouns(text: str) -> frozenset[str]:
    parsed = parse(text)
    words = parsed.words if parsed is not None else ()
    return frozenset(content_words(word for word in words if word.pos in {"NOUN", "PROPN"}))

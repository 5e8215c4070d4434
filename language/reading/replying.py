"""What is answered in a talk without a language model: what is remembered, with where it comes from, and no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

import regex

from language.base import ReplyRequest, Source

NO_MODEL = "No language model is configured here, so I only tell what I remember."
NOTHING_FOUND = "I remember nothing about that yet."
READ = "Thank you, I have read that."
MOST_TOLD = 4


_ENDINGS_OF_SHORT = frozenset({"", "s", "es", "ed", "ing", "y", "ies"})
_ENDINGS = _ENDINGS_OF_SHORT | {"d", "e", "en", "er", "ers", "ied", "n", "r", "st", "t", "te", "ten"}
"""How forms of one word end, in English and German."""


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WORD = regex.compile(r"[\p{L}\p{N}]+")
_ASKS = regex.compile(
    r"\?\s*$|^\W*(?:who|whom|whose|what|when|where|which|why|how|do you|did i|did you|have i|can you|could you|tell me|"
    r"remind me|wer|wen|wem|was|wann|wo|welche[rsnm]?|warum|wie|weißt du)\b",
    regex.IGNORECASE,
)
# What a question is made of, and not what it is about.
_OF_QUESTIONS = _words_in(
    "a about again all am an and any anything are as at be been by can could did do does ever everything for from had "
    "has have he her him his how i in is it its know me mine my of on or our please recall remember remembered remind "
    "said say she so some something tell that the their them there these they thing things this those to told us was "
    "we were what when where which who whom whose why will with would you your"
)


def reply(request: ReplyRequest) -> Iterator[str]:
    """The pieces of the answer."""
    if request.is_first:
        yield f"{NO_MODEL} "
    if not _ASKS.search(request.question.strip()):
        yield READ
        return
    fitting = _fitting(request.question, request.found)
    if not fitting:
        yield NOTHING_FOUND
        return
    yield "This is what I remember:"
    for source in fitting:
        yield f"\n- {source.text} ({source.origin})"


def _fitting(question: str, found: Sequence[Source]) -> list[Source]:
    """Those that have a word in common with the question; all where it names nothing: "what do you know of me?"."""
    sources = list(found)
    wanted = [word for word in _words(question) if word not in _OF_QUESTIONS]
    if wanted:
        sources = [
            each for each in sources if any(_is_one(word, other) for word in wanted for other in _words(each.text))
        ]
    return sources[:MOST_TOLD]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _is_one(word: str, other: str) -> bool:
    """Whether two words are forms of one, as far as their endings tell: "keys" and "key", "worked" and "working"."""
    stem = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], zip(word, other, strict=False)))
    if len(stem) < 3:
        return word == other
    endings = _ENDINGS if len(stem) > 3 else _ENDINGS_OF_SHORT
    rests = (each.removeprefix(stem) for each in (word, other))
    return all(rest in endings or rest.removeprefix(stem[-1]) in endings for rest in rests)

"""What is answered in a talk without a language model: what is remembered, with where it comes from, and no more.

What the person says in passing is asked about before it is remembered; what they ask for, and what puts something
right, is remembered at once and said.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import regex

from language.base import Heard, ReplyRequest, Source
from language.reading.words import ENGLISH

NO_MODEL = "No language model is configured here, so I only tell what I remember."
ITSELF = "Ask me about somebody or something that you have told me."
NOTHING_FOUND = "I remember nothing about that yet."
READ = "Thank you, I have read that."
NOT_KEPT = "All right, I keep nothing of that."
MOST_TOLD = 4


_ENDINGS_OF_SHORT = frozenset({"", "s", "es", "ed", "ing", "y", "ies"})
_ENDINGS = _ENDINGS_OF_SHORT | {"d", "e", "en", "er", "ers", "ied", "n", "r", "st", "t", "te", "ten"}
"""How forms of one word end, in English and German."""


def _words_in(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NO_NAMES = _words_in("You Your The A An It There")
_NAME = regex.compile(
    r"(?<=[\p{L},] )\p{Lu}\p{Ll}{2,}\b|^\p{Lu}\p{Ll}{2,}(?= (?:called|came|said|told|rang|wrote|visited)\b)"
)
_WORD = regex.compile(r"[\p{L}\p{N}]+")
_ASKS = regex.compile(
    r"\?\s*$|^\W*(?:(?:hi|hello|hey|and|so|well|ok|okay)\b\W+)?(?:"
    r"(?:who|whom|whose)(?:['’]s)?\b|(?:what|when|where|why|how)['’]s\b|(?:what|how) about\b|"
    r"(?:when|where|why)\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|"
    r"(?:what|which|how)(?:\s+(?!(?:i|you|we|he|she|it|they|my|our|the|an?)\b)\w+){0,2}?"
    r"\s+(?:is|are|am|was|were|do|does|did|has|have|had|can|could|will|would|should)\b|"
    r"(?:is|are|am|was|were|does|did|has)\s+(?:i|you|we|he|she|it|they|my|our|there)\b|"
    r"(?:do|have|can|could|would|will)\s+(?:i|you|we|they)\b|(?:please\s+)?(?:tell me|remind me)\b|any idea\b|"
    r"i(?:['’]m| am)? wonder(?:ing)?\b|(?:wer|wen|wem|was|wann|wo|welche[rsnm]?|warum|wie|weißt du)\b)",
    regex.IGNORECASE,
)
_ASKS_OF_ITSELF = regex.compile(
    r"^\W*(?:(?:hi|hello|hey|and|so|well|ok|okay)\b\W+)?(?:(?:who|what) (?:exactly )?are you\b(?! \p{L})|"
    r"are you (?:(?:an?|the|really|even|some|any|kind|sort|of|large) )*(?:language model|llm|model|ai|a\.i\.|assistant|"
    r"bot|chatbot|robot|machine|human|person|real|alive|chatgpt|gpt|claude)\b|wer bist du\b|was bist du\b)",
    regex.IGNORECASE,
)
# What a question is made of, and not what it is about.
_OF_QUESTIONS = _words_in(
    "a about again all am an and any anything are as at be been by can could did do does ever everything for from had "
    "has have he her him his how i in is it its know me mine my of on or our please recall remember remembered remind "
    "said say she so some something tell that the their them there these they thing things this those to told us was "
    "we were what when where which who whom whose why will with would you your "
    "d ll m re s t ve idea if please whether wonder wondering "
    "bin das dem den der die dir du ein eine er erzählt gesagt hast hat ich ist mein meine mir sie sind und von wann "
    "warum weißt wem wen wer wie wo über"
)


def is_question(text: str) -> bool:
    """Whether something is asked, with a question mark or without: such words say nothing that could be told later."""
    return _ASKS.search(text.strip()) is not None


def reply(request: ReplyRequest) -> tuple[list[str], bool]:
    """The pieces of the answer, and whether it asks if something may be remembered."""
    parts = [f"{NO_MODEL} "] if request.is_first else []
    heard, asks = request.heard, False
    if heard.refused:
        return [*parts, NOT_KEPT], False
    keeps = _kept(heard)
    if is_question(request.question) and not keeps:
        parts += _found(request)
        parts += ["\n\n"] if heard.new else []
    if keeps:
        parts.append(" ".join(keeps))
    elif heard.new:
        parts.append(f"Shall I remember {_that(heard.new)}?")
        asks = True
    elif not parts or parts == [f"{NO_MODEL} "]:
        parts.append(_asked_about(request) or READ)
    return parts, asks


def _kept(heard: Heard) -> list[str]:
    """What is remembered without asking: what was asked for, agreed to or put right, and what was said with it."""
    kept = [f"Updated: {now} Until now I had: {before}" for before, now in heard.changed]
    if noted := (*heard.noted, *(heard.new if heard.noted or heard.changed else ())):
        kept.append(f"I will remember {_that(noted)}.")
    elif heard.agreed and not kept:
        kept.append(READ)
    if heard.told and (kept or not heard.new):
        kept.append(f"Noted: {' '.join(heard.told)}")
    return kept


def _that(statements: Sequence[str]) -> str:
    """Statements as the rest of a sentence: "that you live in Porto and that Alec is your boss"."""
    return " and ".join(f"that {_in_a_sentence(each)}" for each in statements)


def _in_a_sentence(statement: str) -> str:
    words = statement.rstrip(".").split(" ", 1)
    return " ".join([words[0].lower() if words[0] in _NO_NAMES else words[0], *words[1:]])


def _asked_about(request: ReplyRequest) -> str:
    """One question about somebody who is named and of whom nothing is known; empty where there is nobody."""
    known = {word for source in request.found for word in _words(source.text)}
    names = (name[0] for name in _NAME.finditer(request.question))
    new = next((name for name in names if name.casefold() not in known and name.lower() not in ENGLISH), "")
    return f"Who is {new}?" if new else ""


def _found(request: ReplyRequest) -> list[str]:
    if _ASKS_OF_ITSELF.search(request.question):
        return [ITSELF if request.is_first else f"{NO_MODEL} {ITSELF}"]
    fitting = _fitting(request.question, request.found)
    if not fitting:
        return [NOTHING_FOUND]
    return ["This is what I remember:", *(f"\n- {source.text} ({source.origin})" for source in fitting)]


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

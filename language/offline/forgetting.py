"""Requests to forget, in so many words: "forget that …", "please forget my …"; and which of what is known they mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from language.offline.compare import Sense, sense_of
from language.offline.lexicon.words import AUXILIARIES, NOT_NAMES, SUBJECT_PRONOUNS, by_first_word, listed
from language.offline.tokens import POLITE, Token, joined, phrase_end, skip_phrases

_ASKING = by_first_word(("can you", "could you", "would you", "will you"))
_OPENING = by_first_word(
    (
        "you can", "you may", "you should", "actually", "no ,", "wait", "sorry", "hmm", "go ahead and",
        *(" ".join(phrase) for phrases in POLITE.values() for phrase in phrases),
    )
)  # fmt: skip
_FORGET = by_first_word(
    (
        "forget", "forget that", "forget about", "forget the fact that", "do not remember", "do not remember that",
        "never remember that", "stop remembering", "stop remembering that", "no longer remember that",
        "do not keep in mind that", "do not note that", "do not store that", "do not save that", "do not record that",
    )
)  # fmt: skip
_DELETING = ("delete", "erase", "remove", "drop", "wipe")
_FORGET_ALL = by_first_word(
    f"{verb} {what}"
    for verb in ("forget", *_DELETING)
    for what in (
        "everything about", "everything you know about", "everything you remember about", "everything you have on",
        "everything i said about", "everything i told you about", "all you know about", "all memories about",
        "all memories of", "all your memories about", "all your memories of",
    )
)  # fmt: skip
_DELETE = by_first_word(
    f"{verb} {what}"
    for verb in ("forget", *_DELETING)
    for what in (
        "what you know about", "what you remember about", "what you have on", "what i said about",
        "what i told you about", "the memory that", "the memory of", "the memory about", "your memory that",
        "your memory of", "your memory about", "from memory that", "from your memory that",
    )
)  # fmt: skip
_TAKE_OUT = by_first_word(_DELETING)
_OUT_OF_MEMORY = (("from", "memory"), ("from", "your", "memory"), ("from", "your", "memories"))
# "Forget to …" and "forget when …" ask for nothing, and "everything", "me" or "you" name nothing that could be found.
_NOT_WHAT = listed(
    """to when how what where who why which if whether me us him them you your yourself all any anything everything
    nothing each these those""",
)
_POINTING = listed("that this it one last bit part thing again now too")
_CLOSING = listed("please now ok okay thanks thank you again too anymore though then")
_SAID_BEFORE = by_first_word(("i said", "i mentioned", "i told", "i asked", "i ever", "i just"))
_ENDS = listed(", ; – — ( because since")
_THAT_AT_THE_END = (
    ("do", "not", "remember", "that"), ("do", "not", "remember", "this"), ("forget", "that"), ("forget", "this"),
    ("forget", "it"),
)  # fmt: skip
_BEFORE_THE_END = listed(", ; - – — please and but so just now you can could")
_UNRESOLVED = listed("it this that these those them there here")
_OF_NOBODY = listed("user i me mine we")
_VAGUE = listed("memory information info detail fact thing preference data note old current")
_FIELDS = {
    "name": "preferred_name",
    "nickname": "preferred_name",
    "preferred name": "preferred_name",
    "pronouns": "pronouns",
    "city": "city",
    "home town": "city",
    "language": "language",
    "tone": "tone",
}
# What "my …" is called where it is said with another word.
_SAID_AS = {"allergy": "allergic", "birthday": "born", "birth": "born", "birthplace": "born"}
_LINKS = listed("and or")
_MOST_BESIDE = 1


@dataclass(frozen=True, slots=True)
class Forgetting:
    """``tokens`` is what to forget, none of them what was said just before; ``whole`` asks for everything about it.

    ``rest`` is what the sentence goes on to say: "forget that I live in Faro, I live in Porto now".
    """

    tokens: tuple[Token, ...]
    whole: bool = False
    rest: tuple[Token, ...] = ()


class Told(Protocol):
    """Something known: a sentence in the third person and what it is about."""

    @property
    def content(self) -> str:
        """The sentence."""
        ...

    @property
    def subject(self) -> str:
        """Whom or what it is about, or empty."""
        ...

    @property
    def field(self) -> str:
        """The single-valued field that it gives, or empty."""
        ...


ToldT = TypeVar("ToldT", bound=Told)


def find_forgetting(tokens: Sequence[Token]) -> Forgetting | None:
    """Return what a sentence asks to be forgotten, or None if it asks nothing of the kind."""
    asking = skip_phrases(tokens, 0, _OPENING)
    if any(token.low == "?" for token in tokens) and not _asks_politely(tokens, asking):
        return None
    after = phrase_end(tokens, asking, _FORGET_ALL)
    if after is not None:
        return _what(tokens[after:], whole=True)
    after = phrase_end(tokens, asking, _DELETE)
    if after is not None:
        return _what(tokens[after:])
    words = _without_closing(tokens)
    after = phrase_end(tokens, asking, _TAKE_OUT)
    if after is not None:
        tail = next((tail for tail in _OUT_OF_MEMORY if _lows(words[-len(tail) :]) == tail), None)
        return _what(words[after : -len(tail)]) if tail else None
    after = phrase_end(tokens, asking, _FORGET)
    if after is None:
        return _trailing(words)
    found = _what(tokens[after:])
    # "Forget about Hamburg, tell me of Berlin" changes the subject.
    return None if found is not None and found.rest and tokens[after - 1].low == "about" else found


def find_ended(tokens: Sequence[Token]) -> Forgetting | None:
    """Return what a sentence says to be over: "I no longer live in Faro". It can be known, and is to be forgotten."""
    start = skip_phrases(tokens, 0, _OPENING)
    if _lows(tokens[start : start + 3]) != ("i", "no", "longer") or any(token.low == "?" for token in tokens):
        return None
    found = _what(tokens[start + 3 :])
    return Forgetting((tokens[start], *found.tokens)) if found is not None and found.tokens else None


def meant(request: Forgetting, known: Sequence[ToldT]) -> list[ToldT]:
    """Return which of what is known a request names: one, or all about something if it says so. In doubt none."""
    if not request.tokens:
        return []
    sense = sense_of(joined(request.tokens))
    words = tuple(word for word in sense.words if word not in _OF_NOBODY)
    if not words:
        return []
    if not request.whole and _is_clause(request.tokens):
        unclear = any(token.low in _UNRESOLVED for token in request.tokens)
        return [] if unclear else _said(words, sense, known)
    found = _about(request.tokens, words, known)
    return found if request.whole or len(found) == 1 else []


def _asks_politely(tokens: Sequence[Token], end: int) -> bool:
    return any(phrase_end(tokens, position, _ASKING) is not None for position in range(end))


def _what(tokens: Sequence[Token], *, whole: bool = False) -> Forgetting | None:
    cut = next((place for place, token in enumerate(tokens) if token.low in _ENDS), len(tokens))
    words = _without_closing(tokens[:cut])
    if all(token.low in _POINTING for token in words):
        return None if whole else Forgetting(())
    said_before = phrase_end(words, 0, _SAID_BEFORE) is not None
    if said_before or words[0].low in _NOT_WHAT or not all(token.is_word for token in words):
        return None
    return Forgetting(tuple(words), whole, tuple(tokens[cut + 1 :]) if tokens[cut:] else ())


def _trailing(words: Sequence[Token]) -> Forgetting | None:
    """Read "I like tea, please forget that"."""
    tail = next((tail for tail in _THAT_AT_THE_END if _lows(words[-len(tail) :]) == tail), None)
    if tail is None:
        return None
    end = len(words) - len(tail)
    while end and words[end - 1].low in _BEFORE_THE_END:
        end -= 1
    # Without anything between, "I always forget that" says what somebody does.
    if not 0 < end < len(words) - len(tail):
        return None
    return _what(words[:end]) if _is_clause(words) else Forgetting(())


def _without_closing(tokens: Sequence[Token]) -> list[Token]:
    """The words without the signs and thanks at the end."""
    words = list(tokens)
    while words and (not words[-1].is_word or words[-1].low in _CLOSING):
        words.pop()
    return words


def _is_clause(tokens: Sequence[Token]) -> bool:
    return tokens[0].low in SUBJECT_PRONOUNS or any(token.low in AUXILIARIES for token in tokens)


def _said(words: Sequence[str], asked: Sense, known: Sequence[ToldT]) -> list[ToldT]:
    """What says it in these words and at most one more; what says only it goes before."""
    found: list[tuple[int, ToldT]] = []
    for one in known:
        sense = sense_of(one.content)
        beside = _beside(words, sense)
        # Who says no more of tea should keep what is known of "tea and coffee".
        also = bool(beside) and not _LINKS.isdisjoint(sense.text.split()) and _LINKS.isdisjoint(asked.text.split())
        if beside is not None and beside <= _MOST_BESIDE and not also and sense.denied == asked.denied:
            found.append((beside, one))
    least = min((beside for beside, _ in found), default=0)
    nearest = [one for beside, one in found if beside == least]
    return nearest if len(nearest) == 1 else []


def _beside(words: Sequence[str], sense: Sense) -> int | None:
    """How many words a sentence has beside these, or None if it does not have them all in this order."""
    left = iter(word for word in sense.words if word not in _OF_NOBODY)
    if not all(word in left for word in words):
        return None
    return len(sense.bag - set(words) - _OF_NOBODY)


def _about(tokens: Sequence[Token], words: Sequence[str], known: Sequence[ToldT]) -> list[ToldT]:
    """What is about a thing or person: by its subject or field, by "the user's …", or by a name in it."""
    own = tokens[0].low == "my"
    thing = " ".join(token.low for token in tokens[1:]) if own else ""
    telling = {word for word in words if word not in _VAGUE}
    if not telling:
        return []
    named = len(telling) > 1 or any(token.capital and token.low not in NOT_NAMES for token in tokens)
    found = []
    for one in known:
        sense = sense_of(one.content)
        subject = sense_of(one.subject).bag
        said_as = {_SAID_AS.get(word, word) for word in telling}
        if (
            telling <= subject
            or (own and one.field and one.field == _FIELDS.get(thing))
            or (own and f"the user's {thing} " in one.content.lower())
            or (own and said_as != telling and said_as <= sense.bag and one.content.startswith("The user "))
            or (named and telling <= sense.bag)
        ):
            found.append(one)
    return found


def _lows(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple(token.low for token in tokens)

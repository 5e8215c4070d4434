"""Requests to remember, in so many words: "remember that …", "from now on …"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from language.offline.lexicon import verbs
from language.offline.lexicon.words import DETERMINERS, by_first_word, listed
from language.offline.tokens import POLITE, Token, phrase_end, skip_phrases

_REMEMBER = by_first_word(
    (
        "remember", "keep in mind", "bear in mind", "do not forget", "never forget", "make a note", "take note",
        "for future reference", "for next time",
    )
)  # fmt: skip
_HENCEFORTH = by_first_word(("from now on", "going forward", "from here on", "in future"))
_LINKS = listed("that this : , - – . of the_following")
# "Remember to …" is a reminder and "remember when …" is talk, neither says what to keep.
_NOT_WHAT = listed("to when how what where who why me us him them if whether")
_POINTING = listed("that this it these")


_YES = re.compile(
    r"\W*(?:yes|yeah|yea|yep|yup|sure|ok|okay|please do|please|of course|absolutely|certainly|definitely|go ahead"
    r"|by all means|do (?:it|so|that)|exactly|correct|that's (?:right|fine|ok|okay)|fine|gladly|i'd like that|ja|jawohl"
    r"|gerne?|klar|oui|bien sûr|sí|claro|sim|sì|certo|tak|да)\b",
    re.IGNORECASE,
)
_YES_BUT = re.compile(
    r"\?|\b(?:no|not|nope|don't|do not|never|but|except|actually|wait|rather|unless|forget|instead|nicht|aber|nein)\b",
    re.IGNORECASE,
)
_LONGEST_YES = 120


def says_yes(text: str) -> bool:
    """Whether an answer is a plain yes. One that goes on to something else, or to a question, is not."""
    text = text.strip().replace("’", "'")
    return len(text) <= _LONGEST_YES and _YES.match(text) is not None and _YES_BUT.search(text) is None


@dataclass(frozen=True, slots=True)
class Request:
    """``tokens`` is what to remember, none of them what was said before; ``order`` is true for an instruction."""

    tokens: tuple[Token, ...]
    order: bool = False


def find_request(tokens: Sequence[Token]) -> Request | None:
    """Return what a sentence asks to be remembered, or None if it asks nothing of the kind."""
    position = skip_phrases(tokens, 0, POLITE)
    after = phrase_end(tokens, position, _REMEMBER)
    if after is not None:
        return _what(tokens, after)
    after = phrase_end(tokens, position, _HENCEFORTH)
    if after is not None:
        rest = tuple(tokens[_links(tokens, after) :])
        return Request(rest, order=_is_order(rest)) if rest else None
    return _trailing(tokens)


def _trailing(tokens: Sequence[Token]) -> Request | None:
    """Read "I eat no meat, please remember that" and "call me Sam from now on"."""
    words = [token.low for token in tokens if token.is_word]
    if words[-2:] == ["remember", "that"] or words[-2:] == ["remember", "this"]:
        end = next(index for index in range(len(tokens) - 1, -1, -1) if tokens[index].low == "remember")
        while end and tokens[end - 1].low in {
            "please",
            ",",
            "-",
            "–",
            ";",
            "and",
            "so",
            "you",
            "can",
            "could",
            "will",
            "just",
        }:
            end -= 1
        return Request(tuple(tokens[:end]))
    if words[-3:] == ["from", "now", "on"]:
        end = next(index for index in range(len(tokens) - 1, -1, -1) if tokens[index].low == "from")
        start = skip_phrases(tokens, 0, POLITE)
        return Request(tuple(tokens[start:end]), order=_is_order(tokens[start:end]))
    return None


def _what(tokens: Sequence[Token], after: int) -> Request | None:
    if after < len(tokens) and tokens[after].low in _NOT_WHAT:
        return None
    rest = [token for token in tokens[after:] if token.is_word]
    if not rest or (len(rest) <= 2 and rest[0].low in _POINTING):
        return Request(())
    start = _links(tokens, after)
    # "Remember, practice makes perfect" is advice; what is to be kept is said with "that", a colon, or of oneself.
    advice = tokens[after].low == "," and start == after + 1 and tokens[start].low not in {"i", "my"}
    return None if advice else Request(tuple(tokens[start:]), order=_is_order(tokens[start:]))


def _links(tokens: Sequence[Token], position: int) -> int:
    while position < len(tokens) and tokens[position].low in _LINKS:
        position += 1
    return position


def _is_order(tokens: Sequence[Token]) -> bool:
    position = skip_phrases(tokens, 0, POLITE)
    if position >= len(tokens):
        return False
    low = tokens[position].low
    if low in {"never", "always"} or (low == "do" and position + 1 < len(tokens) and tokens[position + 1].low == "not"):
        return True
    following = tokens[position + 1].low if position + 1 < len(tokens) else ""
    return verbs.is_base(low) and (
        following
        in DETERMINERS | {"me", "us", "to", "in", "with", "all", "only", "more", "less", "it", "brief", "concise"}
        or not verbs.verb_form(following)
    )


def order_words(tokens: Sequence[Token]) -> tuple[bool, tuple[Token, ...]]:
    """Return whether an order forbids something, and its words from the verb on."""
    position = skip_phrases(tokens, 0, POLITE)
    if tokens[position].low == "do" and tokens[position + 1].low == "not":
        return True, tuple(tokens[position + 2 :])
    return False, tuple(tokens[position:])

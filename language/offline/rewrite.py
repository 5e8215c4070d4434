"""Write what a person said in the first person as a statement in the third that stands by itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from language.offline.lexicon import verbs
from language.offline.lexicon.words import (
    ADVERBS,
    ADVERBS_LEFT_OUT,
    DETERMINERS,
    GROUP_PRONOUNS,
    MODALS,
    NOT_NAMES,
    OPENERS,
    PREPOSITIONS,
    YOU_PRONOUNS,
    listed,
)
from language.offline.people import Person
from language.offline.tokens import Token, joined

MIN_CONTENT = 5
MAX_CONTENT = 280

_PAST_OR_PRESENT = listed("read put cut cost hit quit set let hurt shut beat spread bet split upset")
_TRAILING = OPENERS | listed(
    "too either though tho lol haha of_course you_know right btw anyway really again then well already now sorry"
)
_TAGS = {("by", "the", "way"), ("to", "be", "honest"), ("i", "must", "say"), ("as", "you", "know")}
_POINTING = listed("here this these those there")
_WEAK_ENDS = PREPOSITIONS - listed("in on off up down out over around back by through along") | listed(
    "a an the and or but my his her their to of because than that so very"
)
_TAKES_THAT = listed(
    "be believe say know think hope mean insist swear decide prefer want dream promise agree claim wish feel"
)
_REFLEXIVE = listed("myself ourselves yourself")


_BANNED = re.compile(
    r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|us|[Oo]urs?|[Oo]urselves|[Yy]ou|[Yy]ours?|[Yy]ourself|[Uu]r)\b"
)
_NOISE = re.compile(r"[<>{}\[\]`\"“”«»|\\^~]|https?:|www\.|\S@\S|&&|\b\w+\(\)|\*\*")
_NOUN_ENDS = ("s", "ren", "men", "ple")
_FIRST = frozenset({"i", "me", "my", "mine", "myself"})
_QUOTES = frozenset('"“”«»‘')


@dataclass(frozen=True, slots=True)
class Voice:
    """How the third person names the two people that every conversation has."""

    user: str
    legacy: str


def trimmed(tokens: Sequence[Token]) -> list[Token]:
    """Leave out closing signs, tags and names called out: "… on Sundays, Mel!"."""
    kept = list(tokens)
    changed = True
    while kept and changed:
        changed = False
        last = kept[-1]
        if tuple(token.low for token in kept[-3:]) in _TAGS:
            del kept[-3:]
            changed = True
        elif (not last.is_word and last.low not in {"%", "+", "(date)"}) or last.low in _TRAILING:
            kept.pop()
            changed = True
        elif len(kept) > 2 and kept[-2].low == "," and last.capital and last.low not in NOT_NAMES and _called_out(kept):
            del kept[-2:]
            changed = True
    return kept


def _called_out(tokens: Sequence[Token]) -> bool:
    """Whether a closing capitalised word after a comma is someone called out, not the end of a list or a place."""
    before = tokens[-3]
    place = before.capital and before.low.removesuffix("s") not in NOT_NAMES
    return sum(token.low == "," for token in tokens) == 1 and not place


class Unclear(Exception):
    """The words can't be put in the third person without guessing."""


def rewritten(
    tokens: Sequence[Token], voice: Voice, main: Person | None, *, agree: bool = False, plural_allowed: bool = False
) -> list[Token]:
    """Put words in the third person.

    ``main`` is the subject they follow, whom the reflexives mean; ``agree`` says that the first verb has the user as
    its subject and takes the third person. Raises Unclear where a pronoun means nobody who can be named.
    """
    result: list[Token] = []
    shares = False
    pending = agree
    for position, token in enumerate(tokens):
        low = token.low
        if pending and low not in ADVERBS and low != "not":
            token, shares = _agreeing(tokens, position)  # noqa: PLW2901
            pending = False
            result.append(token)
            continue
        if shares and _continues(tokens, position, result):
            result.append(token._replace(text=verbs.third_person(low)))
            continue
        if low in ADVERBS_LEFT_OUT and position < 3:
            continue
        if low == "us" and [word.low for word in result[-2:]] == ["all", "of"]:
            del result[-2:]
        if low == "i":
            result.append(token._replace(text=voice.user))
            pending = True
            continue
        result.append(_pronoun(tokens, position, voice, main, plural_allowed))
    return result


def _pronoun(tokens: Sequence[Token], position: int, voice: Voice, main: Person | None, plural_allowed: bool) -> Token:
    token = tokens[position]
    low = token.low
    if low == "me":
        return token._replace(text=voice.user)
    if low in {"my", "mine"}:
        return token._replace(text=f"{voice.user}'s")
    if low in _REFLEXIVE:
        if low == "myself" and main is not None and main.role == "user":
            return token._replace(text="themselves")
        raise Unclear(low)
    if low in {"we", "us"} and token.text != "US":
        if not plural_allowed:
            raise Unclear(low)
        return token._replace(text=f"{voice.user} and others")
    if low in GROUP_PRONOUNS and token.text != "US":
        family = low == "our" and position + 1 < len(tokens) and tokens[position + 1].low in {"family", "household"}
        if not family:
            raise Unclear(low)
        return token._replace(text=f"{voice.user}'s")
    if low in YOU_PRONOUNS:
        raise Unclear(low)
    return token


def _agreeing(tokens: Sequence[Token], position: int) -> tuple[Token, bool]:
    """Put the verb at ``position`` in the third person; also say whether a verb after "and" can share its subject."""
    token = tokens[position]
    low = token.low
    if low in MODALS | {"had", "did"}:
        return token, False
    if low in {"am", "are", "was"}:
        return token._replace(text="was" if low == "was" else "is"), True
    if low == "were" or not low.isalpha():
        raise Unclear(low)
    if low in _PAST_OR_PRESENT:
        words = {word.low for word in tokens}
        if words & {"every", "always", "usually", "often", "daily", "each"}:
            return token._replace(text=verbs.third_person(low)), True
        raise Unclear(low)
    if verbs.is_past(low):
        return token, True
    if low in {"have", "do"} or verbs.is_base(low):
        helping = low == "do" and "not" in {word.low for word in tokens[position + 1 : position + 3]}
        return token._replace(text=verbs.third_person(low)), not helping
    raise Unclear(low)


def _continues(tokens: Sequence[Token], position: int, done: Sequence[Token]) -> bool:
    """Whether a verb after "and" shares the subject: "I live in Porto and work as a nurse"."""
    token = tokens[position]
    previous = position - 1
    while previous > 0 and tokens[previous].low in ADVERBS:
        previous -= 1
    if previous < 1 or tokens[previous].low not in {"and", "but", ","} or not verbs.is_base(token.low):
        return False
    if any(word.low in MODALS | {"to"} and verbs.is_base(tokens[index + 1].low)
           for index, word in enumerate(tokens[: position - 1])):  # fmt: skip
        return False
    following = tokens[position + 1].low if position + 1 < len(tokens) else ""
    return following in DETERMINERS | PREPOSITIONS | {"to", "not"} or verbs.is_gerund(following)


def finished(subject: str, tokens: Sequence[Token], lead: Sequence[Token] = ()) -> str:
    """Write a statement as one sentence: capital first, full stop last."""
    body = joined(trimmed(tokens))
    text = f"{subject} {body}" if subject else body
    if lead:
        opening = joined(lead).rstrip(" ,")
        opening = opening[:1].upper() + opening[1:]
        text = f"{opening}, {text}"
    text = re.sub(r"\s+", " ", text).strip().replace(" can not ", " cannot ")
    text = re.sub(r"\s+([,.;:])", r"\1", text).rstrip(" ,;:-.!?…")
    return text[:1].upper() + text[1:] + "."


def acceptable(content: str) -> bool:
    """Whether a statement stands by itself: its length, no first or second person, nothing that points elsewhere."""
    if not MIN_CONTENT <= len(content) <= MAX_CONTENT or _BANNED.search(content) or _NOISE.search(content):
        return False
    words = [word for word in re.split(r"[^\w'’-]+", content.lower()) if word]
    return len(words) >= 3 and words[-1] not in _WEAK_ENDS and not _points_elsewhere(words)


def _points_elsewhere(words: Sequence[str]) -> bool:
    for position, word in enumerate(words):
        following = words[position + 1] if position + 1 < len(words) else ""
        if word in _POINTING and not (word == "there" and following in {"is", "was", "are", "were"}):
            return True
        if word == "that" and (not following or _points(words, position, following)):
            return True
        if word in {"former", "latter", "other"} and words[position - 1] == "the" and not following:
            return True
        if word in {"such", "it's", "ones", "thing", "things", "stuff"} and position >= len(words) - 2:
            return True
        if word == "same" or (word in {"so", "that"} and position == len(words) - 1):
            return True
    return False


def _points(words: Sequence[str], position: int, following: str) -> bool:
    """Whether "that" points at something ("with that name") rather than opens a clause ("films that move people")."""
    if following in {"is", "was", "too", "one", "and", "much", "way"}:
        return True
    previous = words[position - 1] if position else ""
    form = verbs.verb_form(previous)
    return previous in PREPOSITIONS or (form is not None and form.lemma not in _TAKES_THAT)


def pronouns_hold(words: Sequence[str], main: Person, company: bool, others: Sequence[str]) -> bool:
    """Whether he, she, it and they in a statement mean somebody or something that it names.

    ``words`` follow the subject, in lower case; ``others`` are the genders of people named in them, in order.
    """
    nouns = 0
    plurals = 0
    genders = set(others)
    own = {main.gender} if main.gender in ("f", "m") else {"f", "m"} if main.role == "legacy" else set()
    for position, word in enumerate(words):
        if word in {"it", "its", "itself"} and not nouns:
            return False
        if word in {"they", "them", "their", "theirs"} and not (company or plurals):
            return False
        if word in {"he", "him", "his", "himself"} and not (genders | own) & {"m"}:
            return False
        if word in {"she", "her", "hers", "herself"} and not (genders | own) & {"f"}:
            return False
        if position and words[position - 1] in DETERMINERS and word.isalpha() and word not in {"one", "other"}:
            nouns += 1
        if len(word) > 3 and word.endswith(_NOUN_ENDS) and word not in {"always", "this", "was", "does", "his", "its"}:
            plurals += 1
    return True

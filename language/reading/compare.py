"""What a statement is to one that is remembered: the same, in its place, against it, or something else.

Both are parsed and their claims compared: who, which verbs, in which roles, figures, names, dates, denial and tense.
What is not said so by the grammar is different: a model may know better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from language.base import Comparison

from .claims import Claim, Role, claims_of
from .kinds import is_health
from .pairs import Pair, Told
from .parse import Parsed, parse, parse_each
from .stems import LIGHT, stem_of, words_of
from .words import listed

_FUNCTIONAL = (LIGHT - {"user"}) | listed(
    """is was are were been being am has had does did will would that his her their its he she they it who when very
        really so quite always usually often also just too still ever all such much lot only used"""
)
_AS_IT_IS = listed("live unem jobl preg enga sing hosp")
_WHAT_CHANGES = listed("move relo work job birt born have marr back home enga")
"""Beginnings of words of what may be over, and of what ends it in other words: "lives in Turin", "moved to Genoa"."""
_ANY_MORE = re.compile(r"\bany (?:more|longer)\b", re.IGNORECASE)
_NO_LONGER = re.compile(r"\b(is|are|am|was|were) no longer ([^,.;]+)", re.IGNORECASE)
"""The parser hangs it on what follows where that is a participle: "is no longer engaged to Felix"."""
_AFTER_ALL = re.compile(r" after all\b", re.IGNORECASE)
_LEFT = re.compile(r"(?<=\bha)(s|ve) ([^.]{1,40}) left(?=\.?$)")
_DISLIKES = re.compile(r"\bdislikes\b")
_BUT_NOT = re.compile(r",? (?:and |but )?not (?!only\b|just\b|any)([^,.;]+)(?=[,.;]|$)", re.IGNORECASE)


class Saying:
    """A statement in the third person that is compared with others, parsed once and only when that is needed.

    ``said`` is the message that says it: what it denies ("not Rex") and whether it corrects is read off it. What it is
    to another is worked out once too, so that what is asked before a lock costs nothing under it. It lives as long as
    one write.
    """

    def __init__(self, content: str, said: str = "") -> None:
        self.content, self.said = content, said
        self._verdicts: dict[str, Comparison] = {}

    def to(self, existing: str | Saying) -> Comparison:
        """What it is to an existing statement: see ``compare``."""
        other = existing if isinstance(existing, Saying) else Saying(existing)
        if other.content not in self._verdicts:
            self._verdicts[other.content] = _compared(other, self)
        return self._verdicts[other.content]

    @cached_property
    def words(self) -> list[str]:
        """The stems of its words."""
        return words_of(self.content)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The beginnings of the words that matter."""
        return frozenset(word[:4] for word in self.words if word not in LIGHT)

    @cached_property
    def claims(self) -> tuple[Claim, ...] | None:
        """What it claims; None for what can't be read."""
        return claims_of(self._parsed) if self._parsed is not None else None

    @property
    def only_denies(self) -> bool:
        """Whether it only says what is not or no longer so."""
        return bool(self.claims) and all(claim.denied or claim.over for claim in self.claims or ())

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in it, in lower case."""
        words = self._parsed.words if self._parsed is not None else ()
        named = [word for word in words if word.tag in {"NNP", "NNPS"} or (word.index and word.text.istitle())]
        return frozenset(form for word in named for form in (word.low, stem_of(word)))

    @cached_property
    def _parsed(self) -> Parsed | None:
        return parse(self._plain)

    @property
    def _plain(self) -> str:
        """What is parsed: its words, put so that the parser takes them for what they are."""
        plain = _LEFT.sub(r"\1 \2", _AFTER_ALL.sub("", _ANY_MORE.sub("anymore", self.content)))
        plain = _NO_LONGER.sub(r"\1 not \2 anymore", plain)
        plain = _DISLIKES.sub("does not like", plain)  # The parser takes it for a noun.
        return _BUT_NOT.sub("", plain) if "," in plain else plain

    def has_to_be_read_beside(self, other: Saying) -> bool:
        """Whether both have to be parsed to say what this is to the other, and one of them is not yet."""
        read = "_parsed" in vars(self) and "_parsed" in vars(other)
        return not read and self.may_concern(other) and self.words != other.words

    def may_concern(self, other: Saying) -> bool:
        """Whether what is remembered shares a word with this or may be over by it; only then are they parsed."""
        if self.beginnings or other.beginnings:
            shared = self.beginnings & other.beginnings
            return bool(shared) or not (
                _AS_IT_IS.isdisjoint(other.beginnings) or _WHAT_CHANGES.isdisjoint(self.beginnings)
            )
        return bool(self.content.strip()) and self.content == other.content


def read_together(pairs: Iterable[tuple[Saying, Saying]]) -> None:
    """Parse, all at once, what comparing these pairs of a new and an existing statement will have to parse."""
    reading = {id(each): each for new, old in pairs if new.has_to_be_read_beside(old) for each in (old, new)}
    waiting = [each for each in reading.values() if "_parsed" not in vars(each)]
    for each, parsed in zip(waiting, parse_each([each._plain for each in waiting]), strict=True):
        vars(each)["_parsed"] = parsed


def compare(existing: str | Saying, new: str | Saying) -> Comparison:
    """What a new statement is to an existing one, both in the third person.

    Same: they claim one thing. Replaces: the existing one held until now, or was wrong. Contradicts: both can't be
    true, and nothing says that it changed. Else different, also for what it can't read.
    """
    return (new if isinstance(new, Saying) else Saying(new)).to(existing)


def _compared(old: Saying, new: Saying) -> Comparison:
    if not new.may_concern(old):
        return "different"
    if old.words == new.words:
        return "same"
    if old.claims is None or new.claims is None:
        return "different"
    # No claim has these: one of two, and what is done to somebody ("hates being interrupted").
    telling = [[word for word in each.words if word in {"or", "being"}] for each in (old, new)]
    if telling[0] == telling[1] and Counter(map(Claim.key, old.claims)) == Counter(map(Claim.key, new.claims)):
        return "same"
    if is_health(old.content) != is_health(new.content) and {claim.verbs for claim in (*old.claims, *new.claims)} == {
        ("be",)
    }:
        return "different"  # "Is vegetarian", "is a cook now": the one does not end the other.
    told, names = Told(old.content, new.content, new.said), old.names | new.names
    found = {Pair(*_of_job(one, late), told, names).judge() for one in old.claims for late in new.claims}
    return "replaces" if "replaces" in found else "contradicts" if "contradicts" in found else "different"


def _of_job(old: Claim, new: Claim) -> tuple[Claim, Claim]:
    """Two claims, of which one who "works as" something "is" that where the other says what somebody is."""
    working = [each for each in (old, new) if each.verbs == ("work",) and any(role == "as" for role, _ in each.roles)]
    if len(working) != 1 or {old.verbs, new.verbs} != {("work",), ("be",)}:
        return old, new
    one, other = (replace(each, verbs=("be",), roles=_as_what(each)) for each in (old, new))
    return one, other


def _as_what(claim: Claim) -> frozenset[Role]:
    return frozenset(("is" if role == "as" else role, thing) for role, thing in claim.roles)


def says_all_of(one: str, other: str) -> bool:
    """Whether a text has all the words that matter of another, whatever it says beside them."""
    words = set(words_of(other)) - _FUNCTIONAL
    return bool(words) and words <= set(words_of(one))


def shared_words(one: str, other: str) -> float:
    """Which part of the words that matter stands in both, from 0 to 1."""
    first, second = set(words_of(one)) - _FUNCTIONAL, set(words_of(other)) - _FUNCTIONAL
    return len(first & second) / max(1, len(first | second))

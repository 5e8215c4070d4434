"""Compare a new statement with an existing one: same, replaces, contradicts or different.

Both are parsed and their claims compared: subject, predicate, arguments, figures, names, dates, polarity and tense.
What the grammar does not decide is "different"; a model may know better.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from language.base import Comparison
from language.brief_caches import cached_briefly

from .claims import Argument, Claim, claims_of
from .content import Content
from .cues import ChangeCues
from .kinds import is_health
from .openings import beginnings, openings
from .pairs import ClaimPair
from .parse import MOST_KEPT, Parsed, parse, parse_each
from .stems import LIGHT, stem_of, words_of
from .words import listed

_FUNCTIONAL = (LIGHT - {"user"}) | listed(
    """is was are were been being am has had does did will would that his her their its he she they it who when very
        really so quite always usually often also just too still ever all such much lot only used"""
)
_STATE_PREFIXES = listed("live unem jobl preg enga sing hosp")
_CHANGE_PREFIXES = listed("move relo work job birt born have marr back home enga")
"""Prefixes of words for states and for what ends them in other words: "lives in Turin", "moved to Genoa"."""
_DENIAL = re.compile(r"n['’]t\b|\b(?:not|never)\b", re.IGNORECASE)
_ANY_MORE = re.compile(r"\bany (?:more|longer)\b", re.IGNORECASE)
_NO_LONGER = re.compile(r"\b(is|are|am|was|were) no longer ([^,.;]+)", re.IGNORECASE)
"""The parser attaches "no longer" to a following participle: "is no longer engaged to Felix"."""
_NO_LONGER_DOES = re.compile(r"\bno longer (\w+s\b[^,.;]*)", re.IGNORECASE)
"""The parser takes some verbs after "no longer" for nouns: "no longer skis in Davos"."""
_AFTER_ALL = re.compile(r" after all\b", re.IGNORECASE)
_MAY_DENY = re.compile(
    r"n['’]t\b|not\b|\b(?:dislik|never|no|longer|any ?more|stop|quit|ceas|g[ai]v\w* up|finish)", re.IGNORECASE
)
_WORDS = re.compile(r"\w+")
_LEFT = re.compile(r"(?<=\bha)(s|ve) ([^.]{1,40}) left(?=\.?$)")
_DISLIKES = re.compile(r"\bdislikes\b")
_BUT_NOT = re.compile(r",? (?:and |but )?not (?!only\b|just\b|any)([^,.;]+)(?=[,.;]|$)", re.IGNORECASE)

_RELATIVE = re.compile(r"The user's (?:[a-z]+ )?(?P<kin>[a-z-]+) (?=[A-Z])")
"""The beginning of a statement about somebody of the user's who is named."""


class Saying:
    """A third person statement under comparison. It is parsed at most once, on demand.

    ``said`` is its source message, with cues for negation ("not Rex") and correction. Comparisons are cached, so what
    was compared before a lock is taken costs nothing under it.
    """

    def __init__(self, content: str, said: str = "") -> None:
        self.content, self.said = content, said
        self._verdicts: dict[str, Comparison] = {}

    def to(self, existing: str | Saying) -> Comparison:
        """Compare with an existing statement, see ``compare``."""
        other = existing if isinstance(existing, Saying) else stored_saying(existing)
        if other.content not in self._verdicts:
            found = _compared(other, self)
            if found == "different" and self._by_name is not None and _compared(other, self._by_name) == "replaces":
                found = "replaces"
            self._verdicts[other.content] = found
        return self._verdicts[other.content]

    @cached_property
    def _by_name(self) -> Saying | None:
        """The same of a relative whom the message calls by name alone: "Lena lives in Madrid", the user's sister."""
        found = _RELATIVE.match(self.content)
        if not self.said or found is None or found["kin"] in self.said.lower():
            return None
        return Saying(self.content[found.end() :], self.said)

    @cached_property
    def features(self) -> Content:
        """The features of its words and grammar, computed on demand."""
        return Content(self.content)

    @cached_property
    def cues(self) -> ChangeCues:
        """What it says as a new statement of an existing one."""
        return ChangeCues(self.content, self.said)

    @cached_property
    def is_health(self) -> bool:
        """Whether it is about somebody's health."""
        return is_health(self.content)

    @cached_property
    def matters(self) -> frozenset[str]:
        """What it is about beside the user (``matters_of``)."""
        return matters_of(self.content)

    @cached_property
    def words(self) -> list[str]:
        """The stems of its words."""
        return words_of(self.content)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The first four letters of its content words."""
        return frozenset(word[:4] for word in self.words if word not in LIGHT)

    @cached_property
    def openings(self) -> frozenset[str] | None:
        """The beginnings of what its clauses may be about (``openings``)."""
        return openings(self.content)

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The beginnings of all its words (``beginnings``)."""
        return beginnings(self.words)

    @cached_property
    def claims(self) -> tuple[Claim, ...] | None:
        """Its claims; None if it can't be parsed."""
        return claims_of(self._parsed) if self._parsed is not None else None

    @property
    def only_denies(self) -> bool:
        """Whether all its claims are negated or ended."""
        claims = self.claims if _MAY_DENY.search(self.content) else ()
        return bool(claims) and all(claim.negated or claim.ended for claim in claims or ())

    @cached_property
    def names(self) -> frozenset[str]:
        """Its proper names, in lower case."""
        words = self._parsed.words if self._parsed is not None else ()
        named = [word for word in words if word.tag in {"NNP", "NNPS"} or (word.index and word.text.istitle())]
        return frozenset(form for word in named for form in (word.low, stem_of(word)))

    @cached_property
    def _parsed(self) -> Parsed | None:
        return parse(self._plain, names=False)

    @property
    def _plain(self) -> str:
        """The text to parse, with phrases replaced that the parser misreads."""
        plain = _LEFT.sub(r"\1 \2", _AFTER_ALL.sub("", _ANY_MORE.sub("anymore", self.content)))
        plain = _NO_LONGER.sub(r"\1 not \2 anymore", plain)
        plain = _NO_LONGER_DOES.sub(r"\1 anymore", plain)
        plain = _DISLIKES.sub("does not like", plain)  # The parser takes it for a noun.
        return _BUT_NOT.sub("", plain) if "," in plain else plain

    def needs_parse_with(self, other: Saying) -> bool:
        """Whether comparing the two needs a parse that is still missing."""
        read = "_parsed" in vars(self) and "_parsed" in vars(other)
        return not read and self.may_concern(other) and self.words != other.words

    def may_concern(self, other: Saying) -> bool:
        """Whether they share a word, or one may end the other, and may have one subject. Only then are they parsed."""
        if self.is_of_another(other):
            return False
        if self.prefixes or other.prefixes:
            shared = self.prefixes & other.prefixes
            return bool(shared) or not (
                _STATE_PREFIXES.isdisjoint(other.prefixes) or _CHANGE_PREFIXES.isdisjoint(self.prefixes)
            )
        return bool(self.content.strip()) and self.content == other.content

    def is_of_another(self, existing: Saying) -> bool:
        """Whether no subject of the two can be the same, and it is not news, such as of who holds a position now."""
        if self.cues.is_news or "new" in self.words:
            return False
        pairs = (self.openings, existing.beginnings), (existing.openings, self.beginnings)
        return any(subjects is not None and subjects.isdisjoint(words) for subjects, words in pairs)


@cached_briefly(maxsize=MOST_KEPT)
def stored_saying(content: str) -> Saying:
    """Return an existing statement, kept briefly with its parse: one after another is compared with the same ones."""
    return Saying(content)


def parse_pairs(pairs: Iterable[tuple[Saying, Saying]]) -> None:
    """Parse in one batch what comparing these pairs (new, existing) needs."""
    needed = {id(each): each for new, old in pairs if new.needs_parse_with(old) for each in (old, new)}
    waiting = [each for each in needed.values() if "_parsed" not in vars(each)]
    for each, parsed in zip(waiting, parse_each([each._plain for each in waiting], names=False), strict=True):
        vars(each)["_parsed"] = parsed


def compare(existing: str | Saying, new: str | Saying) -> Comparison:
    """Compare a new statement with an existing one, both in the third person.

    "same": equal claims. "replaces": the existing one held until now, or was wrong. "contradicts": both can't be true,
    with no sign of a change. Otherwise "different", also if one can't be parsed.
    """
    return (new if isinstance(new, Saying) else Saying(new)).to(existing)


def _compared(old: Saying, new: Saying) -> Comparison:
    if not new.may_concern(old):
        return "different"
    if old.words == new.words:
        return "same"
    if old.claims is None or new.claims is None:
        return "different"
    # Claims don't represent these: "or", and passive gerunds ("hates being interrupted").
    telling = [[word for word in each.words if word in {"or", "being"}] for each in (old, new)]
    if telling[0] == telling[1] and Counter(map(Claim.key, old.claims)) == Counter(map(Claim.key, new.claims)):
        return "same"
    cues, names = new.cues.of(old.content), old.names | new.names
    pairs = [(one, late) for one in old.claims for late in new.claims]
    # "Is allergic to nuts", "is vegetarian" and "is a cook now" are compatible.
    if old.is_health != new.is_health or ("allergic" in old.words) != ("allergic" in new.words):
        pairs = [pair for pair in pairs if {claim.verbs for claim in pair} != {("be",)}]
    found = {ClaimPair(*_of_job(*pair), cues, names).compare() for pair in pairs}
    return "replaces" if "replaces" in found else "contradicts" if "contradicts" in found else "different"


def _of_job(old: Claim, new: Claim) -> tuple[Claim, Claim]:
    """Two claims with "works as" rewritten to "is" where the other one uses "is"."""
    working = [
        each for each in (old, new) if each.verbs == ("work",) and any(role == "as" for role, _ in each.arguments)
    ]
    if len(working) != 1 or {old.verbs, new.verbs} != {("work",), ("be",)}:
        return old, new
    one, other = (replace(each, verbs=("be",), arguments=_as_to_is(each)) for each in (old, new))
    return one, other


def _as_to_is(claim: Claim) -> frozenset[Argument]:
    return frozenset(("is" if role == "as" else role, thing) for role, thing in claim.arguments)


def contains_words_of(one: str, other: str) -> bool:
    """Whether a text contains all content words of another."""
    words = content_words(other)
    return bool(words) and words <= set(words_of(one))


def content_words(text: str) -> frozenset[str]:
    """The normal forms of a text's words that tell something, "user" among them."""
    return frozenset(words_of(text)) - _FUNCTIONAL


def matters_of(text: str, name: str = "") -> frozenset[str]:
    """The content words of a text without those for the user, who may be called by ``name``."""
    who = {"user", "you", "your", *name.casefold().split()}
    return content_words(" ".join(each for each in _WORDS.findall(text.casefold()) if each not in who))


def shared_words(one: str, other: str) -> float:
    """The Jaccard index of the content words, from 0 to 1."""
    first, second = content_words(one), content_words(other)
    return len(first & second) / max(1, len(first | second))


def denies_in_words(content: str, memory: str) -> bool:
    """Whether a statement denies a memory in its own words: "never played the harp", of "plays the harp"."""
    if not _DENIAL.search(content) or _DENIAL.search(memory):
        return False
    both = parse(content, names=False), parse(memory, names=False)
    told, known = ({stem_of(word) for word in each.words if word.pos != "PUNCT"} for each in both if each is not None)
    return told - LIGHT - {"not", "never"} == known - LIGHT

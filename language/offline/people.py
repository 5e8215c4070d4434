"""Who a sentence is about: the user, the memorialised person, somebody else, or nobody that can be told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from language.offline.lexicon.words import (
    FAMILY,
    FEMALE_NAMES,
    FIRST_NAMES,
    HE,
    KIN,
    KIN_GENDER,
    MALE_NAMES,
    NAMING_KIN,
    NOT_NAMES,
    SHE,
    TITLES,
    listed,
)
from language.offline.tokens import Token

Role = Literal["user", "legacy", "other"]

_KIN_ADJECTIVES = listed(
    """late dear dearest own old older elder eldest oldest younger youngest big little beloved sweet poor darling
    maternal paternal wonderful amazing lovely only best first second eldest middle step ex new former current good
    close closest childhood great other""",
)
_FORMAL_KIN = listed("mother father grandmother grandfather aunt uncle auntie aunty")
_MEMORIALISED = FAMILY | {"friend", "mentor"}
_NAME_PARTICLES = listed("de da do dos das di del van von der la le el bin al")
_REPORTING = listed(
    "said says say told tells tell thinks thought mentioned asked asks wrote writes called calls claims"
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody a sentence mentions. ``owner`` is whose ``kin`` the person is; ``gender`` is f, m or ?."""

    role: Role
    gender: str = "?"
    given: str = ""
    kin: str = ""
    owner: Person | None = None

    def called(self, user: str, legacy: str) -> str:
        """Return how the third person names this person, given how it names the user and the legacy."""
        if self.role == "user":
            return user
        if self.role == "legacy":
            return legacy
        if self.owner is None:
            return self.given
        return f"{self.owner.called(user, legacy)}'s {self.kin} {self.given}".strip()

    @property
    def subject(self) -> str:
        """The name, or the kinship word when there is none."""
        return self.given or self.kin


USER = Person("user")


@dataclass(frozen=True, slots=True)
class Mention:
    """A person named by ``tokens[start:end]``; ``owner`` is true for a possessive such as "Dad's"."""

    person: Person
    start: int
    end: int
    owner: bool


def name_gender(name: str) -> str:
    """Return f or m for a given name that is known as one, else ?."""
    low = name.lower()
    if low in FEMALE_NAMES:
        return "?" if low in MALE_NAMES else "f"
    return "m" if low in MALE_NAMES else "?"


@dataclass(slots=True)
class Cast:
    """The people of one conversation: who the legacy is and by which words the user means them."""

    legacy: Person | None = None
    legacy_name: str = ""
    names: frozenset[str] = frozenset()
    full_name: frozenset[str] = frozenset()
    groups: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(
        cls, legacy_name: str | None, sentences: Sequence[Sequence[Token]], replies: Sequence[Sequence[Token]] = ()
    ) -> Cast:
        """Learn the cast from the user's own sentences, what the other side asked, and the legacy's name if any."""
        cast = cls()
        if legacy_name and legacy_name.strip():
            cast._set_legacy(legacy_name.strip())
        cast._learn(sentences, replies)
        return cast

    def _set_legacy(self, name: str) -> None:
        words = re.findall(r"[^\W\d_][\w'’-]*", name)
        own = [word for word in words if word.lower() not in KIN and word.lower() not in TITLES]
        kin = [KIN[word.lower()] for word in words if word.lower() in KIN]
        self.groups.update(kin[:1])
        own = [word for word in own if word.lower() not in _NAME_PARTICLES] or own
        titled = len(own) == 1 and len(words) == 2 and words[0].lower() in TITLES and not kin
        self.legacy_name = name if titled or not own else own[0]
        self.names = frozenset(word.lower() for word in own[:1])
        self.full_name = frozenset(word.lower() for word in words)
        gender = KIN_GENDER[kin[0]] if kin else "?"
        if gender == "?" and own:
            gender = name_gender(own[0])
        self.legacy = Person("legacy", gender, self.legacy_name)

    def _learn(self, sentences: Sequence[Sequence[Token]], replies: Sequence[Sequence[Token]]) -> None:
        evidence = _Evidence()
        for tokens in sentences:
            evidence.take(tokens, self.names)
        for tokens in replies:
            evidence.spoken_of.update(
                KIN[token.low]
                for position, token in enumerate(tokens)
                if token.low in KIN and position and tokens[position - 1].low == "your"
            )
        self.known |= evidence.given
        if self.legacy is None:
            return
        if not self.names and len(evidence.given) == 1 and evidence.elsewhere <= self.groups:
            # The legacy is called by a word of kin alone, and this is the only name that goes with such a word.
            self.names = self.full_name = frozenset(evidence.given)
            evidence.elsewhere.clear()
        self.groups |= evidence.bound - evidence.elsewhere
        if not self.groups and not evidence.named:
            self.groups |= self._consistent(evidence)
        self._settle_gender(evidence.pronouns)

    def _consistent(self, evidence: _Evidence) -> set[str]:
        """The one member of the family of whom the talk is, twice as often as of all others together."""
        for group, count in evidence.spoken_of.most_common(1):
            others = evidence.spoken_of.total() - count + evidence.spoken_of_named
            if group in _MEMORIALISED and count >= 2 * others and self._fits(KIN_GENDER[group], evidence.pronouns):
                return {group}
        return set()

    def _fits(self, gender: str, pronouns: Counter[str]) -> bool:
        assert self.legacy is not None
        if self.legacy.gender != "?":
            return gender in (self.legacy.gender, "?")
        other = {"f": "m", "m": "f"}.get(gender)
        return other is None or pronouns[gender] >= pronouns[other]

    def _settle_gender(self, pronouns: Counter[str]) -> None:
        assert self.legacy is not None
        if self.legacy.gender == "?":
            genders = {KIN_GENDER[group] for group in self.groups} - {"?"}
            if not genders and len(pronouns) == 1:
                genders = set(pronouns)
            if len(genders) == 1:
                self.legacy = Person("legacy", genders.pop(), self.legacy_name)

    # -- reading ----------------------------------------------------------------------------------------------------

    def mention_at(self, tokens: Sequence[Token], start: int, *, my: str = "my") -> Mention | None:
        """Read the person named at ``start``, or return None. ``my`` is the word that marks the user's own kin."""
        token = tokens[start]
        if token.low in (my, "our") and not token.owner:
            return self._kin_after(tokens, start, start + 1, USER)
        if token.low in TITLES and token.capital:
            return self._titled(tokens, start)
        previous = tokens[start - 1].low if start else ""
        if token.low in NAMING_KIN and previous not in {"a", "an", "the", "his", "her", "their", "your", "my", "our"}:
            return self._naming_kin(tokens, start)
        if token.capital and (token.low in FIRST_NAMES or token.low in self.names or token.low in self.known):
            return self._named(tokens, start)
        return None

    def mentions(self, tokens: Sequence[Token], *, my: str = "my") -> list[Mention]:
        """List the people named anywhere in a sentence, in order."""
        found: list[Mention] = []
        position = 0
        while position < len(tokens):
            mention = self.mention_at(tokens, position, my=my)
            if mention is None:
                position += 1
            else:
                found.append(mention)
                position = mention.end
        return found

    def kin_of(self, tokens: Sequence[Token], start: int, owner: Person) -> Mention | None:
        """Read "her brother João" or "Rosa's brother", whose owner ends before ``start``; None if it is not kin."""
        return self._kin_after(tokens, start - 1, start, owner)

    def _kin_after(self, tokens: Sequence[Token], start: int, position: int, whose: Person) -> Mention | None:
        while position < len(tokens) and tokens[position].low in _KIN_ADJECTIVES:
            position += 1
        if position >= len(tokens) or tokens[position].low not in KIN:
            return None
        head = tokens[position]
        # The words between the possessive and the name of kin say which one is meant: "my older sister".
        words = " ".join(token.low for token in tokens[start + 1 : position + 1])
        group = KIN[head.low]
        if head.owner:
            return self._as_mention(
                Person("other", KIN_GENDER[group], "", words, whose), start, position + 1, True, group
            )
        given, end, owner = _given_after(tokens, position + 1)
        gender = KIN_GENDER[group] if KIN_GENDER[group] != "?" else name_gender(given.split(" ")[0])
        return self._as_mention(Person("other", gender, given, words, whose), start, end, owner, group)

    def _as_mention(self, person: Person, start: int, end: int, owner: bool, group: str) -> Mention:
        if self.legacy is not None and person.owner == USER:
            first = person.given.split(" ")[0].lower()
            another = {"other", "step", "ex"} & set(person.kin.split(" "))
            if first in self.names or (group in self.groups and not first and not another):
                person = self.legacy
        return Mention(person, start, end, owner)

    def _naming_kin(self, tokens: Sequence[Token], start: int) -> Mention | None:
        head = tokens[start]
        group = KIN[head.low]
        given, end, owner = ("", start + 1, True) if head.owner else _given_after(tokens, start + 1, apposition=False)
        if not given and head.low in _FORMAL_KIN and not (head.capital and start == 0):
            return None
        if not given and group in {"aunt", "uncle"}:
            return None
        return self._as_mention(Person("other", KIN_GENDER[group], given, head.low, USER), start, end, owner, group)

    def _titled(self, tokens: Sequence[Token], start: int) -> Mention | None:
        position = start + 1
        if position < len(tokens) and tokens[position].low == ".":
            position += 1
        if position >= len(tokens) or not _is_name(tokens[position]):
            return None
        end, owner = _name_end(tokens, position)
        written = [tokens[start].text + ("." if position == start + 2 else "")]
        written += [_without_ending(token) for token in tokens[position:end]]
        title = tokens[start].low
        gender = "m" if title in {"mr", "sir", "father"} else "f" if title in {"mrs", "ms", "miss", "lady"} else "?"
        person = Person("other", gender, " ".join(written))
        bare = {token.low for token in tokens[position:end]}
        named = bool(bare & self.names) and bare <= self.full_name
        if self.legacy is not None and (named or person.given.lower() == self.legacy_name.lower()):
            person = self.legacy
        return Mention(person, start, end, owner)

    def _named(self, tokens: Sequence[Token], start: int) -> Mention | None:
        end, owner = _name_end(tokens, start)
        words = [_without_ending(token) for token in tokens[start:end]]
        own = words[0].lower() in self.names and all(word.lower() in self.full_name for word in words)
        if self.legacy is not None and own:
            return Mention(self.legacy, start, end if owner else _after_apposition(tokens, end), owner)
        return Mention(Person("other", name_gender(words[0]), " ".join(words)), start, end, owner)


@dataclass(slots=True)
class _Evidence:
    """What the user's sentences show about kin: whose names go with which words, and who is spoken of."""

    bound: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    spoken_of: Counter[str] = field(default_factory=Counter)
    spoken_of_named: int = 0
    pronouns: Counter[str] = field(default_factory=Counter)
    named: bool = False

    def take(self, tokens: Sequence[Token], names: frozenset[str]) -> None:
        """Take in one sentence of the user; ``names`` are those of the legacy."""
        for position, token in enumerate(tokens):
            if token.low in SHE or token.low in HE:
                self.pronouns["f" if token.low in SHE else "m"] += 1
            self.named = self.named or (token.low in names and token.capital)
            group = KIN.get(token.low)
            if group is None:
                continue
            given = _name_beside(tokens, position)
            if given and given.lower() in names:
                self.bound.add(group)
            elif given:
                self.elsewhere.add(group)
                self.given.add(given.lower())
                self.spoken_of_named += 1
            elif _is_own_kin(tokens, position) and not _is_beside_the_point(tokens, position):
                self.spoken_of[group] += 1


def _without_ending(token: Token) -> str:
    return token.text[: len(token.low)] if token.owner else token.text


def _is_name(token: Token) -> bool:
    return token.capital and token.low not in NOT_NAMES and token.low not in KIN and token.low.isalpha()


def _name_end(tokens: Sequence[Token], start: int) -> tuple[int, bool]:
    end = start + 1
    while not tokens[end - 1].owner and end < len(tokens) and end - start < 4 and tokens[end].spaced:
        if _is_name(tokens[end]):
            end += 1
        elif tokens[end].low in _NAME_PARTICLES and end + 1 < len(tokens) and _is_name(tokens[end + 1]):
            end += 2
        else:
            break
    return end, tokens[end - 1].owner


def _given_after(tokens: Sequence[Token], position: int, *, apposition: bool = True) -> tuple[str, int, bool]:
    """Read a given name at ``position``, bare or between commas: the name, where it ends, whether it is an owner."""
    if position < len(tokens) and _is_name(tokens[position]):
        end, owner = _name_end(tokens, position)
        return " ".join(_without_ending(token) for token in tokens[position:end]), end, owner
    if apposition and position + 1 < len(tokens) and tokens[position].low == "," and _is_name(tokens[position + 1]):
        end, owner = _name_end(tokens, position + 1)
        if end == len(tokens) or not tokens[end].is_word:
            return " ".join(token.text for token in tokens[position + 1 : end]), min(end + 1, len(tokens)), owner
    return "", position, False


def _after_apposition(tokens: Sequence[Token], position: int) -> int:
    """Return where ", my grandfather," ends if it stands at ``position``, else ``position``."""
    ahead = [token.low for token in tokens[position : position + 6]]
    if ahead[:2] not in ([",", "my"], [",", "our"]) or "," not in ahead[2:]:
        return position
    end = ahead.index(",", 2)
    return position + end + 1 if ahead[end - 1] in KIN else position


def _is_own_kin(tokens: Sequence[Token], position: int) -> bool:
    previous = position - 1
    while previous >= 0 and tokens[previous].low in _KIN_ADJECTIVES:
        previous -= 1
    if previous >= 0 and tokens[previous].low in {"my", "our"}:
        return True
    return tokens[position].low in NAMING_KIN - _FORMAL_KIN and (
        previous < 0 or tokens[previous].low not in {"a", "an", "the", "his", "her", "their", "your", "of"}
    )


def _is_beside_the_point(tokens: Sequence[Token], position: int) -> bool:
    """Whether kin is named only as who tells it, or as what they are to the one who is spoken of."""
    ahead = [token.low for token in tokens[position + 1 : position + 6]]
    if not ahead:
        return False
    if tokens[position].owner:
        return ahead[0] in KIN
    return ahead[0] in _REPORTING or (
        ahead[0] in {"is", "was"} and ahead[1:2] in (["her"], ["his"]) and any(word in KIN for word in ahead[2:])
    )


def _name_beside(tokens: Sequence[Token], position: int) -> str:  # noqa: PLR0911
    """Return the name that a sentence gives to the kin at ``position``: "my grandmother Rosa", "Rosa, my grandma"."""
    given, _, _ = _given_after(tokens, position + 1)
    if given:
        return given.split(" ")[0]
    if not _is_own_kin(tokens, position):
        return ""
    ahead = [token.low for token in tokens[position + 1 : position + 4]]
    rest = tokens[position + 1 :]
    if tokens[position].owner and ahead[:1] == ["name"] and len(rest) > 2 and _is_name(rest[2]):
        return rest[2].text
    if ahead[:1] in (["is"], ["was"]) and len(rest) > 1 and _is_name(rest[1]):
        return rest[1].text
    if ahead[:2] in (["is", "called"], ["was", "called"], ["is", "named"], ["was", "named"]) and len(rest) > 2:
        return rest[2].text if _is_name(rest[2]) else ""
    before = position - 1
    while before >= 0 and tokens[before].low in _KIN_ADJECTIVES | {"my", "our"}:
        before -= 1
    if before >= 1 and tokens[before].low in {",", "is", "was"} and _is_name(tokens[before - 1]):
        return tokens[before - 1].text
    return ""

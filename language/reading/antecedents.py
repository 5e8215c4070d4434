"""Who "he" and "she" refer to: the latest person who fits, or nobody if another could be meant."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from language.reading.persons import Person

_PRESENT = re.compile(r"(?:is|'s|has|does|[a-z]+(?<!s)s)\Z")
_PAST = re.compile(r"(?:was|had|'d|did|could|would|used|never|[a-z]+ed|died|went|made|kept|taught|said|loved)\Z")
_LEAST_OF_PAST = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """Somebody mentioned in clause number ``clause``; ``person`` is None if nobody knows who it is.

    ``gender`` is that of the person, "" if unknown. ``is_subject``: of its clause. ``is_certain``: by a pronoun that
    was resolved, or the only one whom the assistant asked about. ``is_weak``: a common noun, which "he" rarely means.
    """

    person: Person | None
    gender: str
    clause: int
    is_subject: bool = False
    is_certain: bool = False
    is_weak: bool = False

    def fits(self, gender: str) -> bool:
        """Whether a pronoun of this gender can refer to them."""
        known = self.person.gender if self.person is not None else self.gender
        return known in {"", gender}


@dataclass(slots=True)
class Trail:
    """The people mentioned in the last message and in this one, in order. The legacy can always be meant."""

    legacy: Person | None
    mentions: list[Mention] = field(default_factory=list)
    clause: int = 0
    begin: int = 0
    """Where the mentions of this message begin, those of the assistant's question before it included."""

    def next_message(self, *, answered: bool) -> None:
        """Begin a message. ``answered``: the assistant has spoken in between."""
        self.mentions = [each for each in self.mentions[self.begin :] if each.person is not None]
        self.begin = len(self.mentions)
        self.clause += 1 + answered

    def mention(self, person: Person | None, gender: str = "", **how: bool) -> None:
        """Add a mention in the present clause."""
        self.mentions.append(Mention(person, person.gender if person is not None else gender, self.clause, **how))

    def forget_certainty(self) -> None:
        """Let nobody but the legacy be meant without a new mention: the assistant spoke of something else."""
        self.mentions = [replace(each, is_certain=False) for each in self.mentions]

    def antecedent(self, gender: str, barred: Collection[int] | None = None) -> Person | None:
        """Whom a pronoun refers to; None if it is not certain. ``barred``: the ids of the subjects of an object's verb.

        Of two who fit, the one mentioned last is meant only if it is the legacy, if a pronoun already means them, or if
        they are the subject of this clause or the one before. If that subject is the legacy, it is they.
        """
        base = [Mention(self.legacy, "", -1)] if self.legacy is not None else []
        fitting = [
            each
            for each in reversed(base + self.mentions)
            if each.fits(gender)
            and (barred is None or not (id(each.person) in barred or self._is_strange_subject(each)))
        ]
        named = [each for each in fitting if not each.is_weak]
        if not named or named[0].person is None:
            return None
        latest = named[0]
        if latest.person is self.legacy:
            return latest.person
        near = [each for each in self.mentions if self.clause - each.clause <= 1 and each.is_subject]
        by_syntax = any(_is_same(each.person, latest.person) for each in near)
        later = fitting[: fitting.index(latest)]
        alone = all(_is_same(each.person, latest.person) for each in (*later, *named))
        if alone or (latest.is_certain and not later) or by_syntax:
            return latest.person
        before = [each for each in near if each.clause < self.clause]
        is_same = self.legacy is not None and self.legacy.gender == gender and barred is None
        return self.legacy if before and before[-1].person is self.legacy and is_same else None

    def _is_strange_subject(self, mention: Mention) -> bool:
        return mention.person is None and mention.is_subject and mention.clause == self.clause

    def is_alone_since(self, subject: Person, gender: str) -> bool:
        """Whether nobody else who fits was mentioned after this person, the subject of the clause."""
        place = max(at for at, each in enumerate(self.mentions) if each.person is subject and each.is_subject)
        return all(each.person is subject or each.is_weak or not each.fits(gender) for each in self.mentions[place:])

    def asked_about(self, gender: str) -> Person | None:
        """Whom the assistant's pronoun refers to: the legacy, unless the last message was about somebody else."""
        legacy = self.legacy if self.legacy is not None and self.legacy.fits(gender) else None
        said = [each for each in self.mentions[: self.begin] if each.fits(gender) and not each.is_weak]
        if legacy is None:
            return self.antecedent(gender)
        told = {id(each.person) for each in said if each.is_subject}
        is_about = said and (said[-1].is_certain or said[-1].is_subject) and id(legacy) not in told
        return said[-1].person if is_about else legacy


def _is_same(one: Person | None, other: Person | None) -> bool:
    """Whether two are one person, who may have been met twice: "my husband", "Tomek"."""
    return one is other or (one is not None and other is not None and one.name == other.name != "")


def speaks_of_past(names: Collection[str], pronoun: str, text: str) -> bool:
    """Whether a text mostly tells in the past of somebody with these names (in lower case) or this pronoun."""
    said = re.findall(rf"(?i)\b(?:{'|'.join(map(re.escape, (*names, pronoun)))})\b ?('?\w+)", text)
    past = [each for each in said if _PAST.match(each.lower())]
    present = [each for each in said if each not in past and _PRESENT.match(each.lower())]
    return len(past) >= _LEAST_OF_PAST and len(past) > 2 * len(present)

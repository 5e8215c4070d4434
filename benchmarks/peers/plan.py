"""The synthetic data: people, their memories and the questions, the same for all systems in every run.

Everything is derived from the numbers of people and memories, so two processes agree without exchanging texts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

SIZES = (10, 100, 1_000, 10_000)
"""The numbers of memories of the people who ask."""

PEOPLE = 1_000
MEMORIES = 200_000
SMALLEST = 2_000
_WRITERS = {10: 12, 100: 12, 1_000: 4, 10_000: 2}
_OWN_SHARE = 20  # No measured person holds more than 1/20 of the database.
_EACH = 200
_PART = 25_000
_LEAST_PARTS = 2

_SYLLABLES = ("ba", "do", "fi", "gu", "ke", "la", "mo", "ni", "pu", "ra", "se", "ti", "vo", "wy", "xa", "zu")
_VERBS = ("repairs", "collects", "paints", "studies", "sells", "fears", "counts", "designs", "borrows", "describes")
_KINDS = ("old", "small", "foreign", "wooden", "famous", "broken", "green", "quiet", "heavy", "rare", "local", "cheap")
_THINGS = (
    *("violins", "maps", "mushrooms", "engines", "poems", "clocks", "kites", "ferns", "boats", "lamps", "bridges"),
    *("letters", "bicycles", "trains", "gardens", "kitchens", "novels", "pianos", "shells", "coins", "radios"),
    *("carpets", "orchids", "puppets", "telescopes", "windows", "ladders", "baskets", "mirrors", "statues"),
)
_WHEN = ("on Mondays", "on rainy days", "in winter", "before breakfast", "at weekends", "in the holidays", "after work")
_CATEGORIES = ("profile", "person", "preference", "context", "project", "goals")


@dataclass(frozen=True, slots=True)
class Person:
    """A person with ``memories`` memories, numbered from ``first`` on."""

    number: int
    memories: int
    first: int

    @property
    def name(self) -> str:
        """The name in all systems."""
        return f"person-{self.number:05d}"

    def owns(self, memory_id: str) -> bool:
        """Whether an id belongs to one of the person's initial memories."""
        return memory_id.isdecimal() and self.first <= int(memory_id) < self.first + self.memories


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory. ``number`` is its number in the database, from 0."""

    number: int
    category: str
    content: str

    @property
    def id(self) -> str:
        """The id: eight digits, which every system accepts or can convert."""
        return f"{self.number:08d}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the id of the memory that answers it."""

    text: str
    answer: str


class Plan:
    """The plan of a database with ``memories`` memories; ``sizes`` of people who ask, the smallest first."""

    def __init__(self, memories: int = MEMORIES) -> None:
        """Raises ValueError for fewer than ``SMALLEST`` memories."""
        if memories < SMALLEST:
            raise ValueError(f"A database of {memories} memories says nothing; take {SMALLEST} or more.")
        self.memories = memories
        self.people_wanted = min(PEOPLE, memories // _EACH * 2)
        self.sizes = tuple(size for size in SIZES if size * _OWN_SHARE <= memories)

    @cached_property
    def people(self) -> list[Person]:
        """All people: those who ask, those who write, and the others, who share the remaining memories evenly."""
        counts = [size for size in self.sizes for _ in range(1 + _WRITERS[size])]
        others = max(self.people_wanted - len(counts), 1)
        left = self.memories - sum(counts)
        counts += [left // others + (1 if place < left % others else 0) for place in range(others)]
        people, first = [], 0
        for number, count in enumerate(counts):
            people.append(Person(number, count, first))
            first += count
        return people

    def asker(self, size: int) -> Person:
        """Return the person who asks with ``size`` memories; nothing is added to theirs."""
        return self._measured(size)[0]

    def writers(self, size: int) -> Sequence[Person]:
        """Return the people with ``size`` memories to which new ones are added."""
        return self._measured(size)[1:]

    def _measured(self, size: int) -> Sequence[Person]:
        before = sum(1 + _WRITERS[other] for other in self.sizes[: self.sizes.index(size)])
        return self.people[before : before + 1 + _WRITERS[size]]

    def memories_of(self, person: Person) -> Iterator[Memory]:
        """Yield a person's memories, all different."""
        chance = random.Random(f"memories of {person.number}")
        seen: set[str] = set()
        for number in range(person.first, person.first + person.memories):
            while (content := _statement(chance)) in seen:
                pass
            seen.add(content)
            yield Memory(number, chance.choice(_CATEGORIES), content)

    def all_memories(self) -> Iterator[tuple[Person, Memory]]:
        """Yield every memory with its person, by number."""
        for person in self.people:
            for memory in self.memories_of(person):
                yield person, memory

    def parts(self) -> list[list[Person]]:
        """Return all people in groups of about equal numbers of memories, which are filled in parallel."""
        count = max(_LEAST_PARTS, self.memories // _PART)
        return [self.people[start::count] for start in range(count)]

    def written(self, people: Sequence[Person]) -> list[tuple[Person, Memory]]:
        """Return the memories of some people in an interleaved order, as they accumulate over time.

        A table with each person's rows in one place would be read faster than one that has grown.
        """
        every = [
            ((place + 0.5) / person.memories, person, memory)
            for person in people
            for place, memory in enumerate(self.memories_of(person))
        ]
        every.sort(key=lambda each: each[0])
        return [(person, memory) for _, person, memory in every]

    def all_written(self) -> Iterator[tuple[Person, Memory]]:
        """Yield every memory with its person in the interleaved order."""
        for people in self.parts():
            yield from self.written(people)

    def questions(self, person: Person, count: int) -> list[Asked]:
        """Return ``count`` questions, each about one memory of the person and with its words."""
        chance = random.Random(f"questions of {person.number}")
        known = list(self.memories_of(person))
        return [_question(chance.choice(known), chance) for _ in range(count)]

    def statements(self, person: Person, count: int, *, turn: object) -> list[str]:
        """Return new statements about a person; they differ for each ``turn``."""
        chance = random.Random(f"new to {person.number} in {turn}")
        return [_statement(chance) for _ in range(count)]


def _name(chance: random.Random) -> str:
    return "".join(chance.choices(_SYLLABLES, k=3)).capitalize()


def _statement(chance: random.Random) -> str:
    who, town, friend = _name(chance), _name(chance), _name(chance)
    what = f"{chance.choice(_KINDS)} {chance.choice(_THINGS)}"
    return f"{who} from {town} {chance.choice(_VERBS)} {what} with {friend} {chance.choice(_WHEN)}."


def _question(memory: Memory, chance: random.Random) -> Asked:
    who, _, town, verb, kind, thing, _, friend, *_ = memory.content.split()
    form = chance.choice(
        (
            f"Which {thing} does {who} know from {town}?",
            f"Who {verb} {kind} {thing} with {friend}?",
            f"What do {who} and {friend} have to do with {thing}?",
        )
    )
    return Asked(form, memory.id)

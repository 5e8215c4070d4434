"""The measurement: every system does the same work in turn, and every answer is checked."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol

from . import figures
from .figures import Spread, spread
from .plan import Person, Plan
from .system import ADDING, LISTED, MANY, TOP, WORK, Replaying, System, Timed, Vectors, call

Turn = tuple[Person, tuple[Any, ...]]
"""Whom a call is about, and what it says beside that."""


class Measured(Protocol):
    """A system, here or in the other process."""

    name: str
    lacks: Any

    def note(self, work: str, *arguments: Any) -> None:
        """Whatever needs a call of its own before one: done for every system before the first of a round is timed."""

    def call(self, work: str, *arguments: Any) -> Timed:
        """Do one piece of work and time it."""

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """What memories say."""


class Local:
    """A system in this process."""

    def __init__(self, system: System) -> None:
        self.name = system.name
        self.lacks = system.lacks
        self.contents = system.contents
        self._system = system

    def note(self, work: str, *arguments: Any) -> None:
        """Nothing needs a call of its own."""

    def call(self, work: str, *arguments: Any) -> Timed:
        """Do one piece of work and time it."""
        return call(self._system, work, *arguments)


class Replayed(Local):
    """Statements that another system's call is noted for."""

    def __init__(self, system: Replaying) -> None:
        super().__init__(system)
        self.note = system.note  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Rounds:
    """How often each kind of work is done by each system, and how often before the clock counts."""

    search: int = 60
    read: int = 30
    add: int = 20
    add_many: int = 3
    warm_up: int = 8

    def of(self, work: str) -> int:
        """So many times."""
        if work in {"search", "add", "add_many"}:
            count: int = getattr(self, work)
            return count
        return self.read


@dataclass(slots=True)
class Quality:
    """How right the answers to questions were, on average: shares from 0 to 1.

    ``found`` is how often the memory that was asked about is among the answers, ``nearest`` which part of the nearest
    vectors is. ``recall`` is that of the system's own ranking: against the same one done without an approximate index.
    """

    found: float
    nearest: float
    recall: float | None = None
    foreign: int = 0


@dataclass(slots=True)
class Result:
    """All figures of a run, by size, then by kind of work, then by system.

    ``embedding_ms`` is what the embedder takes for a question, in the middle: once a round, beside the systems.
    """

    times: dict[int, dict[str, dict[str, Spread]]] = field(default_factory=dict)
    quality: dict[int, dict[str, Quality]] = field(default_factory=dict)
    lacks: dict[str, dict[str, str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    embedding_ms: float = 0.0

    def plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)


class Measuring:
    """One run over one database. ``vectors`` are those of the people who ask, by the name of the person."""

    def __init__(
        self, plan: Plan, vectors: Mapping[str, Vectors], embed: Callable[[str], Vectors], rounds: Rounds
    ) -> None:
        self.plan = plan
        self._vectors = vectors
        self._embed = embed
        self._rounds = rounds
        self._embedding: list[float] = []
        self._whole: set[tuple[Person, str]] = set()
        self.result = Result()
        self.answers: dict[int, dict[str, list[list[str]]]] = {}

    def run(
        self,
        systems: Sequence[Measured],
        say: Callable[[str], None],
        *,
        sizes: Sequence[int] = (),
        works: Sequence[str] = WORK,
    ) -> Result:
        """Measure all systems: first what reads, then what adds, so that the readers' rows stay still.

        ``sizes`` and ``works`` narrow it down; no size means all.
        """
        self.result.lacks = {system.name: dict(system.lacks) for system in systems}
        for size in sizes or self.plan.sizes:
            self.result.times[size] = {}
            for work in works:
                say(f"{size} memories: {work}")
                able = [system for system in systems if work not in system.lacks]
                self.result.times[size][work] = self._race(size, work, able)
        if self._embedding:
            self.result.embedding_ms = spread(self._embedding).median
        return self.result

    def _race(self, size: int, work: str, systems: Sequence[Measured]) -> dict[str, Spread]:
        """One kind of work, round by round, and in each round every system, in an order drawn anew.

        Whoever comes after a system that reads the same rows finds them warm: nobody always comes after the same one,
        and what is replayed is noted before the first is timed.
        """
        seconds: dict[str, list[float]] = {system.name: [] for system in systems}
        before = 1 if work == "add_many" else self._rounds.warm_up
        turns = self._turns(size, work, before + self._rounds.of(work))
        order = random.Random(f"{size} {work}")
        for number, turn in enumerate(turns):
            drawn = [(system, *turn(place)) for place, system in enumerate(systems)]
            order.shuffle(drawn)
            for system, person, said in drawn:
                system.note(work, person.name, *said)
            for system, person, said in drawn:
                timed = system.call(work, person.name, *said)
                if number >= before:
                    seconds[system.name].append(timed.seconds)
                for complaint in self._complaints(work, system, person, said, timed.answer):
                    self.result.wrong.append(f"{system.name}, {size} memories, {work}: {complaint}")
                if work == "search":
                    self.answers.setdefault(size, {}).setdefault(system.name, []).append(list(timed.answer))
            if work == "search" and number >= before:
                self._embedding.append(self._embedding_takes(turn(0)))
        if work == "search":
            self._judge(size, systems, before)
        return {name: spread(each) for name, each in seconds.items()}

    def _embedding_takes(self, turn: Turn) -> float:
        """Seconds for the question of a round."""
        _, (question,) = turn
        began = time.perf_counter()
        self._embed(question)
        return time.perf_counter() - began

    def _turns(self, size: int, work: str, count: int) -> list[Callable[[int], Turn]]:
        """For each round, whom it is about and what is said, by the system's place among them."""
        asker = self.plan.asker(size)
        if work == "search":
            questions = self.plan.questions(asker, count)
            return [partial(_same, (asker, (asked.text,))) for asked in questions]
        if work in ADDING:
            return [partial(self._new, size, work, number) for number in range(count)]
        return [partial(_same, (asker, ()))] * count

    def _new(self, size: int, work: str, number: int, place: int) -> Turn:
        """New statements for another writer each time: those who share a table each have their own in a round."""
        writers = self.plan.writers(size)
        person = writers[(number * 3 + place) % len(writers)]
        texts = self.plan.statements(person, MANY if work == "add_many" else 1, turn=(work, number, place))
        return person, (texts if work == "add_many" else texts[0],)

    # --- Whether it is right ----------------------------------------------------------------------------------

    def _complaints(
        self, work: str, system: Measured, person: Person, said: tuple[Any, ...], answer: Any
    ) -> Iterator[str]:
        """What is wrong with an answer, whatever it is that the system ranks by."""
        if work in ADDING:
            wanted = said[0] if work == "add_many" else [said[0]]
            if list(system.contents(person.name, answer)) != wanted:
                yield "what was added is not there as it was said"
        elif work in {"block", "block_again"}:
            if not self._is_whole(answer, person):
                yield "the text lacks memories"
        else:
            if others := figures.foreign(answer, person):
                yield f"{len(others)} rows are another person's"
            if work != "search" and len(set(answer)) != min(LISTED, person.memories):
                yield f"{len(set(answer))} rows instead of {min(LISTED, person.memories)}"

    def _is_whole(self, text: str, person: Person) -> bool:
        """Whether a block holds everything. A text that did before is not searched again: a long one takes a second."""
        if (person, text) not in self._whole:
            if not figures.block_holds(text, [memory.content for memory in self.plan.memories_of(person)]):
                return False
            self._whole.add((person, text))
        return True

    def _judge(self, size: int, systems: Sequence[Measured], before: int) -> None:
        """Hold the answers against what was asked about, and against the nearest vectors, looked for one by one."""
        asker = self.plan.asker(size)
        own = self._vectors[asker.name]
        asked = self.plan.questions(asker, before + self._rounds.search)
        right = [figures.nearest(own, self._embed(each.text), asker.first, TOP) for each in asked]
        wanted = min(TOP, size)
        self.result.quality[size] = {}
        for system in systems:
            answers = self.answers[size][system.name]
            self.result.quality[size][system.name] = Quality(
                found=statistics.fmean(each.answer in answer for each, answer in zip(asked, answers, strict=True)),
                nearest=statistics.fmean(
                    figures.recall(answer, ids, wanted) for ids, answer in zip(right, answers, strict=True)
                ),
                foreign=sum(len(figures.foreign(answer, asker)) for answer in answers),
            )

    def recall_against(self, size: int, name: str, exact: str) -> float:
        """Which part of one system's answers another gives too: the same ranking without an approximate index."""
        pairs = zip(self.answers[size][name], self.answers[size][exact], strict=True)
        return statistics.fmean(figures.recall(mine, set(right), len(right)) for mine, right in pairs)


def _same(turn: Turn, _place: int) -> Turn:
    """The same for the system in every place."""
    return turn

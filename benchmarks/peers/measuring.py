"""The measurement: all systems do the same work in turn, and every answer is checked."""

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
"""The arguments of a call: the person, and further ones."""


class Measured(Protocol):
    """A system, here or in the other process."""

    name: str
    lacks: Any

    def note(self, work: str, *arguments: Any) -> None:
        """Prepare a call with another call, untimed. Done for all systems before a round is timed."""

    def call(self, work: str, *arguments: Any) -> Timed:
        """Run one call and time it."""

    def contents(self, person: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the contents of memories."""


class Local:
    """A system in this process."""

    def __init__(self, system: System) -> None:
        self.name = system.name
        self.lacks = system.lacks
        self.contents = system.contents
        self._system = system

    def note(self, work: str, *arguments: Any) -> None:
        """Do nothing."""

    def call(self, work: str, *arguments: Any) -> Timed:
        """Run one call and time it."""
        return call(self._system, work, *arguments)


class Replayed(Local):
    """A system that replays the recorded statements of another system's call."""

    def __init__(self, system: Replaying) -> None:
        super().__init__(system)
        self.note = system.note  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Rounds:
    """The number of rounds and of warm-up rounds of each kind of work."""

    search: int = 60
    read: int = 30
    add: int = 20
    add_many: int = 3
    warm_up: int = 8

    def of(self, work: str) -> int:
        """Return the number of rounds of a kind of work."""
        if work in {"search", "add", "add_many"}:
            count: int = getattr(self, work)
            return count
        return self.read


@dataclass(slots=True)
class Quality:
    """The mean quality of answers to questions, from 0 to 1.

    ``found`` is the share of answers with the memory that was asked about, ``nearest`` the recall of the nearest
    vectors, ``recall`` the recall against the system's own ranking without an approximate index.
    """

    found: float
    nearest: float
    recall: float | None = None
    foreign: int = 0


@dataclass(slots=True)
class Result:
    """All figures of a run, by size, then by kind of work, then by system.

    ``embedding_ms`` is the median time of embedding a question, measured once per round.
    """

    times: dict[int, dict[str, dict[str, Spread]]] = field(default_factory=dict)
    quality: dict[int, dict[str, Quality]] = field(default_factory=dict)
    lacks: dict[str, dict[str, str]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    embedding_ms: float = 0.0

    def plain(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible values."""
        return asdict(self)


class Measuring:
    """One run over one database. ``vectors`` holds the vectors of people who ask, by name."""

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
        """Measure all systems: first reads, then writes, so that reads see unchanged rows.

        ``sizes`` and ``works`` restrict the run; no size means all.
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
        """Measure one kind of work in rounds; each round runs every system in a random order.

        A system that runs after one that reads the same rows finds them cached, so the order varies, and replayed
        statements are recorded before the first system is timed.
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
        """Return the seconds of embedding the question of a round."""
        _, (question,) = turn
        began = time.perf_counter()
        self._embed(question)
        return time.perf_counter() - began

    def _turns(self, size: int, work: str, count: int) -> list[Callable[[int], Turn]]:
        """Return for each round a function from the system's position to the call's arguments."""
        asker = self.plan.asker(size)
        if work == "search":
            questions = self.plan.questions(asker, count)
            return [partial(_same, (asker, (asked.text,))) for asked in questions]
        if work in ADDING:
            return [partial(self._new, size, work, number) for number in range(count)]
        return [partial(_same, (asker, ()))] * count

    def _new(self, size: int, work: str, number: int, place: int) -> Turn:
        """Return new statements for a writer. Systems that share a table get different writers in a round."""
        writers = self.plan.writers(size)
        person = writers[(number * 3 + place) % len(writers)]
        texts = self.plan.statements(person, MANY if work == "add_many" else 1, turn=(work, number, place))
        return person, (texts if work == "add_many" else texts[0],)

    # --- Correctness ------------------------------------------------------------------------------------------

    def _complaints(
        self, work: str, system: Measured, person: Person, said: tuple[Any, ...], answer: Any
    ) -> Iterator[str]:
        """Return errors in an answer that don't depend on the system's ranking."""
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
        """Whether a block holds all memories. Cached by text, since checking a long one takes a second."""
        if (person, text) not in self._whole:
            if not figures.block_holds(text, [memory.content for memory in self.plan.memories_of(person)]):
                return False
            self._whole.add((person, text))
        return True

    def _judge(self, size: int, systems: Sequence[Measured], before: int) -> None:
        """Compare the answers with the memory that was asked about, and with the exact nearest vectors."""
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
        """Return the recall of a system's answers against an exact system with the same ranking."""
        pairs = zip(self.answers[size][name], self.answers[size][exact], strict=True)
        return statistics.fmean(figures.recall(mine, set(right), len(right)) for mine, right in pairs)


def _same(turn: Turn, _place: int) -> Turn:
    """Return the same arguments for every position."""
    return turn

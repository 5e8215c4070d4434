"""Reads the existing memories that new statements are compared with, in one database statement for all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any
from uuid import UUID

import numpy as np
from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS
from numpy.typing import NDArray

from accounts.principals import PLACEHOLDER_AGENT, PLACEHOLDER_USER, Principal
from language.reading.compare import Saying, parse_pairs, stored_saying
from retrieval.prepared import SHAPES, PreparedStatement, VectorArray, build_statement
from retrieval.vectors import normalise_as_stored
from statements.models import Suppression
from statements.policy import fingerprints
from statements.querysets import (
    SuppressedRow,
    SuppressionMatches,
    finish_matches,
    least_similarity,
    suppressed,
)
from statements.wording import Embedded

from .models import Memory
from .policy import writing
from .policy.bands import Neighbour, Thresholds
from .querysets import statement
from .records import NewMemory

_COLUMNS = [
    column for column in Memory._meta.concrete_fields if column.name not in {"embedding", "search", "search_text"}
]
_NAMES = frozenset(column.attname for column in _COLUMNS)
_PLACES = {column.attname: place for place, column in enumerate(_COLUMNS)}
_shown = itemgetter(*map(_PLACES.__getitem__, ("id", "content", "subject", "verbatim")))
_PART = re.compile(r"^ *-- for (\w+)\n(.*?)^ *-- end\n", re.DOTALL | re.MULTILINE)
_OPTIONAL = ("subjects", "fields", "external_ids")
_NOTHING = "SELECT NULL::text WHERE false"


@dataclass(slots=True)
class Surroundings:
    """Existing memories to compare a new statement with. The principal must not learn of ``hidden`` ones.

    ``rows`` has them by id as they were read, ``memories`` those of which objects were needed (``memory``). ``taken``
    has the same client id; ``twins`` have the same words and subject; ``same_subject`` is the latest active memory of
    the category with the same subject; ``holder`` is the active memory of its single-valued field; ``against`` are the
    matching suppressions.
    """

    rows: dict[str, list[Any]] = field(default_factory=dict)
    memories: dict[str, Memory] = field(default_factory=dict)
    hidden: set[str] = field(default_factory=set)
    twins: list[Memory] = field(default_factory=list)
    neighbours: list[Neighbour] = field(default_factory=list)
    same_subject: Memory | None = None
    holder: Memory | None = None
    taken: Memory | None = None
    against: SuppressionMatches = field(default_factory=SuppressionMatches)

    def memory(self, memory_id: str) -> Memory | None:
        """Return the memory of an id, if it was read."""
        if memory_id in self.rows and memory_id not in self.memories:
            self.memories[memory_id] = Memory.from_db(DEFAULT_DB_ALIAS, _NAMES, self.rows[memory_id])
        return self.memories.get(memory_id)


@dataclass(frozen=True, slots=True)
class AllSurroundings:
    """The surroundings of several statements, in their order, as of revision ``rev`` of the person's ledger."""

    rev: int
    around: list[Surroundings]


def read_surroundings(
    principal: Principal, user_id: UUID, statements: Sequence[tuple[NewMemory, Embedded]], *, but: str = ""
) -> AllSurroundings:
    """Read the surroundings of each statement, in one database statement.

    ``but`` is a memory to exclude. Before a write, call it under the person's ledger lock, or check there that the
    revision has not changed.
    """
    rev, marks = 0, set[int]()
    around = [Surroundings() for _ in statements]
    found = _found(principal, user_id, statements, but)
    for position, role, similarity, suppression, rejected, traces, stood, seen, *row in found:
        if role == "rev":
            rev = suppression
            continue
        if position <= 0:  # It is about none of them.
            marks.add(position)
            continue
        here, (new, text) = around[position - 1], statements[position - 1]
        if role == "suppressed":
            here.against.add(user_id, text, SuppressedRow(suppression, similarity, rejected, traces, stood))
            continue
        pk, content, subject, verbatim = _shown(row)
        here.rows[pk] = row
        if not seen:
            here.hidden.add(pk)
        if role == "near":
            apart = not seen or verbatim or new.verbatim or writing.are_apart(subject, new.subject)
            here.neighbours.append(Neighbour(pk, content if seen else "", similarity, apart))
            continue
        memory = here.memory(pk)
        assert memory is not None
        if role == "holder":
            here.holder = memory
        elif role == "taken":
            here.taken = memory
        elif role == "twin" and seen and not writing.are_apart(subject, new.subject):
            here.twins.append(memory)
        elif role == "titled" and seen and writing.subject_key(subject) == writing.subject_key(new.subject):
            here.same_subject = _later(here.same_subject, memory)
    texts = [text for _, text in statements]
    finish_matches(user_id, texts, [here.against for here in around], marks)
    named = [(here, said) for here, (_, text) in zip(around, statements, strict=True) if (said := text.said_of_user)]
    for (here, _), against in zip(
        named, Suppression.objects.matches(user_id, [said for _, said in named]), strict=True
    ):
        here.against.include(against)
    for here in around:
        here.neighbours.sort(key=nearest_first)
    return AllSurroundings(rev, around)


def compare_ahead(
    principal: Principal, user_id: UUID, statements: Sequence[tuple[NewMemory, Embedded]], *, but: str = ""
) -> AllSurroundings:
    """Read the surroundings and parse and compare them before the lock, so that less is done under it.

    Each statement is also compared with those before it, which will be stored first. ``but`` is a memory to exclude.
    Parsing takes milliseconds a statement.
    """
    reading = read_surroundings(principal, user_id, statements, but=but)
    pairs = list(_pairs_among(statements))
    pairs += [
        (text.saying, stored_saying(neighbour.content))
        for (new, text), around in zip(statements, reading.around, strict=True)
        for neighbour in around.neighbours
        if neighbour.is_comparable(Thresholds.of(new.field))
    ]
    parse_pairs(pairs)
    for said, existing in pairs:
        said.to(existing)
    return reading


def _pairs_among(statements: Sequence[tuple[NewMemory, Embedded]]) -> Iterator[tuple[Saying, Saying]]:
    """Yield each new statement with the most similar ones before it that it will be compared with."""
    placed = [(new, text, normalise_as_stored(text.vector)) for new, text in statements if text.vector is not None]
    vectors = np.array([vector for *_, vector in placed])
    kinds = np.array([str(new.kind) for new, *_ in placed], dtype=object)
    for place, (new, text, vector) in enumerate(placed[1:], start=1):
        similarities, at_least = vectors[:place] @ vector, Thresholds.of(new.field).check_low
        for at in most_similar(similarities, kinds[:place] == str(new.kind)):
            other, its, _ = placed[at]
            if similarities[at] >= at_least and not are_apart(other, new):
                yield text.saying, its.saying


def most_similar(similarities: NDArray[np.floating], are_possible: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the indices of the ``MEMORY_NEIGHBOURS`` greatest similarities, the greatest first.

    Of those that ``are_possible`` and at least ``MEMORY_LINK_MIN_SIMILARITY``.
    """
    places = np.flatnonzero(are_possible & (similarities >= settings.MEMORY_LINK_MIN_SIMILARITY))
    return places[np.argsort(-similarities[places], kind="stable")][: settings.MEMORY_NEIGHBOURS]


def are_apart(memory: Memory | NewMemory, new: NewMemory) -> bool:
    """Whether a memory and a new statement are never merged: different subjects, or one is verbatim."""
    return memory.verbatim or new.verbatim or writing.are_apart(memory.subject, new.subject)


def nearest_first(neighbour: Neighbour) -> tuple[float, str]:
    """The sort key of neighbours."""
    return -neighbour.similarity, neighbour.memory_id


def _later(one: Memory | None, other: Memory) -> Memory:
    if one is None or one.updated_at < other.updated_at:
        return other
    return one if (one.updated_at, other.pk) > (other.updated_at, one.pk) else other


def _found(
    principal: Principal, user_id: UUID, statements: Sequence[tuple[NewMemory, Embedded]], but: str
) -> list[tuple[Any, ...]]:
    prints = [
        (position, value)
        for position, (_, text) in enumerate(statements, start=1)
        for value in fingerprints(user_id, text.content)
    ]
    values = {
        "user": user_id,
        "agent": principal.agent_id,
        PLACEHOLDER_USER: principal.user_id,
        PLACEHOLDER_AGENT: principal.agent_id,
        "but": but,
        "kinds": [str(new.kind) for new, _ in statements],
        "categories": [new.category for new, _ in statements],
        "subjects": [writing.subject_key(new.subject) for new, _ in statements],
        "fields": [str(new.field) for new, _ in statements],
        "external_ids": [new.external_id for new, _ in statements],
        "vectors": VectorArray.of(text.vector for _, text in statements),
        "model": next((text.embedding_model for _, text in statements if text.embedding_model), ""),
        "positions": [position for position, _ in prints],
        "fingerprints": [value for _, value in prints],
        "at_least": settings.MEMORY_LINK_MIN_SIMILARITY,
        "suppressed_at_least": least_similarity(text for _, text in statements),
        "top_k": settings.MEMORY_NEIGHBOURS,
    }
    given = frozenset(name for name in _OPTIONAL if any(values[name]))
    return _statement(principal.with_placeholders(), given).run(values)


@lru_cache(maxsize=SHAPES)
def _statement(someone: Principal, given: frozenset[str]) -> PreparedStatement:
    """Compile the statement, shared by principals with the same kind of access, without parts that need nothing given.

    The executor prepares every part anew in each run, also of those that find nothing.
    """
    columns = ", ".join(_column(column) for column in _COLUMNS)
    template = _PART.sub(lambda part: part[2] if part[1] in given else "", statement("surroundings"))
    template = template.replace("{columns}", columns).replace("{suppressed}", suppressed(of_legacy=False))
    # Only a client's id may be that of an archived memory.
    visible = Memory.objects.visible_to(someone, archived="external_ids" in given).order_by().values_list("pk")
    options: dict[str, Any] = {"placeholders": {PLACEHOLDER_USER, PLACEHOLDER_AGENT}, "lasting": True}
    try:
        return build_statement(template, {"visible": visible}, **options)
    except EmptyResultSet:
        return build_statement(template.replace("{visible}", _NOTHING), {}, **options)


def _column(column: Any) -> str:
    """Cast a column to a type that the driver reads in binary format."""
    return f"{column.column}::text" if column.name == "search_config" else str(column.column)

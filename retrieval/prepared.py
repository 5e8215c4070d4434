"""Statements that are put together once a process, and that the database parses and plans once a connection.

A search is one statement of several thousand characters. For calls that come with every turn of a conversation, most of
the time would go into building it, sending it and planning it. So it is built once for each shape (what kind of caller
asks what kind of question), with stand-ins for what differs from call to call, and prepared on each connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from pgvector import HalfVector
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper
from psycopg import Connection, RawCursor, sql
from psycopg.abc import Buffer
from psycopg.pq import Format
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper
from psycopg.types.json import JsonbBinaryLoader

from language.base import Vectors

SHAPES = 256
"""Statements of one sort that a process keeps put together. Agents ask in a few ways, most of them in the same ones."""

Rows = list[tuple[Any, ...]]
P = ParamSpec("P")
T = TypeVar("T")

_PART = re.compile(r"\{(\w+)\}")
_PERCENT = re.compile(r"%(s|%)")


@dataclass(frozen=True, slots=True)
class Shaped:
    """Rows whose query is compiled once for all questions of one shape; it equals whatever has the same ``key``.

    ``build`` makes the queryset, with stand-ins where calls differ: values that no row has, so that one which is not
    replaced finds nothing. ``values`` gives what each stands for now. What is built for one ``key`` must always be the
    same.
    """

    key: Hashable
    build: Callable[[], QuerySet[Any]] = field(compare=False)
    values: Mapping[Any, Any] = field(compare=False)


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """SQL with numbered parameters, and in their order what each is: a name, or a stand-in.

    ``lasting`` says that it will be run many times, so that it is worth preparing.
    """

    text: str
    parameters: tuple[Any, ...]
    lasting: bool

    def run(self, values: Mapping[Any, Any]) -> Rows:
        """Execute it with the value of each parameter, and return all rows, if it has any.

        Raises django.db.DatabaseError.
        """
        return _run([Call(self, values)])[0]


@dataclass(frozen=True, slots=True)
class Call:
    """A statement with the value of each of its parameters."""

    statement: PreparedStatement
    values: Mapping[Any, Any]


def _run(calls: Sequence[Call]) -> list[Rows]:
    """Execute statements, and return the rows of each. Several, which must all return rows, take one round trip.

    Raises django.db.DatabaseError.
    """
    connection = connections["default"]
    connection.ensure_connection()
    session = connection.connection
    send_vectors_binary(session)
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    sent = []
    try:
        with ExitStack() as stack:
            if len(calls) > 1:
                stack.enter_context(session.pipeline())
            for statement, values in ((call.statement, call.values) for call in calls):
                # Everything else is sent with its values written out, which would only crowd out what is prepared.
                session.prepare_threshold = 0 if statement.lasting and settings.DATABASE_PREPARES else None
                raw = RawCursor(session)
                raw.format = Format.BINARY
                cursor = stack.enter_context(wrapped(cast("CursorWrapper", raw)))
                cursor.execute(statement.text, [values[name] for name in statement.parameters])
                sent.append((cursor, raw))
            return [cursor.fetchall() if raw.pgresult is None or raw.pgresult.nfields else [] for cursor, raw in sent]
    finally:
        session.prepare_threshold = None


Steps = Generator[Call, Rows, T]
"""Reads that follow one another: each yields a call and is sent its rows. Returns what came of them."""


def together(*readings: Steps[Any]) -> list[Any]:
    """What comes of some readings, done side by side: what they ask for next takes one round trip for all of them."""
    results: list[Any] = [None] * len(readings)
    answers: dict[int, Rows | None] = dict.fromkeys(range(len(readings)))
    while answers:
        calls: dict[int, Call] = {}
        for place, rows in answers.items():
            try:
                # A generator that has just been made is sent None.
                calls[place] = readings[place].send(cast("Rows", rows))
            except StopIteration as done:
                results[place] = done.value
        answers = dict(zip(calls, _run(list(calls.values())), strict=True)) if calls else {}
    return results


class Stepwise(Generic[P, T]):
    """A function that reads by steps: by itself when it is called, and by ``steps`` together with others."""

    def __init__(self, steps: Callable[P, Steps[T]]) -> None:
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Read, and return what comes of it."""
        result: T
        (result,) = together(self.steps(*args, **kwargs))
        return result


class VectorArray(list[HalfVector | None]):
    """Vectors that are one value of a statement, a ``halfvec[]``. Of a plain list psycopg would send the text."""

    @classmethod
    def of(cls, vectors: Iterable[Vectors | list[float] | None]) -> VectorArray:
        """Some vectors, each as it is stored."""
        return cls(None if vector is None else HalfVector(vector) for vector in vectors)


class JsonbLoader(JsonbBinaryLoader):
    """Reads what is empty, as most metadata is, without a parser: it took a tenth of reading a page of memories."""

    def load(self, data: Buffer) -> Any:
        """The value."""
        return {} if data == b"\x01{}" else super().load(data)


def send_vectors_binary(session: Connection[Any]) -> None:
    """Let the values of a statement hold a HalfVector or a VectorArray: as text they take ten times as long.

    And let rows that come back be read in binary.
    """
    if session.adapters.types.get("halfvec") is not None:
        return
    known = TypeInfo.fetch(session, "halfvec")
    assert known is not None, "the database has no pgvector"
    known.register(session)
    session.adapters.register_dumper(HalfVector, type("", (HalfVectorBinaryDumper,), {"oid": known.oid}))
    session.adapters.register_dumper(VectorArray, ListBinaryDumper)
    session.adapters.register_loader("jsonb", JsonbLoader)


def build_statement(
    template: str,
    querysets: Mapping[str, QuerySet[Any]],
    *,
    placeholders: Collection[Hashable] = (),
    lasting: bool = False,
) -> PreparedStatement:
    """Put the SQL of each queryset in the place of its ``{name}``; every other name becomes a parameter.

    What a queryset compares with is written out, so that an index on a part of the table can be used, but for
    ``placeholders``, which become parameters too. Raises EmptyResultSet when a queryset can't have rows.
    """
    numbers: dict[Any, int] = {}
    compiled: dict[str, str] = {}

    def numbered(parameter: Any) -> str:
        return f"${numbers.setdefault(parameter, len(numbers) + 1)}"

    def compile_one(queryset: QuerySet[Any]) -> str:
        text, params = queryset.query.get_compiler(queryset.db).as_sql()
        rest = iter(params)

        def value(match: re.Match[str]) -> str:
            if match[1] == "%":
                return "%"
            param = next(rest)
            if isinstance(param, Hashable) and param in placeholders:
                return numbered(param)
            return sql.Literal(param).as_string(connections[queryset.db].connection)

        return _PERCENT.sub(value, text)

    def place(match: re.Match[str]) -> str:
        name = match[1]
        if name not in querysets:
            return numbered(name)
        if name not in compiled:
            compiled[name] = compile_one(querysets[name])
        return compiled[name]

    text = _PART.sub(place, template)
    return PreparedStatement(text, tuple(numbers), lasting)


@Stepwise
def read(rows: Shaped, columns: tuple[str, ...], part: slice | None = None) -> Steps[Rows]:
    """The columns of all of the rows, or of a ``part`` with both ends, in their order.

    One statement, or none where there can't be rows.
    """
    try:
        statement = _reading(rows, columns, part is not None)
    except EmptyResultSet:
        return []
    if part is None:
        return (yield Call(statement, rows.values))
    return (yield Call(statement, {"first": part.start, "most": part.stop - part.start, **rows.values}))


@lru_cache(maxsize=SHAPES)
def _reading(rows: Shaped, columns: tuple[str, ...], in_parts: bool) -> PreparedStatement:
    built = {"rows": rows.build().values_list(*columns)}
    template = "{rows} LIMIT {most}::bigint OFFSET {first}::bigint" if in_parts else "{rows}"
    return build_statement(template, built, placeholders=rows.values.keys(), lasting=True)

"""SQL statements that are built once a process, and prepared once a connection.

A search is one statement of several thousand characters. Building, sending and planning it for every turn of a
conversation would take longer than running it. So it is built once for each shape of query (kind of caller and kind of
question), with placeholders for what differs between calls, and prepared on each connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, lru_cache, update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import Count, Field, Model, QuerySet, Value
from pgvector import HalfVector
from pgvector.django import HalfVectorField
from pgvector.psycopg.halfvec import HalfVectorBinaryDumper
from psycopg import Connection, RawCursor, sql
from psycopg._queries import PostgresRawQuery
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import Loader, Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute, fetch_many, send
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGresult
from psycopg.types import TypeInfo
from psycopg.types.array import ListBinaryDumper
from psycopg.types.json import JsonbBinaryLoader

from language.base import Vectors

from .vectors import decode_halfvec

SHAPES = 256
"""How many built statements of one sort a process caches. Most calls use the same few shapes."""

Rows = list[tuple[Any, ...]]
P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M", bound=Model)

PLACEHOLDER_ROW = UUID(int=3)
"""An id that no row has, as a UUID or as a text."""
PLACEHOLDER_INDEX = 2_147_483_001
"""The index of a message that no conversation has."""

_PART = re.compile(r"\{(\w+)\}")
_LENGTH = re.compile(r"\(\d+\)")
_PERCENT = re.compile(r"%(s|%)")


@dataclass(frozen=True, slots=True)
class Shaped:
    """A queryset that is compiled once for all calls with the same ``key``, by which instances compare equal.

    ``build`` returns the queryset, with placeholders where calls differ: values that no row has, so one that is not
    replaced finds nothing. ``values`` maps placeholders to this call's values. ``build`` must always return the same
    queryset for one ``key``.
    """

    key: Hashable
    build: Callable[[], QuerySet[Any]] = field(compare=False)
    values: Mapping[Any, Any] = field(compare=False)

    def one(self, pk: UUID | str) -> Shaped:
        """Return the row of these with an id."""
        ids = {PLACEHOLDER_ROW: pk, str(PLACEHOLDER_ROW): pk}
        return Shaped(("one", self.key), lambda: self.build().filter(pk=PLACEHOLDER_ROW), {**self.values, **ids})


@dataclass(frozen=True, slots=True)
class PreparedStatement:
    """SQL with numbered parameters. ``parameters`` has the name or placeholder of each, in order.

    ``lasting``: it will be run many times, so it is prepared on the connection.
    """

    text: str
    parameters: tuple[Any, ...]
    lasting: bool

    def run(self, values: Mapping[Any, Any]) -> Rows:
        """Execute it with the values of its parameters, and return all rows; none if it returns no rows.

        Raises django.db.DatabaseError.
        """
        return _run([Call(self, values)])[0]


@dataclass(frozen=True, slots=True)
class Call:
    """A statement with the values of its parameters."""

    statement: PreparedStatement
    values: Mapping[Any, Any]


def _run(calls: Sequence[Call]) -> list[Rows]:
    """Execute statements, and return the rows of each. Several are pipelined in one round trip; all must return rows.

    Raises django.db.DatabaseError.
    """
    connection = connections["default"]
    connection.ensure_connection()
    session = connection.connection
    watched = connection.queries_logged or connection.execute_wrappers
    if len(calls) == 1 and not watched and (rows := _run_again(connection, calls[0])) is not None:
        return [rows]
    send_vectors_binary(session)
    wrapped = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    sent = []
    try:
        with ExitStack() as stack:
            if len(calls) > 1:
                stack.enter_context(session.pipeline())
            for statement, values in ((call.statement, call.values) for call in calls):
                # Other statements contain literal values, and would only evict prepared ones.
                session.prepare_threshold = 0 if statement.lasting and settings.DATABASE_PREPARES else None
                raw = RawCursor(session)
                raw.format = Format.BINARY
                cursor = stack.enter_context(wrapped(cast("CursorWrapper", raw)))
                cursor.execute(statement.text, [values[name] for name in statement.parameters])
                sent.append((cursor, raw))
            return [cursor.fetchall() if raw.pgresult is None or raw.pgresult.nfields else [] for cursor, raw in sent]
    finally:
        session.prepare_threshold = None


_ADAPTERS = "keepsake_adapters"
"""The attribute of a connection with the transformer, which caches how values are sent and read."""


def _run_again(connection: BaseDatabaseWrapper, call: Call) -> Rows | None:
    """Execute a statement that this connection has prepared, and return its rows. None if it can't be done like this.

    Cursors do the same, but making one, its adapters and its wrappers takes most of the time of a short statement.
    """
    session = connection.connection
    if not (call.statement.lasting and settings.DATABASE_PREPARES):
        return None
    adapters = vars(session).get(_ADAPTERS)
    if adapters is None:
        send_vectors_binary(session)
        adapters = vars(session)[_ADAPTERS] = Transformer(session)
    query = PostgresRawQuery(adapters)
    connection.validate_no_broken_transaction()
    with connection.wrap_database_errors, session.lock:
        query.convert(call.statement.text.encode(), [call.values[name] for name in call.statement.parameters])
        names, key = session._prepared._names, session._prepared.key(query)
        if key not in names:
            return None
        names.move_to_end(key)  # Those that were not used for long are deallocated.
        begins = not session.autocommit and session.pgconn.transaction_status == TransactionStatus.IDLE
        result = session.wait(_executed(session, names[key], query, begins=begins))
        if result.status not in {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}:
            raise error_from_result(result, encoding=session.info.encoding)
        adapters.set_pgresult(result)
        rows = adapters.load_rows(0, result.ntuples, tuple)
        adapters.set_pgresult(None)
    return rows


def _executed(session: Connection[Any], name: bytes, query: PostgresRawQuery, *, begins: bool) -> PQGen[PGresult]:
    """Return the result of a prepared statement. ``begins``: in one round trip with the start of the transaction."""
    pgconn = session.pgconn
    if not begins:
        pgconn.send_query_prepared(name, query.params, query.formats, Format.BINARY)
        (result,) = yield from execute(pgconn)
        return result
    pgconn.enter_pipeline_mode()
    try:
        pgconn.send_query_params(session._get_tx_start_command(), None)
        pgconn.send_query_prepared(name, query.params, query.formats, Format.BINARY)
        pgconn.pipeline_sync()
        yield from send(pgconn)
        begun = yield from fetch_many(pgconn)
        found = yield from fetch_many(pgconn)
        yield from fetch_many(pgconn)  # The end of the pipeline.
        pgconn.exit_pipeline_mode()
    except BaseException:
        pgconn.finish()  # Answers may be left: nobody may use the connection again.
        raise
    return found[0] if begun[0].status == ExecStatus.COMMAND_OK else begun[0]


Steps = Generator[Call, Rows, T]
"""A generator of dependent reads: it yields a call, is sent its rows, and returns the result."""


def together(*readings: Steps[Any]) -> list[Any]:
    """Run several generators in lockstep, and return their results. Each round of calls takes one round trip."""
    results: list[Any] = [None] * len(readings)
    answers: dict[int, Rows | None] = dict.fromkeys(range(len(readings)))
    while answers:
        calls: dict[int, Call] = {}
        for place, rows in answers.items():
            try:
                # The first ``send`` to a generator must be None.
                calls[place] = readings[place].send(cast("Rows", rows))
            except StopIteration as done:
                results[place] = done.value
        answers = dict(zip(calls, _run(list(calls.values())), strict=True)) if calls else {}
    return results


class Stepwise(Generic[P, T]):
    """Wraps a generator of reads. Calling it runs it alone; ``steps`` returns the generator for ``together``."""

    def __init__(self, steps: Callable[P, Steps[T]]) -> None:
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run it, and return its result."""
        result: T
        (result,) = together(self.steps(*args, **kwargs))
        return result


class VectorArray(list[HalfVector | None]):
    """Vectors as one parameter of type ``halfvec[]``. A plain list would be sent as text."""

    @classmethod
    def of(cls, vectors: Iterable[Vectors | list[float] | None]) -> VectorArray:
        """Build it from vectors; None stays NULL."""
        return cls(None if vector is None else HalfVector(vector) for vector in vectors)


class JsonbLoader(JsonbBinaryLoader):
    """Loads empty objects without parsing. Most metadata is empty, and parsing took a tenth of reading a page."""

    def load(self, data: Buffer) -> Any:
        """Return the value."""
        return {} if data == b"\x01{}" else super().load(data)


class VectorLoader(Loader):
    """Loads vectors as lists, as models hold them."""

    format = Format.BINARY

    def load(self, data: Buffer) -> list[float]:
        """Return the numbers."""
        return cast("list[float]", decode_halfvec(bytes(data)).tolist())


def send_vectors_binary(session: Connection[Any]) -> None:
    """Register binary dumpers and loaders for vectors, and the jsonb loader. Text takes ten times as long."""
    if session.adapters.types.get("halfvec") is not None:
        return
    known = TypeInfo.fetch(session, "halfvec")
    assert known is not None, "the database has no pgvector"
    known.register(session)
    session.adapters.register_dumper(HalfVector, type("", (HalfVectorBinaryDumper,), {"oid": known.oid}))
    session.adapters.register_dumper(VectorArray, ListBinaryDumper)
    session.adapters.register_loader("halfvec", VectorLoader)
    session.adapters.register_loader("jsonb", JsonbLoader)


def build_statement(
    template: str,
    querysets: Mapping[str, QuerySet[Any]],
    *,
    placeholders: Collection[Hashable] = (),
    lasting: bool = False,
) -> PreparedStatement:
    """Build a statement: replace each ``{name}`` by the SQL of its queryset, or by a numbered parameter.

    Values in querysets become literals, so that partial indexes can be used, except ``placeholders``, which become
    parameters. Raises EmptyResultSet if a queryset can't have rows.
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


def column_parameters(model: type[Model], names: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Return the parameters for values of columns, by column, as a template of ``build_statement`` has them."""
    # Without a length: a cast to one would cut a text that is too long instead of refusing it.
    types = {name: _LENGTH.sub("", str(_columns(model)[name].db_type(connection))) for name in names}
    return {name: f"{{{prefix}{name}}}::{each}" for name, each in types.items()}


def column_values(model: type[Model], values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the values of these parameters."""
    columns = _columns(model)
    return {
        f"{prefix}{name}": HalfVector(value)
        if isinstance(columns[name], HalfVectorField) and value is not None
        else columns[name].get_db_prep_save(value, connection)
        for name, value in values.items()
    }


@cache
def _columns(model: type[Model]) -> dict[str, Field[Any, Any]]:
    return {column.attname: column for column in model._meta.concrete_fields}


def update_row(row: Model, names: Iterable[str]) -> None:
    """Store these columns of a row, in one statement."""
    values = {name: vars(row)[name] for name in sorted(names)}
    sent = column_values(type(row), values)
    _updating(type(row), tuple(values)).run({**sent, "key": row.pk})


@lru_cache(maxsize=SHAPES)
def _updating(model: type[Model], names: tuple[str, ...]) -> PreparedStatement:
    columns = ", ".join(f"{name} = {given}" for name, given in column_parameters(model, names).items())
    key = model._meta.pk
    assert key is not None
    template = f"UPDATE {model._meta.db_table} SET {columns} WHERE {key.column} = {{key}}"  # noqa: S608 - our columns
    return build_statement(template, {}, lasting=True)


@Stepwise
def read(rows: Shaped, columns: tuple[str, ...], part: slice | None = None) -> Steps[Rows]:
    """Return the columns of all rows, or of the slice ``part`` (with start and stop), in their order.

    Runs one statement, or none if there can't be rows.
    """
    try:
        statement = _reading(rows, columns, part is not None)
    except EmptyResultSet:
        return []
    if part is None:
        return (yield Call(statement, rows.values))
    return (yield Call(statement, {"first": part.start, "most": part.stop - part.start, **rows.values}))


@Stepwise
def read_objects(
    model: type[M], rows: Shaped, columns: tuple[str, ...] = (), part: slice | None = None
) -> Steps[list[M]]:
    """Return rows as objects of their model, with these columns of its table loaded; all of them by default.

    ``columns`` must be in the order of the model's fields.
    """
    columns = columns or tuple(field.attname for field in model._meta.concrete_fields)
    names = frozenset(columns)  # Django looks every column of the model up in it.
    return [model.from_db("default", names, row) for row in (yield from read.steps(rows, columns, part))]


@Stepwise
def count(rows: Shaped) -> Steps[int]:
    """Return the number of rows, in one statement."""

    def build() -> QuerySet[Any]:
        return rows.build().order_by().values(all=Value(1)).annotate(number=Count("pk"))

    found = yield from read.steps(Shaped(("count", rows.key), build, rows.values), ("number",))
    return found[0][0] if found else 0


@lru_cache(maxsize=SHAPES)
def _reading(rows: Shaped, columns: tuple[str, ...], in_parts: bool) -> PreparedStatement:
    built = {"rows": rows.build().values_list(*columns)}
    template = "{rows} LIMIT {most}::bigint OFFSET {first}::bigint" if in_parts else "{rows}"
    return build_statement(template, built, placeholders=rows.values.keys(), lasting=True)

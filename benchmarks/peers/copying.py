"""Fills tables by COPY, in the driver and beside the peers: a quarter of a million rows one by one would take hours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import orjson
import psycopg
from psycopg import sql

from .system import Vectors

# Enough for the graph of 384 dimensions and its edges: what does not fit is inserted row by row, many times slower.
_MEMORY_PER_ROW_KB = 3
_LEAST_MEMORY_MB = 256


def copy_rows(connection: psycopg.Connection[Any], table: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
    """Put rows, each with a value for every column, into a table."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(*table.split(".")), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def vector_text(vector: Vectors) -> str:
    """A vector as pgvector reads it, exactly: the shortest digits that give the same 32 bits."""
    return orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()


@contextmanager
def without_indexes(connection: psycopg.Connection[Any], table: str, rows: int) -> Iterator[None]:
    """Load so many rows into a table without the indexes that no constraint needs; they are made again afterwards.

    Row by row into a graph of a million would take a night; what comes out is the same index.
    """
    indexes = connection.execute(
        "SELECT schemaname, indexname, indexdef FROM pg_indexes WHERE tablename = %s AND NOT EXISTS ("
        "SELECT FROM pg_constraint WHERE conindid = format('%%I.%%I', schemaname, indexname)::regclass)",
        [table.rpartition(".")[2]],
    ).fetchall()
    for schema, name, _ in indexes:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(schema, name)))
    yield
    with building(connection, rows):
        for *_, definition in indexes:
            made_again: LiteralString = definition
            connection.execute(sql.SQL(made_again))


@contextmanager
def building(connection: psycopg.Connection[Any], rows: int) -> Iterator[None]:
    """Let indexes over so many rows be built in memory, by more than one process."""
    megabytes = max(_LEAST_MEMORY_MB, rows * _MEMORY_PER_ROW_KB // 1_024)
    connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", [f"{megabytes}MB"])
    connection.execute("SET max_parallel_maintenance_workers = 2")
    yield
    connection.execute("RESET maintenance_work_mem")
    connection.execute("RESET max_parallel_maintenance_workers")

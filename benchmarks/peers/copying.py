"""Bulk loading by COPY, for the driver and the peers: inserting a quarter of a million rows one by one takes hours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

import orjson
import psycopg
from psycopg import sql

from .system import Vectors

# Enough for the HNSW graph of 384 dimensions: rows that don't fit are inserted one by one, many times slower.
_MEMORY_PER_ROW_KB = 3
_LEAST_MEMORY_MB = 256


def copy_rows(connection: psycopg.Connection[Any], table: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
    """Copy rows, each with a value for every column, into a table."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(*table.split(".")), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def vector_text(vector: Vectors) -> str:
    """Format a vector for pgvector without loss: the shortest digits of each 32-bit float."""
    return orjson.dumps(vector, option=orjson.OPT_SERIALIZE_NUMPY).decode()


@contextmanager
def without_indexes(connection: psycopg.Connection[Any], table: str, rows: int) -> Iterator[None]:
    """Drop a table's indexes, except those of constraints, during the block, and create them again afterwards.

    Inserting into an HNSW graph row by row would take many hours; the result is the same index.
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
    """Configure the session to build indexes over that many rows in memory and in parallel."""
    megabytes = max(_LEAST_MEMORY_MB, rows * _MEMORY_PER_ROW_KB // 1_024)
    connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", [f"{megabytes}MB"])
    connection.execute("SET max_parallel_maintenance_workers = 2")
    yield
    connection.execute("RESET maintenance_work_mem")
    connection.execute("RESET max_parallel_maintenance_workers")

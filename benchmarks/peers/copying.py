"""Fills tables by COPY, in the driver and beside the peers: a quarter of a million rows one by one would take hours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, LiteralString

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg import sql

Vectors = npt.NDArray[np.float32]


def copy_rows(connection: psycopg.Connection[Any], table: str, columns: Sequence[str], rows: Iterable[Any]) -> None:
    """Put rows, each with a value for every column, into a table."""
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(
        sql.Identifier(*table.split(".")), sql.SQL(", ").join(map(sql.Identifier, columns))
    )
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def vector_text(vector: Vectors) -> str:
    """A vector as pgvector reads it, exactly: seven digits are what 32 bits hold, 16 bits hold fewer."""
    return f"[{','.join(map('{:.8g}'.format, vector.tolist()))}]"


def rebuild_after(connection: psycopg.Connection[Any], table: str, load: Any) -> None:
    """Load a table without its vector indexes, and make them again as they were.

    Row by row into a graph of a million would take a night; what comes out is the same index.
    """
    indexes = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexdef ~ ' USING (hnsw|ivfflat) '",
        [table.rpartition(".")[2]],
    ).fetchall()
    for name, _ in indexes:
        connection.execute(sql.SQL("DROP INDEX {}").format(sql.Identifier(name)))
    load()
    connection.execute("SET maintenance_work_mem = '2GB'")
    for _, definition in indexes:
        made_again: LiteralString = definition
        connection.execute(sql.SQL(made_again))
    connection.execute("RESET maintenance_work_mem")

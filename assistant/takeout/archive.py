"""The zip archive of an export, written as a stream.

Rows are JSON Lines under ``data/``, with columns by name: times in ISO 8601 with microseconds, bytes in base64 or,
where they are JSON, as ``{"json": value}``; vectors in base64 of PostgreSQL's binary format (``halfvec_send``).
``manifest.json`` states the format version and the row counts.
"""

from __future__ import annotations

import base64
import io
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import orjson
from django.db import models
from django.utils import timezone
from pgvector import HalfVector
from pgvector.django import HalfVectorField

from conversations.imports import KEEPSAKE
from conversations.imports.sources import OWN_MANIFEST
from journal.holdings import Holding
from web.json import encoded

FORM_VERSION = 1
PART_BYTES = 1_048_576


def member_of(kind: str) -> str:
    """Return the file name in the archive for a kind of rows."""
    return f"data/{kind}.jsonl"


def as_line(row: Mapping[str, Any]) -> bytes:
    """Format a row as a line of JSON."""
    return encoded(row, _other, orjson.OPT_APPEND_NEWLINE)


def decode_halfvec(text: str) -> HalfVector:
    """Parse a vector written by ``as_line``. Raises ValueError."""
    try:
        return HalfVector.from_binary(base64.b64decode(text, validate=True))
    except struct.error as error:
        raise ValueError("too short for a vector") from error


def as_written(column: models.Field[Any, Any]) -> str | models.Func:
    """Return the expression to read a column: vectors as bytes, a tenth of the cost of numbers."""
    if isinstance(column, HalfVectorField):
        return models.Func(models.F(column.attname), function="halfvec_send", output_field=models.BinaryField())
    return column.attname


def _readable(holding: Holding, row: dict[str, Any]) -> dict[str, Any]:
    if holding.json is not None:
        column, where = holding.json
        if row[where] is not None:
            row[column] = {"json": orjson.Fragment(bytes(row[column]))}
    return row


def _other(value: Any) -> str:
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)


class _Pieces(io.RawIOBase):
    """A writer that yields parts of a megabyte."""

    def __init__(self, put: Callable[[bytes], object]) -> None:
        self._put = put
        self._waiting = bytearray()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._waiting += data
        self.size += len(data)
        while len(self._waiting) >= PART_BYTES:
            self._put(bytes(self._waiting[:PART_BYTES]))
            del self._waiting[:PART_BYTES]
        return len(data)

    def end(self) -> None:
        """Flush the rest."""
        if self._waiting:
            self._put(bytes(self._waiting))
            self._waiting.clear()


class Archive:
    """An export being written."""

    def __init__(self, put: Callable[[bytes], object]) -> None:
        self._pieces = _Pieces(put)
        self._zip = zipfile.ZipFile(self._pieces, "w", zipfile.ZIP_DEFLATED)
        self.counts: dict[str, int] = {}

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._pieces.size

    def rows(self, holding: Holding, rows: Iterator[tuple[Any, ...]]) -> Iterator[int]:
        """Write the rows of a table, yielding the count after each."""
        names, count = [column.attname for column in holding.written], 0
        with self._member(member_of(holding.kind)) as file:
            for count, row in enumerate(rows, start=1):
                file.write(as_line(_readable(holding, dict(zip(names, row, strict=True)))))
                yield count
        self.counts[holding.kind] = count

    def text(self, name: str, text: str) -> None:
        """Write a text file."""
        with self._member(name) as file:
            file.write(text.encode())

    def end(self, **told: Any) -> None:
        """Write the manifest, with the fields of ``told``, and the archive's directory."""
        manifest = {"form": KEEPSAKE, "version": FORM_VERSION, "at": timezone.now(), "rows": self.counts, **told}
        self.text(OWN_MANIFEST, orjson.dumps(manifest, option=orjson.OPT_INDENT_2).decode())
        self._zip.close()
        self._pieces.end()

    @contextmanager
    def _member(self, name: str) -> Iterator[BinaryIO]:
        # In UTC, like the pages.
        info = zipfile.ZipInfo(name, timezone.now().timetuple()[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        with self._zip.open(info, "w", force_zip64=True) as file:
            yield file  # type: ignore[misc]

"""Reading of an export's rows: validation against the tables, with the position of the first error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from pgvector.django import HalfVectorField

from conversations.imports import KEEPSAKE, ImportFileError
from conversations.imports.sources import OWN_MANIFEST, ArchiveMember
from conversations.imports.streams import read_lines
from conversations.policy import is_storable
from journal.holdings import Holding, holdings
from language.base import Embedder
from web.json import decoded, encoded

from .archive import FORM_VERSION, decode_halfvec, member_of

Row = dict[str, Any]


def check_manifest(members: Sequence[ArchiveMember]) -> int:
    """Return the row counts of the manifest. Raises ImportFileError for an invalid or newer one."""
    manifest = next(member for member in members if member.name == OWN_MANIFEST)
    with manifest.open() as stream:
        text = stream.read(1_048_576)
    try:
        told = orjson.loads(text)
        form, version, rows = told["form"], told["version"], sum(int(count) for count in told["rows"].values())
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ImportFileError(OWN_MANIFEST, "is not that of an export") from error
    if form != KEEPSAKE or version != FORM_VERSION:
        raise ImportFileError(OWN_MANIFEST, f"is of a form that is not known: {form!s:.20} {version!s:.20}")
    return rows


def tables_of(members: Sequence[ArchiveMember]) -> list[tuple[Holding, ArchiveMember]]:
    """Return the imported tables with their files, referenced tables first."""
    files = {member.name: member for member in members}
    kept = [each for each in holdings() if each.kind and each.restored]
    return [(each, files[member_of(each.kind)]) for each in kept if member_of(each.kind) in files]


def read_rows(holding: Holding, member: ArchiveMember, embedder: Embedder) -> Iterator[Row]:
    """Yield the validated rows of one table. Raises ImportFileError."""
    columns = {column.attname: column for column in holding.written}
    with member.open() as stream:
        for number, line in read_lines(stream):
            place = f"{member.name}, line {number:,}"
            row = _parsed(line, place)
            if row.keys() != columns.keys():
                odd = ", ".join(sorted(row.keys() ^ columns.keys()))
                raise ImportFileError(place, f"has other columns than its table: {odd[:200]}")
            for name, value in row.items():
                row[name] = _value(columns[name], value, f"{place}, {name}")
            _check_vector(row, embedder, place)
            yield row


def read_raw(member: ArchiveMember) -> Iterator[Row]:
    """Yield the raw rows of a table of a checked file."""
    with member.open() as stream:
        for _, line in read_lines(stream):
            yield decoded(line)


def _parsed(line: bytes, place: str) -> Row:
    try:
        row = decoded(line)
    except orjson.JSONDecodeError as error:
        raise ImportFileError(place, "is not JSON") from error
    if not isinstance(row, dict):
        raise ImportFileError(place, "is not an object")
    return row


def _value(column: models.Field[Any, Any], value: Any, place: str) -> Any:
    if value is None:
        if column.null or column.primary_key:
            return None
        raise ImportFileError(place, "is missing")
    try:
        read = decode_halfvec(value) if isinstance(column, HalfVectorField) else _typed(column, value)
    except (ValueError, TypeError, KeyError, ValidationError) as error:
        raise ImportFileError(place, "is nothing that this column takes") from error
    if not all(is_storable(text) for text in _texts(read)):
        raise ImportFileError(place, "holds characters that can't be stored")
    if column.choices and read not in dict(column.flatchoices) and read != "":
        raise ImportFileError(place, "is none of the values that are known")
    return read


def _typed(column: models.Field[Any, Any], value: Any) -> Any:
    """Convert a JSON value to a column's type. Raises ValueError, TypeError, KeyError, ValidationError."""
    if isinstance(column, models.JSONField):
        return value
    if isinstance(column, ArrayField):
        if not isinstance(value, list):
            raise TypeError
        return [_typed(column.base_field, each) for each in value]
    if isinstance(column, models.BinaryField) and isinstance(value, dict):
        return encoded(value["json"])
    target = column.target_field if isinstance(column, models.ForeignKey) else column
    expected: tuple[type, ...] = (str,)
    if isinstance(target, models.IntegerField | models.FloatField):
        expected = (int, float) if isinstance(target, models.FloatField) else (int,)
    elif isinstance(target, models.BooleanField):
        expected = (bool,)
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        raise TypeError
    return target.to_python(value)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield key
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _check_vector(row: Row, embedder: Embedder, place: str) -> None:
    """Check a vector's dimensions. Vectors of other models are converted by ``reembed`` later."""
    vector = row.get("embedding")
    if vector is not None and row["embedding_model"] == embedder.name and vector.dimensions() != embedder.dimensions:
        raise ImportFileError(place, f"has a vector of {vector.dimensions():,} numbers")

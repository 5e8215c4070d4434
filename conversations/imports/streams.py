"""Reads exports a piece at a time: whatever a file's size, one conversation of it is in memory.

Parsers that build objects as they read remember a path for each level they are in, so that a few kilobytes of opening
brackets take gigabytes. Here brackets are only counted, to cut a list into its items; each item is then parsed for
itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import orjson
from django.conf import settings

from .records import ImportFileError

MAX_DEPTH = 200
CHUNK_BYTES = 262_144
BOM = b"\xef\xbb\xbf"
# Whatever is no bracket, with whole strings, which may hold some. Possessive: nothing is ever tried again.
_UP_TO_A_BRACKET = re.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+', re.DOTALL)
_OPENING = b"[{"
_BLANKS = b" \t\r\n"


class Readable(Protocol):
    """Something that bytes can be read from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a JSON list: where it stands, ``FILE, conversation N``, from which byte on, and its bytes."""

    place: str
    begins: int
    content: bytes

    def parsed(self) -> Any:
        """What it says. Raises ImportFileError with the byte of the file when it is not JSON."""
        try:
            return orjson.loads(self.content)
        except orjson.JSONDecodeError:
            # It refuses half a surrogate pair, which is what a text cut in the middle of an emoji ends with.
            return self._parsed_leniently()

    def _parsed_leniently(self) -> Any:
        try:
            text = self.content.decode()
            return json.loads(text, parse_constant=_refuse_constant)
        except UnicodeDecodeError as error:
            self._fail(error.start, "is not UTF-8 text")
        except json.JSONDecodeError as error:
            self._fail(len(text[: error.pos].encode()), f"is not JSON ({error.msg})")
        except ValueError:
            self._fail(0, "holds a number that JSON does not know")

    def _fail(self, at: int, reason: str) -> NoReturn:
        raise ImportFileError(f"{self.place} (byte {self.begins + at:,})", reason)


def read_list(stream: Readable, name: str) -> Iterator[Item]:
    """Yield the items of a JSON list of objects. ``name`` is the file's.

    Raises ImportFileError at the first fault, with the byte of the file.
    """
    return iter(_List(stream, name))


class _List:
    def __init__(self, stream: Readable, name: str) -> None:
        self._stream = stream
        self._name = name
        self._buffer = b""
        self._begins = 0  # Where in the file the buffer begins.
        self._number = 0

    def __iter__(self) -> Iterator[Item]:
        kept = at = depth = 0  # In the buffer: what is still needed begins at ``kept``, what is new at ``at``.
        while True:
            match = _UP_TO_A_BRACKET.match(self._buffer, at)
            at = match.end() if match else at
            if self._buffer[at : at + 1] in (b"", b'"'):  # A string without an end yet.
                at, kept = at - kept, self._read_on(kept, depth)
                continue
            if self._buffer[at] in _OPENING:
                depth += 1
                if depth <= 2:
                    self._open(kept, at, depth)
                    kept = at + 1 if depth == 1 else at
                elif depth > MAX_DEPTH:
                    self._fail(at, f"is nested more than {MAX_DEPTH} levels deep")
            else:
                depth -= 1
                if depth <= 0:
                    self._close(kept, at, depth)
                    return
                if depth == 1:
                    yield Item(self._place, self._begins + kept, self._buffer[kept : at + 1])
                    kept = at + 1
            at += 1

    @property
    def _place(self) -> str:
        return f"{self._name}, conversation {self._number}" if self._number else self._name

    def _read_on(self, kept: int, depth: int) -> int:
        """Drop what is before ``kept`` and read on. Returns where what was kept begins now: 0."""
        held = len(self._buffer) - kept
        if held > settings.IMPORT_MAX_CONVERSATION_BYTES:
            limit = settings.IMPORT_MAX_CONVERSATION_BYTES // 1_048_576
            self._fail(kept, f"a conversation of more than {limit} MB begins here")
        # As much again as is there, so that a long text is not gone over again and again.
        more = self._stream.read(max(CHUNK_BYTES, held))
        if not more:
            told = "the file ends in the middle: it was not saved whole" if depth else "is not a list of conversations"
            self._fail(len(self._buffer), told)
        self._begins += kept
        self._buffer = self._buffer[kept:] + more
        return 0

    def _open(self, kept: int, at: int, depth: int) -> None:
        """Check what stands before an opening bracket."""
        between = self._buffer[kept:at].strip(_BLANKS)
        if depth == 1:
            if between not in (b"", BOM) or self._buffer[at : at + 1] != b"[":
                self._fail(at, "is not a list of conversations")
        else:
            if between != (b"," if self._number else b"") or self._buffer[at : at + 1] != b"{":
                self._number += 1
                self._fail(kept, "is not an object")
            self._number += 1

    def _close(self, kept: int, at: int, depth: int) -> None:
        """Check that nothing is left between the last item and the end of the list, and after it."""
        if depth < 0 or self._buffer[at : at + 1] != b"]" or self._buffer[kept:at].strip(_BLANKS):
            self._fail(at, "is not a list of conversations")
        rest, begins = self._buffer[at + 1 :], at + 1
        while rest:
            if rest.strip(_BLANKS):
                self._number = 0
                self._fail(begins, "something comes after the end of the list")
            begins += len(rest)
            rest = self._stream.read(CHUNK_BYTES)

    def _fail(self, at: int, reason: str) -> NoReturn:
        raise ImportFileError(f"{self._place} (byte {self._begins + at:,})", reason)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def read_lines(stream: Readable) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, each with its number from 1. Raises ImportFileError for one too long."""
    limit = settings.IMPORT_MAX_CONVERSATION_BYTES
    rest, number = b"", 0
    while chunk := stream.read(max(CHUNK_BYTES, len(rest))):
        if not number and not rest:
            chunk = chunk.removeprefix(BOM)
        # Not splitlines(): JSON texts may hold other separators, such as U+2028, unescaped.
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            number += 1
            if line.strip():
                yield number, line
        if len(rest) > limit:
            raise ImportFileError(f"line {number + 1}", f"has more than {limit // 1_048_576} MB")
    if rest.strip():
        yield number + 1, rest

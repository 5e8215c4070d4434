"""Streaming readers of JSON lists and of lines: only one conversation is in memory, whatever the file's size.

Streaming JSON parsers keep a path per nesting level, so that a few kilobytes of opening brackets take gigabytes. Here
brackets are only counted, to cut a list into items; each item is then parsed separately.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import orjson
import regex
from django.conf import settings

from web.json import decoded

from .records import ImportFileError

MAX_DEPTH = 200
CHUNK_BYTES = 262_144
BOM = b"\xef\xbb\xbf"
# Everything before the next bracket, with whole strings, which may contain brackets. Possessive: no backtracking.
# Not by `re`, whose possessive groups match half a string before Python 3.11.5 (https://github.com/python/cpython/issues/106052).
_UP_TO_A_BRACKET = regex.compile(rb'[^"\[\]{}]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"\[\]{}]*+)*+', regex.DOTALL)
_OPENING = b"[{"
_BLANKS = b" \t\r\n"


class Readable(Protocol):
    """A binary stream that can be read."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most ``size`` bytes, none at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a JSON list: its place (``FILE, conversation N``), its offset in the file and its bytes."""

    place: str
    begins: int
    content: bytes

    def parsed(self) -> Any:
        """Parse it. Raises ImportFileError with the offset in the file when it is not JSON."""
        try:
            return decoded(self.content)
        except orjson.JSONDecodeError:
            # orjson rejects lone surrogates, with which a text ends that was cut in the middle of an emoji.
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

    Raises ImportFileError at the first error, with the offset in the file.
    """
    return iter(_List(stream, name))


class _List:
    def __init__(self, stream: Readable, name: str) -> None:
        self._stream = stream
        self._name = name
        self._buffer = b""
        self._begins = 0  # The buffer's offset in the file.
        self._number = 0

    def __iter__(self) -> Iterator[Item]:
        kept = at = depth = 0  # Offsets in the buffer: the current item begins at ``kept``, unread bytes at ``at``.
        while True:
            match = _UP_TO_A_BRACKET.match(self._buffer, at)
            at = match.end() if match else at
            if self._buffer[at : at + 1] in (b"", b'"'):  # The buffer ends, or a string is incomplete.
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
        """Drop the buffer before ``kept`` and read more. Returns the new value of ``kept``: 0."""
        held = len(self._buffer) - kept
        if held > settings.IMPORT_MAX_CONVERSATION_BYTES:
            limit = settings.IMPORT_MAX_CONVERSATION_BYTES // 1_048_576
            self._fail(kept, f"a conversation of more than {limit} MB begins here")
        # Double the buffer, so that a long string is not scanned again for every small read.
        more = self._stream.read(max(CHUNK_BYTES, held))
        if not more:
            told = "the file ends in the middle: it was not saved whole" if depth else "is not a list of conversations"
            self._fail(len(self._buffer), told)
        self._begins += kept
        self._buffer = self._buffer[kept:] + more
        return 0

    def _open(self, kept: int, at: int, depth: int) -> None:
        """Check the bytes before an opening bracket."""
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
        """Check that nothing follows the last item before the end of the list, nor the list itself."""
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
    """Yield the non-blank lines with their numbers from 1. Raises ImportFileError for a line that is too long."""

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

"""Uploads in the database: compressed parts of the relevant files, read as streams."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from conversations.imports.sources import ArchiveMember
from conversations.imports.streams import Readable
from conversations.models import ConversationImport, ImportPart

PART_BYTES = 1_048_576
_LEVEL = 1  # Three times as fast as the default level, for 10 % more bytes.
_READ_BYTES = 262_144


def compressed(stream: Readable) -> Iterator[bytes]:
    """Compress a stream into parts of about a megabyte."""
    packer = zlib.compressobj(_LEVEL)
    piece = io.BytesIO()
    while read := stream.read(_READ_BYTES):
        piece.write(packer.compress(read))
        if piece.tell() >= PART_BYTES:
            yield piece.getvalue()
            piece = io.BytesIO()
    piece.write(packer.flush())
    yield piece.getvalue()


def stored_members(upload: ConversationImport) -> list[ArchiveMember]:
    """Return the files of an upload, each read in parts from the database."""
    return [
        ArchiveMember(file["name"], file["size"], partial(_open, upload, number))
        for number, file in enumerate(upload.files)
    ]


@contextmanager
def _open(upload: ConversationImport, file: int) -> Iterator[Readable]:
    yield _Stored(upload, file)


class _Stored:
    """A stream of one file of an upload."""

    def __init__(self, upload: ConversationImport, file: int) -> None:
        self._parts = ImportPart.objects.filter(upload=upload, file=file)
        self._number = 0
        self._unpacker = zlib.decompressobj()
        self._packed = b""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most ``size`` bytes; b'' at the end."""
        while True:
            read = self._unpacker.decompress(self._packed, max(size, 0))
            self._packed = self._unpacker.unconsumed_tail
            if read:
                return read
            part = self._parts.filter(number=self._number).values_list("data", flat=True).first()
            if part is None:
                return b""
            self._packed = bytes(part)
            self._number += 1

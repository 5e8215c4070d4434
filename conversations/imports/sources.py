"""The files to read in an upload: the file itself, or the relevant members of a zip archive."""

from __future__ import annotations

import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePosixPath
from typing import BinaryIO

from django.conf import settings

from .records import ImportFileError
from .streams import Readable

_ZIP, _EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
_OTHER_ARCHIVES = {b"\x1f\x8b": "gzip", b"Rar!": "RAR", b"7z\xbc\xaf": "7z", b"BZh": "bzip2", b"\xfd7zX": "xz"}
OWN_MANIFEST = "manifest.json"
"""The archive member that marks Keepsake's own export; its rows are in ``data/``."""
_OWN_ROWS = re.compile(r"data/[a-z_]{1,40}\.jsonl")
_WANTED = re.compile(r"conversations(-\d{1,6})?\.json", re.IGNORECASE)
_END_RECORD, _END_RECORD_BYTES = b"PK\x05\x06", 22
_LONGEST_COMMENT = 65_535
# A larger directory has over half a million names, and zipfile reads them all before the first can be checked.
_DIRECTORY_MAX_BYTES = 32 * 1_048_576
_ARCHIVE = re.compile(r"\.(?:zip|gz|tgz|rar|7z|bz2|xz|tar)$", re.IGNORECASE)
_MOST_ARCHIVES_TOLD = 5
_RATIO_COUNTS_FROM = 10 * 1_048_576
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """One file to read: its name, unpacked size in bytes, and a function that opens it at its beginning."""

    name: str
    size: int
    open: Callable[[], AbstractContextManager[Readable]]


def members_of(file: BinaryIO, name: str) -> list[ArchiveMember]:
    """Return the files with conversations in an upload called ``name``: itself, or members of a zip archive.

    Nothing is unpacked to disk, and other members are not read. ``file`` must stay open. Raises ImportFileError for an
    archive that is broken, encrypted, too large or not an export.
    """
    file.seek(0)
    beginning = file.read(4)
    size = file.seek(0, 2)
    for mark, kind in _OTHER_ARCHIVES.items():
        if beginning.startswith(mark):
            raise ImportFileError("", f"is a {kind} archive: unpack it, or pack it as zip")
    if beginning in (_ZIP, _EMPTY_ZIP):
        return _archived(file)
    _check_size(size)

    @contextmanager
    def opened() -> Iterator[Readable]:
        file.seek(0)
        yield file

    return [ArchiveMember(name, size, opened)]


def archives_within(file: BinaryIO) -> list[str]:
    """Return a remark on each archive in an uploaded archive that ``members_of`` took: it is not read."""
    file.seek(0)
    if file.read(4) not in (_ZIP, _EMPTY_ZIP):
        return []
    names = [info.filename for info in zipfile.ZipFile(file).infolist() if _ARCHIVE.search(info.filename)]
    told = [f"{name[:100]}: not read, it is an archive by itself; unpack it, and import it if it is an export"
            for name in names[:_MOST_ARCHIVES_TOLD]]  # fmt: skip
    more = len(names) - len(told)
    return [*told, *([f"and {more:,} archives more"] if more else [])]


def counted(members: Sequence[ArchiveMember], on_read: Callable[[int], object]) -> list[ArchiveMember]:
    """Return the same files; ``on_read`` is called with the number of bytes of each read."""

    def counting(member: ArchiveMember) -> ArchiveMember:
        @contextmanager
        def opened() -> Iterator[Readable]:
            with member.open() as stream:
                yield _Counted(stream, on_read)

        return replace(member, open=opened)

    return [counting(member) for member in members]


class _Counted:
    def __init__(self, stream: Readable, on_read: Callable[[int], object]) -> None:
        self._stream = stream
        self._on_read = on_read

    def read(self, size: int = -1, /) -> bytes:
        """Read and call ``on_read``."""
        read = self._stream.read(size)
        self._on_read(len(read))
        return read


def _archived(file: BinaryIO) -> list[ArchiveMember]:
    _check_directory(file)
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, ValueError, struct.error, NotImplementedError) as error:
        raise ImportFileError("", "is not a complete zip archive: perhaps its download broke off") from error
    chosen = _chosen(archive.infolist())
    for info in chosen:
        _check_member(info)
    _check_size(sum(info.file_size for info in chosen))
    return [ArchiveMember(info.filename, info.file_size, partial(_open, archive, info)) for info in chosen]


def _check_directory(file: BinaryIO) -> None:
    """Reject an archive whose directory, at its end, is too large for memory. Raises ImportFileError."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _LONGEST_COMMENT - _END_RECORD_BYTES))
    end = file.read()
    at = end.rfind(_END_RECORD)
    record = end[at : at + _END_RECORD_BYTES] if at >= 0 else b""
    if len(record) == _END_RECORD_BYTES and struct.unpack_from("<L", record, 12)[0] > _DIRECTORY_MAX_BYTES:
        raise ImportFileError("", "is an archive of too many files: unpack it, and import its conversations.json")


def _chosen(infos: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the members of Keepsake's own export, else the numbered conversation files, else the unnumbered one."""
    files = [info for info in infos if not info.is_dir() and "__MACOSX" not in info.filename]
    own = {info.filename: info for info in files if info.filename == OWN_MANIFEST or _OWN_ROWS.fullmatch(info.filename)}
    if OWN_MANIFEST in own and len(own) > 1:
        return [own.pop(OWN_MANIFEST), *(own[name] for name in sorted(own))]
    wanted = [info for info in files if _WANTED.fullmatch(PurePosixPath(info.filename).name)]
    numbered = [info for info in wanted if "-" in PurePosixPath(info.filename).name]
    chosen = sorted(numbered or wanted, key=lambda info: info.filename)
    if not chosen:
        inner = next((info.filename for info in files if info.filename.lower().endswith(".zip")), "")
        hint = f"; it holds the archive {inner[:100]}, which may be it: unpack the outer one" if inner else ""
        raise ImportFileError("", f"holds no conversations.json, so it is not an export that Keepsake knows{hint}")
    names = [info.filename for info in chosen]
    if len({PurePosixPath(name).parent for name in names}) > 1 or len(set(names)) != len(names):
        raise ImportFileError("", f"holds more than one export: {', '.join(names)[:200]}")
    return chosen


def _check_member(info: zipfile.ZipInfo) -> None:
    name = info.filename
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or ":" in name:
        raise ImportFileError(name[:100], "has a name that leads out of the archive")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise ImportFileError(name[:100], "is a link, not a file")
    if info.flag_bits & 1:
        raise ImportFileError(name[:100], "is locked with a password: unpack it, and import what is inside")
    if info.compress_type not in _METHODS:
        raise ImportFileError(name[:100], "is packed in a way that is not known: unpack it, and import what is inside")
    ratio = info.file_size / max(1, info.compress_size)
    if info.file_size > _RATIO_COUNTS_FROM and ratio > settings.IMPORT_MAX_RATIO:
        raise ImportFileError(
            name[:100], f"would become {ratio:,.0f} times as large when it is unpacked: no export does"
        )


def _check_size(size: int) -> None:
    if size > settings.IMPORT_MAX_CONTENT_BYTES:
        limit = settings.IMPORT_MAX_CONTENT_BYTES // 1_048_576
        raise ImportFileError(
            "", f"holds {size // 1_048_576:,} MB of conversations, and at most {limit:,} MB are imported"
        )


@contextmanager
def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[Readable]:
    """Open one member of an archive. It is never unpacked beyond its stated size."""
    try:
        with archive.open(info) as stream:
            yield stream
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ImportFileError(
            info.filename[:100], "is damaged: perhaps the download of the archive broke off"
        ) from error

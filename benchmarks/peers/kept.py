"""Filled databases that are kept between runs, so that the next run of the same scale starts at once.

A directory per scale and embedder holds PostgreSQL's data and a note with digests of what filled it. New migrations are
applied as usual. If a migration was changed or removed, or the filling code was changed, everything is filled again.

Runs that add rows work on a copy that the next run drops, so every run starts with the same rows.
"""

from __future__ import annotations

import fcntl
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from memory_project.embedded.account import Account
from memory_project.embedded.places import data_directory
from memory_project.embedded.postgres import OWNER_ROLE, Postgres

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "var" / "bench"
_HERE = Path(__file__).parent
_FILLS = ("plan.py", "system.py", "copying.py")
_FILLS_KEEPSAKE = (*_FILLS, "filling.py")
_FILLS_EARLIER = (*_FILLS_KEEPSAKE, "earlier_tables.sql")
_FILLS_PEERS = (*_FILLS, "adapters/agno_memory.py", "adapters/langgraph_store.py", "adapters/mem0_pgvector.py")


@dataclass(slots=True)
class Note:
    """The state of a directory: digests of what filled each database, empty if not filled, and further figures."""

    keepsake: str = ""
    earlier: str = ""
    peers: str = ""
    relations: int = 0
    migrations: dict[str, str] = field(default_factory=dict)
    added_to: bool = False


class Kept:
    """A directory with filled databases."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file = directory / "filled.json"
        known = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}
        self.note = Note(**known)
        self.data = data_directory(directory, Account.for_servers())

    def write(self) -> None:
        """Write the note atomically."""
        draft = self._file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self.note), indent=1) + "\n", encoding="utf-8")
        draft.replace(self._file)

    def empty(self) -> None:
        """Delete all databases. The servers must be stopped."""
        self.note = Note()
        self.write()
        shutil.rmtree(self.data / "postgres", ignore_errors=True)

    def empty_queues(self) -> None:
        """Delete the queues of an earlier run. The servers must be stopped."""
        shutil.rmtree(self.data / "valkey", ignore_errors=True)

    @property
    def is_outdated(self) -> bool:
        """Whether the data was filled by other code, or with migrations that were changed or removed."""
        known = migrations()
        changed = any(known.get(name) != digest for name, digest in self.note.migrations.items())
        return bool(self.note.keepsake) and (changed or self.note.keepsake != digest_of(_FILLS_KEEPSAKE))

    def note_keepsake(self, relations: int) -> None:
        """Note that Keepsake's tables are filled, with this number of relations."""
        self.note.keepsake = digest_of(_FILLS_KEEPSAKE)
        self.note.relations = relations
        self.note.migrations = migrations()
        self.write()

    @property
    def has_earlier(self) -> bool:
        """Whether the earlier tables are filled by the current code."""
        return self.note.earlier == digest_of(_FILLS_EARLIER)

    def note_earlier(self) -> None:
        """Note that the earlier tables are filled."""
        self.note.earlier = digest_of(_FILLS_EARLIER)
        self.write()

    @property
    def has_peers(self) -> bool:
        """Whether the peers' tables are filled by the current code."""
        return self.note.peers == digest_of(_FILLS_PEERS)

    def note_peers(self) -> None:
        """Note that the peers' tables are filled."""
        self.note.peers = digest_of(_FILLS_PEERS)
        self.write()

    # --- Databases ----------------------------------------------------------------------------------------------------

    def restore(self, postgres: Postgres) -> None:
        """Restore the databases from their copies. There must be no connections to them."""
        if not self.note.added_to:
            return
        with postgres.superuser() as connection:
            for copy in _databases(connection, "%\\_filled"):
                name = copy.removesuffix("_filled")
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
                _copy(connection, copy, name)
        self.note.added_to = False
        self.write()

    def drop_copy(self, postgres: Postgres, name: str) -> None:
        """Drop the outdated copy of a database."""
        with postgres.superuser() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(f"{name}_filled")))

    def prepare_to_add(self, postgres: Postgres) -> None:
        """Copy the databases that have no copy. There must be no connections to them."""
        with postgres.superuser() as connection:
            for name in ("keepsake", "peers"):
                if _databases(connection, name) and not _databases(connection, f"{name}\\_filled"):
                    _copy(connection, name, f"{name}_filled")
        self.note.added_to = True
        self.write()


@contextmanager
def kept_in(directory: Path) -> Iterator[Kept]:
    """Lock a directory and yield it. Exits when another run holds the lock."""
    directory.mkdir(parents=True, exist_ok=True)
    # The servers' account has to get to its own directories in there.
    directory.chmod(0o711)
    with (directory / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"Another benchmark runs on {directory}.")
        yield Kept(directory)


def migrations() -> dict[str, str]:
    """Return the digests of all migrations of this checkout, by room and name."""
    files = sorted(ROOT.glob("*/migrations/[0-9]*.py"))
    return {f"{file.parent.parent.name}/{file.stem}": sha256(file.read_bytes()).hexdigest() for file in files}


def digest_of(names: Sequence[str]) -> str:
    """Return a common digest of files of this package."""
    return sha256(b"\0".join((_HERE / name).read_bytes() for name in names)).hexdigest()


def _databases(connection: psycopg.Connection[Any], pattern: str) -> list[str]:
    return [row[0] for row in connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [pattern])]


def _copy(connection: psycopg.Connection[Any], source: str, target: str) -> None:
    """Copy a database with the file-copy strategy: gigabytes in seconds."""
    connection.execute(
        sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY").format(
            *map(sql.Identifier, (target, OWNER_ROLE, source))
        )
    )

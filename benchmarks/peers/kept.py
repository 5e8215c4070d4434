"""Filled databases that outlive a run, so that the next one with as many memories starts at once.

A directory for each number of memories and embedder holds PostgreSQL's data and a note of what fills it. Migrations
that are new since then are applied to what is there, as everywhere; when one is gone or was changed, or when what fills
the tables was changed, everything is filled anew.

Runs that add to the databases work on a copy that the next run throws away: each finds them as they were filled.
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
    """What a directory holds. The first are digests of what filled them, empty while nothing has."""

    keepsake: str = ""
    earlier: str = ""
    peers: str = ""
    relations: int = 0
    migrations: dict[str, str] = field(default_factory=dict)
    added_to: bool = False


class Kept:
    """One directory with filled databases."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._file = directory / "filled.json"
        known = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}
        self.note = Note(**known)
        self.data = data_directory(directory, Account.for_servers())

    def write(self) -> None:
        """Remember what the directory holds, all of it or as it was."""
        draft = self._file.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self.note), indent=1) + "\n", encoding="utf-8")
        draft.replace(self._file)

    def empty(self) -> None:
        """Remove all databases, the servers being stopped."""
        self.note = Note()
        self.write()
        shutil.rmtree(self.data / "postgres", ignore_errors=True)

    def empty_queues(self) -> None:
        """Remove what an earlier run left for the background, the servers being stopped."""
        shutil.rmtree(self.data / "valkey", ignore_errors=True)

    @property
    def is_outdated(self) -> bool:
        """Whether what is there was filled by something else, or by migrations that are no more."""
        known = migrations()
        changed = any(known.get(name) != digest for name, digest in self.note.migrations.items())
        return bool(self.note.keepsake) and (changed or self.note.keepsake != digest_of(_FILLS_KEEPSAKE))

    def note_keepsake(self, relations: int) -> None:
        """Remember that Keepsake's tables are filled, with so many relations."""
        self.note.keepsake = digest_of(_FILLS_KEEPSAKE)
        self.note.relations = relations
        self.note.migrations = migrations()
        self.write()

    @property
    def has_earlier(self) -> bool:
        """Whether the earlier tables are filled as they would be now."""
        return self.note.earlier == digest_of(_FILLS_EARLIER)

    def note_earlier(self) -> None:
        """Remember that the earlier tables are filled."""
        self.note.earlier = digest_of(_FILLS_EARLIER)
        self.write()

    @property
    def has_peers(self) -> bool:
        """Whether the peers' tables are filled as they would be now."""
        return self.note.peers == digest_of(_FILLS_PEERS)

    def note_peers(self) -> None:
        """Remember that the peers' tables are filled."""
        self.note.peers = digest_of(_FILLS_PEERS)
        self.write()

    # --- Databases ----------------------------------------------------------------------------------------------------

    def restore(self, postgres: Postgres) -> None:
        """Undo what an earlier run added. Nobody may be connected to the databases."""
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
        """Drop the copy of a database that is not the one to come back to any more."""
        with postgres.superuser() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(f"{name}_filled")))

    def prepare_to_add(self, postgres: Postgres) -> None:
        """Copy the databases of which there is no copy. Nobody may be connected to them."""
        with postgres.superuser() as connection:
            for name in ("keepsake", "peers"):
                if _databases(connection, name) and not _databases(connection, f"{name}\\_filled"):
                    _copy(connection, name, f"{name}_filled")
        self.note.added_to = True
        self.write()


@contextmanager
def kept_in(directory: Path) -> Iterator[Kept]:
    """Use a directory alone. Ends the program when another run does."""
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
    """The digests of all migrations of this checkout, by room and name."""
    files = sorted(ROOT.glob("*/migrations/[0-9]*.py"))
    return {f"{file.parent.parent.name}/{file.stem}": sha256(file.read_bytes()).hexdigest() for file in files}


def digest_of(names: Sequence[str]) -> str:
    """One digest of several of this package's files."""
    return sha256(b"\0".join((_HERE / name).read_bytes() for name in names)).hexdigest()


def _databases(connection: psycopg.Connection[Any], pattern: str) -> list[str]:
    return [row[0] for row in connection.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [pattern])]


def _copy(connection: psycopg.Connection[Any], source: str, target: str) -> None:
    """Copy a whole database, file by file: gigabytes in seconds."""
    connection.execute(
        sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {} STRATEGY FILE_COPY").format(
            *map(sql.Identifier, (target, OWNER_ROLE, source))
        )
    )

"""The embedded PostgreSQL: the wheel's programs, run as a plain child on a private Unix socket."""

from __future__ import annotations

import functools
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
from psycopg import sql

from .account import Account, ServerError
from .processes import Server, Signals, serves, stop_leftovers

DATABASE = "keepsake"
OWNER_ROLE = "keepsake_owner"
APPLICATION_ROLE = "keepsake"
EXTENSIONS = ("vector", "pg_trgm", "unaccent", "btree_gist")

_SUPERUSER = "postgres"
_FAST_THEN_IMMEDIATE: Signals = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 5.0))
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "120",
    "shared_buffers": "256MB",
    "work_mem": "16MB",
    "maintenance_work_mem": "128MB",
    "effective_cache_size": "1GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %u ",
    # A failed statement holds stored text, and so does the row it failed on: neither goes to the log.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# A throw-away cluster may lose everything at a power cut, so it need not wait for the disk.
# Its tests vacuum what they measure; a worker in between would hold rows back from being seen as settled.
_THROW_AWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


class Postgres(Server):
    """One PostgreSQL server with its data directory, two roles and one database.

    ``passwords`` maps the two roles to their passwords; the superuser has none and is let in by system user only.
    """

    def __init__(
        self,
        *,
        programs: Path,
        data: Path,
        sockets: Path,
        log: Path,
        account: Account,
        passwords: dict[str, str],
        throw_away: bool = False,
    ) -> None:
        self.programs = programs
        self.data = data
        self.sockets = sockets
        self.passwords = passwords
        self.throw_away = throw_away
        settings = _SETTINGS | (_THROW_AWAY_SETTINGS if throw_away else {})
        settings["unix_socket_directories"] = str(sockets)
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        super().__init__(
            "PostgreSQL",
            [programs / "postgres", "-D", data, *options],
            log=log,
            environment=_ENVIRONMENT,
            account=account,
            stop_signals=_FAST_THEN_IMMEDIATE,
            orphan_signal=signal.SIGINT,
        )

    def start(self) -> None:
        """Start the server, after anything that an earlier one left behind; it may not answer yet."""
        is_ours = functools.partial(serves, program="postgres", argument=str(self.data), account=self.account)
        stop_leftovers(is_ours, _FAST_THEN_IMMEDIATE)
        if not self.data.exists():
            self._create_cluster()
        for lock in (self.data / "postmaster.pid", self.sockets / ".s.PGSQL.5432.lock"):
            _remove_if_stale(lock)
        self._write_access_rules()
        super().start()

    def wait_ready(self) -> None:
        """Wait until the server answers and its roles and database are there. Raises ServerError otherwise."""
        super().wait_ready()
        self._create_roles()
        self._create_database()

    def answers(self) -> bool:
        """Tell whether the server lets somebody in: it doesn't while it recovers from a crash."""
        try:
            with self.superuser():
                return True
        except psycopg.OperationalError:
            return False

    def url(self, role: str) -> str:
        """Return the database's address for one of the two roles."""
        return f"postgresql://{role}:{self.passwords[role]}@/{DATABASE}?host={self.sockets}"

    def _create_cluster(self) -> None:
        """Create the data directory; a half-made one never carries the final name."""
        draft = self.data.with_name(self.data.name + ".new")
        if draft.exists():
            shutil.rmtree(draft)
        account = self.account
        account.make_directory(draft)
        command: list[str | Path] = [
            *(self.programs / "initdb", "-D", draft, "--username", _SUPERUSER, "--encoding=UTF8"),
            *("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--lc-collate=C", "--lc-ctype=C.UTF-8"),
            *("--auth-local=peer", "--auth-host=reject"),
            *(["--no-sync"] if self.throw_away else []),
        ]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd="/", env=_ENVIRONMENT, check=False, **account.process_options
        )
        if done.returncode != 0:
            msg = f"PostgreSQL's data directory could not be created in {draft}:\n{done.stdout}{done.stderr}"
            raise ServerError(msg)
        draft.rename(self.data)

    def _write_access_rules(self) -> None:
        """Let the two roles in by password, and the superuser only for whoever started this copy."""
        account = self.account
        account.write(
            self.data / "pg_hba.conf",
            f"local all {_SUPERUSER} peer map=operator\nlocal all all scram-sha-256\n",
        )
        operators = {Account.current().name, account.name}
        account.write(
            self.data / "pg_ident.conf",
            "".join(f'operator "{name}" {_SUPERUSER}\n' for name in sorted(operators)),
        )

    @contextmanager
    def superuser(self, database: str = "postgres") -> Iterator[psycopg.Connection]:
        """Connect as the superuser, each statement for itself."""
        with psycopg.connect(
            host=str(self.sockets), user=_SUPERUSER, dbname=database, autocommit=True, connect_timeout=5
        ) as connection:
            yield connection

    def _create_roles(self) -> None:
        """Make the two roles what they have to be; only a throw-away server lets its owner make databases."""
        rights = sql.SQL("LOGIN NOSUPERUSER NOCREATEROLE")
        with self.superuser() as connection:
            known = {row[0] for row in connection.execute("SELECT rolname FROM pg_roles")}
            for role, password in self.passwords.items():
                connection.execute(
                    sql.SQL("{} ROLE {} {} {} PASSWORD {}").format(
                        sql.SQL("ALTER" if role in known else "CREATE"),
                        sql.Identifier(role),
                        rights,
                        sql.SQL("CREATEDB" if self.throw_away and role == OWNER_ROLE else "NOCREATEDB"),
                        sql.Literal(password),
                    )
                )

    def _create_database(self) -> None:
        """Create the database with its extensions, which an owner who is no superuser couldn't add.

        They go into the template too, so that every database made later (the tests' own) has them.
        """
        self._add_extensions("template1")
        with self.superuser() as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER_ROLE))
                )
        self._add_extensions(DATABASE)

    def _add_extensions(self, database: str) -> None:
        with self.superuser(database) as connection:
            for extension in EXTENSIONS:
                name = sql.Identifier(extension)
                connection.execute(sql.SQL("CREATE EXTENSION IF NOT EXISTS {}").format(name))
                connection.execute(sql.SQL("ALTER EXTENSION {} UPDATE").format(name))


def _remove_if_stale(lock: Path) -> None:
    """Remove a lock file that is unreadable after a power cut, or whose process id now belongs to another program.

    No server runs on this data when this is called. PostgreSQL itself copes with a lock whose process is gone, and then
    looks for memory still in use, but it takes any process with that id for a live server and stops at an empty file.
    """
    if not lock.exists():
        return
    first_line = lock.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    if not first_line.isdecimal() or psutil.pid_exists(int(first_line)):
        lock.unlink()

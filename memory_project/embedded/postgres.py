"""The embedded PostgreSQL: the wheel's programs, run as a child process on a private Unix socket."""

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
    # Failed statements and rows hold private text, so neither is logged.
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
}
# A temporary cluster may lose its data, so it does not wait for the disk.
# Tests vacuum what they measure; an autovacuum worker would keep rows from being marked all-visible.
_THROW_AWAY_SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


class Postgres(Server):
    """One PostgreSQL server with its data directory, two roles and one database.

    ``passwords`` maps the two roles to their passwords; the superuser has none and connects by peer authentication.
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
        """Stop leftovers of an earlier start and start the server; it may not answer yet."""
        is_ours = functools.partial(serves, program="postgres", argument=str(self.data), account=self.account)
        stop_leftovers(is_ours, _FAST_THEN_IMMEDIATE)
        if not self.data.exists():
            self._create_cluster()
        for lock in (self.data / "postmaster.pid", self.sockets / ".s.PGSQL.5432.lock"):
            _remove_if_stale(lock)
        self._write_access_rules()
        super().start()

    def wait_ready(self) -> None:
        """Wait until the server answers, and create its roles and database. Raises ServerError if it doesn't."""
        super().wait_ready()
        self._create_roles()
        self._create_database()

    def answers(self) -> bool:
        """Whether the server accepts connections: it doesn't while it recovers from a crash."""
        try:
            with self.superuser():
                return True
        except psycopg.OperationalError:
            return False

    def url(self, role: str) -> str:
        """Return the database's address for one of the two roles."""
        return f"postgresql://{role}:{self.passwords[role]}@/{DATABASE}?host={self.sockets}"

    def _create_cluster(self) -> None:
        """Create the data directory, under another name first, so that the final one is complete."""
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
        """Write pg_hba.conf: the two roles use passwords; only the system users of this copy may be superuser."""
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
        """Connect as the superuser in autocommit mode."""
        with psycopg.connect(
            host=str(self.sockets), user=_SUPERUSER, dbname=database, autocommit=True, connect_timeout=5
        ) as connection:
            yield connection

    def _create_roles(self) -> None:
        """Create or update the two roles. Only on a temporary server may the owner create databases."""
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
        """Create the database with its extensions, which only a superuser can add.

        The template database gets them, too, so that databases created later (by tests) have them.
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

    Call it only when no server runs on this data. PostgreSQL handles a lock whose process is gone (it checks shared
    memory), but it takes any process with that id for a live server and fails on an empty file.
    """
    if not lock.exists():
        return
    first_line = lock.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    if not first_line.isdecimal() or psutil.pid_exists(int(first_line)):
        lock.unlink()

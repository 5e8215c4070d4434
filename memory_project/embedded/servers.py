"""Both embedded servers of one copy: configured, started and stopped together."""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .account import Account, ServerError
from .places import (
    data_directory,
    postgres_programs,
    remove_socket_directory,
    socket_directory,
    temporary_directory,
    valkey_program,
)
from .postgres import APPLICATION_ROLE, OWNER_ROLE, Postgres
from .processes import Server
from .valkey import Valkey


class EmbeddedServers:
    """The servers whose addresses are not in the environment ``given``, with their data below ``var``.

    A ``DATABASE_URL`` or ``REDIS_URL`` in ``given`` replaces the embedded server. ``environment`` holds the variables
    that programs need, given addresses included. The caller holds the lock of ``var``.
    Raises ServerError when there is no account or no directory for them.
    """

    def __init__(self, var: Path, given: Mapping[str, str], *, throw_away: bool = False) -> None:
        if given.get("DATABASE_OWNER_URL") and not given.get("DATABASE_URL"):
            msg = "DATABASE_OWNER_URL is set but DATABASE_URL is not: set both, or neither."
            raise ServerError(msg)
        self.servers: list[Server] = []
        self._secrets = _secrets(var / "secrets.json")
        self.environment = {
            name: given[name] for name in ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL") if given.get(name)
        }
        self.environment["SECRET_KEY"] = given.get("SECRET_KEY") or self._secrets["secret_key"]
        self._sockets: Path | None = None
        if {"DATABASE_URL", "REDIS_URL"} <= self.environment.keys():
            return
        self._account = Account.for_servers()
        data = data_directory(var, self._account)
        self._sockets = socket_directory(var / "sockets", self._account)
        logs = var / "log"
        logs.mkdir(mode=0o700, exist_ok=True)
        if "DATABASE_URL" not in self.environment:
            postgres = Postgres(
                programs=postgres_programs(data, self._account),
                data=data / "postgres",
                sockets=self._sockets,
                log=logs / "postgres.log",
                account=self._account,
                passwords={role: self._secrets[role] for role in (OWNER_ROLE, APPLICATION_ROLE)},
                throw_away=throw_away,
            )
            self.servers.append(postgres)
            self.environment["DATABASE_URL"] = postgres.url(APPLICATION_ROLE)
            self.environment["DATABASE_OWNER_URL"] = postgres.url(OWNER_ROLE)
        if "REDIS_URL" not in self.environment:
            valkey = Valkey(
                program=valkey_program(data, self._account),
                data=data / "valkey",
                sockets=self._sockets,
                log=logs / "valkey.log",
                account=self._account,
                throw_away=throw_away,
            )
            self.servers.append(valkey)
            self.environment["REDIS_URL"] = valkey.url

    def start(self) -> None:
        """Start the servers and wait until they answer. Raises ServerError when one doesn't."""
        for server in self.servers:
            server.start()
        for server in self.servers:
            server.wait_ready()

    def stop(self) -> None:
        """Stop the servers and remove their sockets."""
        for server in self.servers:
            server.ask_to_stop()
        for server in self.servers:
            server.stop()
        if self._sockets:
            remove_socket_directory(self._sockets, self._account)


@contextmanager
def throw_away_servers(given: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Run servers in a temporary directory that is removed at the end; yield their environment variables."""
    account = Account.for_servers()
    directory = temporary_directory("keepsake-tests-", account)
    directory.chmod(0o711)
    try:
        servers = EmbeddedServers(directory, given, throw_away=True)
        try:
            servers.start()
            yield servers.environment | {"KEEPSAKE_VAR": str(directory)}
        finally:
            servers.stop()
    finally:
        shutil.rmtree(directory)


def _secrets(path: Path) -> dict[str, str]:
    """Return this copy's secret key and role passwords, generated at its first start."""
    known: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in ("secret_key", OWNER_ROLE, APPLICATION_ROLE):
        known.setdefault(name, secrets.token_urlsafe(48))
    Account.current().write(path, json.dumps(known))
    return known

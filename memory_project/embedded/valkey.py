"""The embedded Valkey: the wheel's program, run as a child process on a private Unix socket."""

from __future__ import annotations

import functools
import signal
from pathlib import Path

import redis

from .account import Account
from .processes import Server, Signals, serves, stop_leftovers

_STOP: Signals = ((signal.SIGTERM, 10.0),)
_CONFIGURATION = """\
port 0
unixsocket {socket}
unixsocketperm 700
dir "{data}"
appendonly {appendonly}
save ""
daemonize no
set-proc-title no
databases 64
# Cache entries expire and may be dropped for room; the queue's do not and never are.
maxmemory 256mb
maxmemory-policy volatile-lru
"""


class Valkey(Server):
    """One Valkey server with its data directory."""

    def __init__(
        self, *, program: Path, data: Path, sockets: Path, log: Path, account: Account, throw_away: bool = False
    ) -> None:
        self.data = data
        self.socket = sockets / "valkey.sock"
        self.configuration = data / "valkey.conf"
        self.throw_away = throw_away
        super().__init__(
            "Valkey",
            [program, self.configuration],
            log=log,
            environment={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            account=account,
            stop_signals=_STOP,
        )

    def start(self) -> None:
        """Stop leftovers of an earlier start and start the server; it may not answer yet."""
        is_ours = functools.partial(
            serves, program="valkey-server", argument=str(self.configuration), account=self.account
        )
        stop_leftovers(is_ours, _STOP)
        self.account.make_directory(self.data)
        text = _CONFIGURATION.format(
            socket=self.socket,
            data=str(self.data).replace("\\", "\\\\").replace('"', '\\"'),
            appendonly="no" if self.throw_away else "yes",
        )
        self.account.write(self.configuration, text)
        super().start()

    @property
    def url(self) -> str:
        """The server's address."""
        return f"unix://{self.socket}?db=0"

    def answers(self) -> bool:
        """Whether the server answers: it doesn't while it loads its file."""
        try:
            with redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

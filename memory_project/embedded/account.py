"""The system user that PostgreSQL and Valkey run as.

PostgreSQL refuses to run as root. Started by root, both servers run as a system user; otherwise they run as the
current user.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SYSTEM_USER = "keepsake"


class ServerError(Exception):
    """A server can't be started or kept running; the message says why and what helps."""


@dataclass(frozen=True)
class Account:
    """A system user: name, user id and group id."""

    name: str
    uid: int
    gid: int

    @classmethod
    def current(cls) -> Account:
        """Return the account of this process; its name is empty when the user id has none."""
        uid = os.geteuid()
        try:
            name = pwd.getpwuid(uid).pw_name
        except KeyError:
            name = ""
        return cls(name, uid, os.getegid())

    @classmethod
    def for_servers(cls) -> Account:
        """Return the account for the servers; as root, create it when it is missing.

        Raises ServerError when it can't be created, or when the user id has no name.
        """
        if os.geteuid() != 0:
            account = cls.current()
            if not account.name:
                msg = (
                    f"User id {account.uid} has no name on this machine, and PostgreSQL needs one. Run as a user "
                    "listed in /etc/passwd, or set DATABASE_URL and REDIS_URL to servers of your own."
                )
                raise ServerError(msg)
            return account
        try:
            entry = pwd.getpwnam(SYSTEM_USER)
        except KeyError:
            entry = _create_system_user()
        if entry.pw_uid == 0:
            msg = f"The user {SYSTEM_USER} has root's id, and PostgreSQL refuses to run as root."
            raise ServerError(msg)
        return cls(entry.pw_name, entry.pw_uid, entry.pw_gid)

    @property
    def process_options(self) -> dict[str, Any]:
        """Arguments for ``subprocess`` that start a program as this account."""
        if self.uid == os.geteuid():
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can(self, command: Sequence[str | Path]) -> bool:
        """Whether this account can run ``command`` successfully.

        It is run to find out: mode bits miss access lists, mount options and parent directories.
        """
        try:
            done = subprocess.run(command, capture_output=True, cwd="/", check=False, **self.process_options)
        except OSError:
            return False
        return done.returncode == 0

    def make_directory(self, path: Path) -> None:
        """Create ``path`` as a directory that only this account can enter.

        Raises ServerError when it exists and belongs to another user.
        """
        path.mkdir(mode=0o700, exist_ok=True)
        if os.geteuid() == 0 and path.lstat().st_uid == 0:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)
        if not self.owns(path):
            msg = (
                f"{path} belongs to another user: this copy was started by somebody else before. "
                "Start it as that user again, or remove that directory to begin with empty data."
            )
            raise ServerError(msg)
        path.chmod(0o700)

    def owns(self, path: Path) -> bool:
        """Whether ``path`` is a directory of this account, and no symbolic link."""
        return path.is_dir() and not path.is_symlink() and path.lstat().st_uid == self.uid

    def write(self, path: Path, text: str) -> None:
        """Write a file atomically that only this account can read."""
        draft = path.with_name(path.name + ".new")
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
            if self.uid != os.geteuid():
                os.fchown(file.fileno(), self.uid, self.gid)
        draft.replace(path)


def _create_system_user() -> pwd.struct_passwd:
    """Create the system user. Another copy may create it at the same time, so only its existence is checked."""
    program = shutil.which("useradd", path=os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin")
    complaint = "useradd was not found"
    if program:
        options = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent"]
        done = subprocess.run(
            [program, *options, "--shell", "/usr/sbin/nologin", SYSTEM_USER],
            capture_output=True,
            text=True,
            check=False,
        )
        complaint = done.stderr.strip()
    try:
        return pwd.getpwnam(SYSTEM_USER)
    except KeyError:
        msg = (
            f"PostgreSQL refuses to run as root, and the system user {SYSTEM_USER} could not be created "
            f"({complaint}). Create that user, or run as an ordinary user."
        )
        raise ServerError(msg) from None

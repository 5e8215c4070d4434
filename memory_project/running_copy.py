"""How ``manage.py`` in a second terminal finds the servers of the copy that ``make run`` keeps running.

The running copy publishes its addresses and secret key in a private file; settings take what is in it unless the
environment names a database of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

_NAME = "environment.json"


def publish(var: Path, environment: Mapping[str, str]) -> None:
    """Write what a command needs to use the servers of this copy, for its owner's eyes only."""
    draft = var / (_NAME + ".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({"var": str(var), "environment": dict(environment)}, file)
    draft.replace(var / _NAME)


def withdraw(var: Path) -> None:
    """Remove what was published: the servers stop."""
    (var / _NAME).unlink(missing_ok=True)


def use_running_copy(var: Path) -> None:
    """Complete this process's environment from what the copy published, if it runs.

    Nothing is mixed: with a DATABASE_URL of its own the environment stays as it is. A file that came along when the
    checkout was copied names other servers and is left alone.
    """
    if os.environ.get("DATABASE_URL"):
        return
    try:
        published = json.loads((var / _NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, PermissionError):
        return
    if published["var"] == str(var):
        for name, value in published["environment"].items():
            os.environ.setdefault(name, value)

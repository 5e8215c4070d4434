"""Lets ``manage.py`` in a second terminal use the servers of a running ``make run``.

The running copy publishes its addresses and secret key in a private file. Settings read it unless the environment
names a database.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

_NAME = "environment.json"


def publish(var: Path, environment: Mapping[str, str]) -> None:
    """Write the environment variables of this copy's servers to a file that only its owner can read."""
    draft = var / (_NAME + ".new")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump({"var": str(var), "environment": dict(environment)}, file)
    draft.replace(var / _NAME)


def withdraw(var: Path) -> None:
    """Delete the published file, before the servers stop."""
    (var / _NAME).unlink(missing_ok=True)


def use_running_copy(var: Path) -> None:
    """Add the environment variables published by a running copy to this process's environment.

    Does nothing if DATABASE_URL is set. A file that belongs to another directory, since the checkout was copied, is
    ignored.
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

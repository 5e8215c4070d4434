"""Reading files and JSON, with every way in which that fails told as an ImportFileError."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .records import ImportFileError


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text, without a byte order mark. Raises ImportFileError."""
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise ImportFileError("", f"can't be read: {error.strerror}") from error


def decode(content: bytes, place: str = "") -> str:
    """Return the text that bytes are in UTF-8, without a byte order mark. Raises ImportFileError with ``place``."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportFileError(place, f"is no UTF-8 text (byte {error.start})") from error


def parse_json(text: str, place: str = "") -> Any:
    """Return what a JSON text says. Raises ImportFileError with the line, or with ``place`` if that is given."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{place}, column {error.colno}" if place else f"line {error.lineno}, column {error.colno}"
        raise ImportFileError(where, f"is no JSON ({error.msg})") from error
    except RecursionError as error:
        raise ImportFileError(place, "is nested too deeply") from error

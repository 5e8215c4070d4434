"""Reads texts to train with. It needs no package: the environment of ``make tune`` has next to none."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def lines(name: str) -> list[str]:
    """Return the lines of a file below this folder, without empty ones."""
    return [line for line in (HERE / name).read_text(encoding="utf-8").splitlines() if line]


def labelled_lines(name: str) -> list[list[str]]:
    """Return the lines of a file, split at their tabs."""
    return [line.split("\t") for line in lines(name)]


def sections(name: str) -> dict[str, list[str]]:
    """Return the lines of a file below each of its headings, by the heading's first word: "# points: asks that …"."""
    found: dict[str, list[str]] = {}
    for line in lines(name):
        if line.startswith("# "):
            into = found.setdefault(line.removeprefix("# ").split(":")[0], [])
        else:
            into.append(line)
    return found

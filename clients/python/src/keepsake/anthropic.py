"""Anthropic's memory tool over the person's memory. Install ``keepsake[anthropic]``.

Below ``/memories`` each category is a directory and each memory a file. Files created by the tool have the path that
the model chose; other memories are ``/memories/<category>/<id>.txt``. Results use the texts of Anthropic's own tool.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from .errors import BadRequest, Conflict, KeepsakeError
from .steps import Call, Clients, Steps, arun, run

ROOT = "/memories"
_PATH = "memories/"
_CATEGORY = "knowledge"
_WIDTH = 6
_WAITS = "It waits for the person's approval. Until then it reads as before."
_MOST_AT_ONCE = 1_000
T = TypeVar("T")


class KeepsakeMemoryTool(BetaAbstractMemoryTool):
    """The memory tool for synchronous clients.

    Missing arguments are read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. Every method raises ToolError, whose
    message is for the model, also when a gate rejects a text.
    """

    def __init__(
        self,
        url: str = "",
        key: str = "",
        *,
        user: str = "",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._clients = Clients(url, key, user)

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """List a directory two levels deep, or show a file with line numbers."""
        return self._run(_view(command))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file that does not exist yet."""
        return self._run(_create(command))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return self._run(_str_replace(command))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line of a file."""
        return self._run(_insert(command))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Archive a file, or all files of a directory."""
        return self._run(_delete(command))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory to another path."""
        return self._run(_rename(command))

    def clear_all_memory(self) -> str:
        """Archive every file created by the tool; other memories are kept. The model can't call it."""
        return self._run(_clear())

    def close(self) -> None:
        """Close the connections."""
        self._clients.close()

    def _run(self, steps: Steps[T]) -> T:
        return run(_for_a_model(steps), self._clients.sync)


class AsyncKeepsakeMemoryTool(BetaAsyncAbstractMemoryTool):
    """The memory tool for asynchronous clients."""

    def __init__(
        self,
        url: str = "",
        key: str = "",
        *,
        user: str = "",
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        super().__init__(cache_control=cache_control)
        self._clients = Clients(url, key, user)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """List a directory two levels deep, or show a file with line numbers."""
        return await self._run(_view(command))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Create a file that does not exist yet."""
        return await self._run(_create(command))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        return await self._run(_str_replace(command))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert text after a line of a file."""
        return await self._run(_insert(command))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Archive a file, or all files of a directory."""
        return await self._run(_delete(command))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Move a file or a directory to another path."""
        return await self._run(_rename(command))

    async def clear_all_memory(self) -> str:
        """Archive every file created by the tool; other memories are kept. The model can't call it."""
        return await self._run(_clear())

    async def aclose(self) -> None:
        """Close the connections."""
        await self._clients.aclose()

    async def _run(self, steps: Steps[T]) -> T:
        return await arun(_for_a_model(steps), self._clients.awaited)


def _for_a_model(steps: Steps[T]) -> Steps[T]:
    """Run the steps and turn errors into ToolError with a message for the model."""
    try:
        return (yield from steps)
    except Conflict as error:
        if error.code == "version_conflict":
            raise ToolError("The file was changed meanwhile. View it again.") from error
        raise ToolError(error.detail) from error
    except KeepsakeError as error:
        raise ToolError(error.detail) from error


# --- Files ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _File:
    """A memory as a file."""

    id: str
    path: str
    text: str
    version: int
    metadata: Mapping[str, Any]
    verbatim: bool

    @property
    def size(self) -> int:
        return len(self.text.encode())


def _file(row: Mapping[str, Any]) -> _File:
    metadata = row["metadata"]
    path = metadata.get("path") or f"{ROOT}/{row['category']}/{row['id']}.txt"
    return _File(row["id"], path, row["content"], row["version"], metadata, row["verbatim"])


def _clean(path: str) -> str:
    """Normalise a path. Raises ToolError for one outside ``/memories``."""
    parts = path.split("/")
    if not path.startswith(ROOT):
        raise ToolError(f"Path must start with {ROOT}, got: {path}")
    if parts[1] != ROOT[1:] or ".." in parts:
        raise ToolError(f"Path {path} would escape {ROOT} directory")
    return "/".join(["", *(part for part in parts if part not in {"", "."})])


def _find(path: str) -> Steps[_File | None]:
    """Return the file at a path, or None."""
    page = yield Call("GET", _PATH, {"filters": {"metadata": {"path": path}}})
    if page["results"]:
        return _file(page["results"][0])
    named = re.fullmatch(rf"{ROOT}/(\w+)/([A-Za-z0-9]{{8}})\.txt", path)
    if named is None:
        return None
    page = yield Call("GET", _PATH, {"filters": {"id": named[2]}})
    found = [_file(each) for each in page["results"]]
    return next((each for each in found if each.path == path), None)


def _all(directory: str, **filters: Any) -> Steps[list[_File]]:
    """Return the files below a directory, sorted by path."""
    found: list[_File] = []
    number: int | None = 1
    where = {"filters": filters} if filters else {}
    while number is not None:
        page = yield Call("GET", _PATH, {"per_page": 100, "page": number, **where})
        found += [each for each in map(_file, page["results"]) if each.path.startswith(f"{directory}/")]
        number = number + 1 if page["next"] else None
    return sorted(found, key=lambda each: each.path)


def _must_find(path: str) -> Steps[_File]:
    found = yield from _find(_clean(path))
    if found is None:
        below = yield from _all(_clean(path))
        if below or _clean(path) == ROOT:
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
    return found


def _write(file: _File, text: str) -> Steps[str]:
    """Store a file's new text as a new version. Returns a note for the model if it waits for review, else ''."""
    body = {"content": text, "version": file.version, **({"verbatim": True} if file.verbatim else {})}
    answer = yield Call("PUT", f"{_PATH}{file.id}/", body=body)
    return f"\n{_WAITS}" if answer.get("proposal") else ""


# --- Commands -------------------------------------------------------------------------------------------------------


def _view(command: BetaMemoryTool20250818ViewCommand) -> Steps[str]:
    path = _clean(command.path)
    file = yield from _find(path)
    if file is not None:
        lines = file.text.split("\n")
        first = 1
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0])
            lines = lines[first - 1 : None if command.view_range[1] == -1 else command.view_range[1]]
        return f"Here's the content of {command.path} with line numbers:\n" + _numbered(lines, first)
    files = yield from _all(path)
    if not files and path != ROOT:
        raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
    listed = "\n".join(f"{_size(size)}\t{command.path}{name}" for name, size in _listed(path, files))
    return f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:\n{listed}"


def _listed(directory: str, files: Sequence[_File]) -> Iterator[tuple[str, int]]:
    """Yield names below a directory, two levels deep, with their sizes; a directory's is the sum of its files."""
    sizes: dict[str, int] = {}
    for file in files:
        parts = file.path.removeprefix(directory).lstrip("/").split("/")
        if any(part.startswith(".") for part in parts):
            continue
        for depth in range(1, min(len(parts), 2) + 1):
            name = "/".join(["", *parts[:depth]]) + ("/" if depth < len(parts) else "")
            sizes[name] = sizes.get(name, 0) + file.size
    yield "", sum(file.size for file in files)
    yield from sorted(sizes.items())


def _create(command: BetaMemoryTool20250818CreateCommand) -> Steps[str]:
    path = _clean(command.path)
    there = yield from _find(path)
    if there is not None or path == ROOT:
        raise ToolError(f"File {command.path} already exists")
    parts = path.removeprefix(f"{ROOT}/").split("/")
    body = {"content": command.file_text, "metadata": {"path": path}, "verbatim": True}
    category = parts[0] if len(parts) > 1 else _CATEGORY
    try:
        made = yield Call("POST", _PATH, body={**body, "category": category})
    except BadRequest as error:
        if error.code not in {"unknown_category", "bad_kind"}:
            raise
        made = yield Call("POST", _PATH, body={**body, "category": _CATEGORY})
    waits = "" if made["state"] == "active" else f"\n{_WAITS}"
    return f"File created successfully at: {command.path}{waits}"


def _str_replace(command: BetaMemoryTool20250818StrReplaceCommand) -> Steps[str]:
    file = yield from _must_find(command.path)
    old, new = command.old_str, command.new_str or ""
    places = [match.start() for match in re.finditer(f"(?={re.escape(old)})", file.text)] if old else []
    if not places:
        raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
    if len(places) > 1:
        lines = ", ".join(str(file.text.count("\n", 0, place) + 1) for place in places)
        raise ToolError(
            f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
            "Please ensure it is unique"
        )
    text = file.text.replace(old, new)
    waits = yield from _write(file, text)
    at = file.text.count("\n", 0, places[0])
    first = max(0, at - 2)
    snippet = _numbered(text.split("\n")[first : at + 3], first + 1)
    told = "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
    return f"{told}\n{snippet}{waits}"


def _insert(command: BetaMemoryTool20250818InsertCommand) -> Steps[str]:
    file = yield from _must_find(command.path)
    lines = file.text.removesuffix("\n").split("\n") if file.text else []
    if not 0 <= command.insert_line <= len(lines):
        raise ToolError(
            f"Invalid `insert_line` parameter: {command.insert_line}. It should be within the range [0, {len(lines)}]."
        )
    lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
    waits = yield from _write(file, "\n".join(lines) + "\n")
    return f"The file {command.path} has been edited.{waits}"


def _delete(command: BetaMemoryTool20250818DeleteCommand) -> Steps[str]:
    path = _clean(command.path)
    if path == ROOT:
        raise ToolError(f"Cannot delete the {ROOT} directory itself")
    file = yield from _find(path)
    files = [file] if file is not None else (yield from _all(path))
    if not files:
        raise ToolError(f"The path {command.path} does not exist")
    waits = yield from _put_away(files)
    return f"Successfully deleted {command.path}{waits}"


def _clear() -> Steps[str]:
    waits = yield from _put_away((yield from _all(ROOT, metadata={"path": "*"})))
    return f"All memory cleared{waits}"


def _put_away(files: Sequence[_File]) -> Steps[str]:
    """Archive files. Returns a note for the model if any deletion waits for review, else ''."""
    waits = False
    for start in range(0, len(files), _MOST_AT_ONCE):
        ids = [each.id for each in files[start : start + _MOST_AT_ONCE]]
        answer = yield Call("POST", f"{_PATH}bulk-delete/", body={"ids": ids})
        waits = waits or any(each["outcome"] == "proposed" for each in answer["results"])
    return f"\n{_WAITS}" if waits else ""


def _rename(command: BetaMemoryTool20250818RenameCommand) -> Steps[str]:
    old, new = _clean(command.old_path), _clean(command.new_path)
    if old == ROOT:
        raise ToolError(f"Cannot rename the {ROOT} directory itself")
    taken = (yield from _find(new)) or (yield from _all(new)) or new == ROOT
    if taken:
        raise ToolError(f"The destination {command.new_path} already exists")
    file = yield from _find(old)
    files = [file] if file is not None else (yield from _all(old))
    if not files:
        raise ToolError(f"The path {command.old_path} does not exist")
    waits = False
    for each in files:
        metadata = {**each.metadata, "path": new + each.path.removeprefix(old)}
        answer = yield Call("PATCH", f"{_PATH}{each.id}/", body={"metadata": metadata, "version": each.version})
        waits = waits or bool(answer.get("proposal"))
    return f"Successfully renamed {command.old_path} to {command.new_path}" + (f"\n{_WAITS}" if waits else "")


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first))


_UNITS: Sequence[tuple[str, Callable[[int], float]]] = (("B", float), ("K", lambda size: size / 1024))


def _size(size: int) -> str:
    """Format a size as Anthropic's tool does: 512B, 2K, 3.5K."""
    unit, of = _UNITS[size >= 1024]
    value = of(size)
    return f"{int(value)}{unit}" if value == int(value) else f"{value:.1f}{unit}"

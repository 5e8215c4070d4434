"""What the parsers return: validated conversations and messages; and ``Node``, a JSON value that knows its path."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from journal.exceptions import Refused

from ..policy import check_message, is_storable


class ImportFileError(Exception):
    """A file can't be imported. ``place`` is the place of the error: a line, or a path like ``[0].conversation``."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.place = place
        self.reason = reason

    @property
    def told(self) -> str:
        """The error as the continuation of a sentence about the file."""
        return f"it {self.reason}" if not self.place and self.reason.startswith(("is ", "holds ")) else str(self)


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message. ``source_id`` is its id in the file; ``at`` is None where the file gives no time."""

    role: str
    content: str
    speaker: str = ""
    at: datetime | None = None
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """One conversation. ``external_id`` is stable, so that a second import recognises it.

    ``skipped`` counts by reason what is not imported. ``notes`` are lines on differences between the file and what is
    stored. ``place`` is its place in the file.
    """

    external_id: str
    title: str
    messages: tuple[ParsedMessage, ...]
    skipped: Mapping[str, int] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A whole file of a format that is parsed at once."""

    channel: str
    conversations: tuple[ParsedConversation, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes of all conversations."""
        return tuple(note for conversation in self.conversations for note in conversation.notes)


def checked(place: str, message: ParsedMessage) -> ParsedMessage:
    """Return the message if it can be stored. Raises ImportFileError with its place."""
    try:
        check_message(message.role, message.content, message.speaker, message.at)
    except Refused as error:
        raise ImportFileError(place, error.detail) from error
    return message


def checked_name(place: str, name: str, limit: int) -> str:
    """Return a title or id of at most ``limit`` characters. Raises ImportFileError with its place."""
    if len(name) > limit:
        raise ImportFileError(place, f"has more than {limit} characters")
    if not is_storable(name):
        raise ImportFileError(place, "holds a NUL character or half a surrogate pair, which can't be stored")
    return name


def distinct(conversations: list[ParsedConversation], place: Callable[[int], str]) -> tuple[ParsedConversation, ...]:
    """Return the conversations if their ids are distinct. Raises ImportFileError with the second one's place."""
    seen: set[str] = set()
    for number, conversation in enumerate(conversations):
        if conversation.external_id in seen:
            raise ImportFileError(place(number), f"the id {conversation.external_id!r} is there twice")
        seen.add(conversation.external_id)
    return tuple(conversations)


class Node:
    """A value in a JSON document that knows its path, for error messages.

    The ``as_…`` methods return the value as that type or raise ImportFileError with the path.
    """

    __slots__ = ("_step", "_within", "value")

    def __init__(self, value: Any, path: str = "", within: Node | None = None) -> None:
        self.value = value
        self._step = path
        self._within = within

    @property
    def path(self) -> str:
        """The value's path, such as ``[0].conversation``. Built on access, since only errors need it."""
        if self._within is None:
            return self._step
        before = self._within.path
        return before + self._step if before else self._step.removeprefix(".")

    def __getitem__(self, key: str) -> Node:
        """Return a member of an object; its value is None when it is missing."""
        return Node(self.as_object().get(key), "." + key[:60], self)

    def get(self, key: str) -> Node:
        """Return a member of an object; its value is None, too, when the object itself is missing."""
        return Node(None, "." + key, self) if self.value is None else self[key]

    def as_object(self) -> dict[str, Any]:
        """Return the object."""
        if not isinstance(self.value, dict):
            self.fail("is not an object")
        members: dict[str, Any] = self.value
        return members

    def as_items(self) -> list[Node]:
        """Return the items of a list."""
        if not isinstance(self.value, list):
            self.fail("is missing" if self.value is None else "is not a list")
        return [Node(item, f"[{number}]", self) for number, item in enumerate(self.value)]

    def as_items_or_nothing(self) -> list[Node]:
        """Return the items of a list, none when it is missing."""
        return [] if self.value is None else self.as_items()

    def as_text(self) -> str:
        """Return a string that is not blank."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail("is missing" if self.value is None else "is not text")
        return str(self.value)

    def as_text_or_nothing(self) -> str:
        """Return a string, or '' when it is missing."""
        if self.value is not None and not isinstance(self.value, str):
            self.fail("is not text")
        return self.value or ""

    def fail(self, reason: str) -> NoReturn:
        """Raise ImportFileError for this place."""
        raise ImportFileError(self.path or "the document", reason)


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text, without a byte order mark. Raises ImportFileError."""
    try:
        return decode(path.read_bytes())
    except OSError as error:
        raise ImportFileError("", f"can't be read: {error.strerror}") from error


def decode(content: bytes, place: str = "") -> str:
    """Decode UTF-8 without a byte order mark. Raises ImportFileError with ``place``."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportFileError(place, f"is not UTF-8 text (byte {error.start})") from error


def parse_json(text: str, place: str = "") -> Any:
    """Parse JSON. Raises ImportFileError with the line, or with ``place`` if that is given."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{place}, column {error.colno}" if place else f"line {error.lineno}, column {error.colno}"
        raise ImportFileError(where, f"is not JSON ({error.msg})") from error
    except RecursionError as error:
        raise ImportFileError(place, "is nested too deeply") from error

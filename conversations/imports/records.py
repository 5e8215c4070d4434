"""What the parsers hand over: conversations as a file has them, checked, with nothing written anywhere."""

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
    """A file that can't be imported. ``place`` says where in it: a line, or a path like ``[0].conversation``."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.place = place
        self.reason = reason

    @property
    def told(self) -> str:
        """What is wrong, as it follows on words about the file."""
        return f"it {self.reason}" if not self.place and self.reason.startswith(("is ", "holds ")) else str(self)


@dataclass(frozen=True, slots=True)
class ParsedMessage:
    """One message. ``source_id`` is what the file calls it; ``at`` is None where the file gives no time."""

    role: str
    content: str
    speaker: str = ""
    at: datetime | None = None
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class ParsedConversation:
    """One conversation. ``external_id`` names it for good, so that a second import finds it again.

    ``skipped`` counts by reason what the file holds of it and is not imported. ``notes`` tells, a line each, where what
    is stored differs from what the file holds. ``place`` says where in the file it stands.
    """

    external_id: str
    title: str
    messages: tuple[ParsedMessage, ...]
    skipped: Mapping[str, int] = field(default_factory=Counter)
    notes: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A whole file of a form that is read at once."""

    channel: str
    conversations: tuple[ParsedConversation, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What the conversations have to tell, together."""
        return tuple(note for conversation in self.conversations for note in conversation.notes)


def checked(place: str, message: ParsedMessage) -> ParsedMessage:
    """The message, if it may be stored. Raises ImportFileError that names its place."""
    try:
        check_message(message.role, message.content, message.speaker)
    except Refused as error:
        raise ImportFileError(place, error.detail) from error
    return message


def checked_name(place: str, name: str, limit: int) -> str:
    """A title or an id, if it fits. Raises ImportFileError that names its place."""
    if len(name) > limit:
        raise ImportFileError(place, f"has more than {limit} characters")
    if not is_storable(name):
        raise ImportFileError(place, "holds a NUL character or half a surrogate pair, which can't be stored")
    return name


def distinct(conversations: list[ParsedConversation], place: Callable[[int], str]) -> tuple[ParsedConversation, ...]:
    """The conversations, if no two have the same id. Raises ImportFileError that names the second one's place."""
    seen: set[str] = set()
    for number, conversation in enumerate(conversations):
        if conversation.external_id in seen:
            raise ImportFileError(place(number), f"the id {conversation.external_id!r} is there twice")
        seen.add(conversation.external_id)
    return tuple(conversations)


class Node:
    """A value in a JSON document that knows its path, so that whatever is wrong with it can be found.

    The ``as_…`` methods return the value as that type, or raise ImportFileError with the path.
    """

    __slots__ = ("_step", "_within", "value")

    def __init__(self, value: Any, path: str = "", within: Node | None = None) -> None:
        self.value = value
        self._step = path
        self._within = within

    @property
    def path(self) -> str:
        """Where the value stands, such as ``[0].conversation``. Put together when somebody asks: hardly ever."""
        if self._within is None:
            return self._step
        before = self._within.path
        return before + self._step if before else self._step.removeprefix(".")

    def __getitem__(self, key: str) -> Node:
        """A member of an object; its value is None when it is missing."""
        return Node(self.as_object().get(key), "." + key[:60], self)

    def get(self, key: str) -> Node:
        """The same, with None too when the object itself is missing."""
        return Node(None, "." + key, self) if self.value is None else self[key]

    def as_object(self) -> dict[str, Any]:
        """The object itself."""
        if not isinstance(self.value, dict):
            self.fail("is not an object")
        members: dict[str, Any] = self.value
        return members

    def as_items(self) -> list[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.fail("is missing" if self.value is None else "is not a list")
        return [Node(item, f"[{number}]", self) for number, item in enumerate(self.value)]

    def as_items_or_nothing(self) -> list[Node]:
        """The items of a list, none when it is missing."""
        return [] if self.value is None else self.as_items()

    def as_text(self) -> str:
        """A string with something in it."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail("is missing" if self.value is None else "is not text")
        return str(self.value)

    def as_text_or_nothing(self) -> str:
        """A string, or the empty one when it is missing."""
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
    """Return the text that bytes are in UTF-8, without a byte order mark. Raises ImportFileError with ``place``."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ImportFileError(place, f"is not UTF-8 text (byte {error.start})") from error


def parse_json(text: str, place: str = "") -> Any:
    """Return what a JSON text says. Raises ImportFileError with the line, or with ``place`` if that is given."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        where = f"{place}, column {error.colno}" if place else f"line {error.lineno}, column {error.colno}"
        raise ImportFileError(where, f"is not JSON ({error.msg})") from error
    except RecursionError as error:
        raise ImportFileError(place, "is nested too deeply") from error

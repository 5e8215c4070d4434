"""What the parsers hand over: conversations as a file has them, checked, with nothing written anywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from journal.exceptions import Refused

from ..policy import check_message, is_storable


class ImportFileError(Exception):
    """A file that can't be imported. ``place`` says where in it: a line, or a path like ``[0].conversation``."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.place = place
        self.reason = reason


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
    """One conversation. ``external_id`` names it for good, so that a second import finds it again."""

    external_id: str
    title: str
    messages: tuple[ParsedMessage, ...]


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A whole file. ``notes`` tells, a line each, where what is stored differs from what the file holds."""

    channel: str
    conversations: tuple[ParsedConversation, ...]
    notes: tuple[str, ...] = ()


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
            raise ImportFileError(place(number), f"the id {conversation.external_id!r} was there before")
        seen.add(conversation.external_id)
    return tuple(conversations)


class Node:
    """A value in a JSON document that knows its path, so that whatever is wrong with it can be found.

    The ``as_…`` methods return the value as that type, or raise ImportFileError with the path.
    """

    def __init__(self, value: Any, path: str = "") -> None:
        self.value = value
        self.path = path

    def __getitem__(self, key: str) -> Node:
        """A member of an object; its value is None when it is missing."""
        return Node(self.as_object().get(key), f"{self.path}.{key}" if self.path else key)

    def as_object(self) -> dict[str, Any]:
        """The object itself."""
        if not isinstance(self.value, dict):
            self.fail("is no object")
        members: dict[str, Any] = self.value
        return members

    def as_items(self) -> list[Node]:
        """The items of a list."""
        if not isinstance(self.value, list):
            self.fail("is missing" if self.value is None else "is no list")
        return [Node(item, f"{self.path}[{number}]") for number, item in enumerate(self.value)]

    def as_text(self) -> str:
        """A string with something in it."""
        if not isinstance(self.value, str) or not self.value.strip():
            self.fail("is missing" if self.value is None else "is no text")
        return str(self.value)

    def as_text_or_nothing(self) -> str:
        """A string, or the empty one when it is missing."""
        if self.value is not None and not isinstance(self.value, str):
            self.fail("is no text")
        return self.value or ""

    def fail(self, reason: str) -> None:
        """Raise ImportFileError for this place."""
        raise ImportFileError(self.path or "the document", reason)

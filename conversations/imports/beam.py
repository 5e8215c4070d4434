"""BEAM: long chats with an assistant, all in one JSON file."""

from __future__ import annotations

from datetime import UTC, datetime

from .documents import parse_json
from .records import ImportFileError, Node, ParsedConversation, ParsedFile, ParsedMessage, checked_name, distinct
from .spacing import Collector, spaced

CHANNEL = "beam"
NOON = 12


def parse_beam(text: str) -> ParsedFile:
    """Read a BEAM file: a conversation for each chat.

    A message has the day alone; those of one day follow each other from noon UTC on, which is that day in nearly every
    time zone. One without a day belongs to the day before it. A message's ``source_id`` is its ``id``. What is longer
    than a message may be is cut, and the notes say so. Raises ImportFileError.
    """
    chats = Node(parse_json(text))["chats"].as_items()
    if not chats:
        raise ImportFileError("chats", "the file holds no conversation")
    conversations: list[ParsedConversation] = []
    for chat in chats:
        name = checked_name(chat["id"].path, _id(chat["id"]), 255)
        collector = Collector(name)
        day: datetime | None = None
        place = 0
        for message in chat["messages"].as_items():
            told = _day(message["time"])
            if told and told != day:
                day, place = told, 0
            if day is None:
                raise ImportFileError(message["time"].path, "is missing, and no message before it has a day")
            role, content = message["role"].as_text(), message["content"].as_text_or_nothing()
            at = spaced(day, place)
            collector.add(message, ParsedMessage(role, content, at=at, source_id=_id(message["id"])))
            place += 1
        title = checked_name(chat.path, name, 200)
        conversations.append(ParsedConversation(name, title, collector.some(chat), notes=tuple(collector.notes)))
    return ParsedFile(CHANNEL, distinct(conversations, lambda number: chats[number].path))


def _id(node: Node) -> str:
    return str(node.value) if type(node.value) is int else node.as_text()


def _day(node: Node) -> datetime | None:
    """Read a day such as ``March-15-2024`` as its noon, or None when there is none."""
    if node.value is None:
        return None
    try:
        return datetime.strptime(node.as_text(), "%B-%d-%Y").replace(hour=NOON, tzinfo=UTC)
    except ValueError as error:
        raise ImportFileError(node.path, f"{node.value!r} is no day like 'March-15-2024'") from error

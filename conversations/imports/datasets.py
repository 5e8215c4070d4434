"""Parsers of the BEAM and LoCoMo datasets, each one JSON file."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from .gathering import Collector, spaced
from .records import (
    ImportFileError,
    Node,
    ParsedConversation,
    ParsedFile,
    ParsedMessage,
    checked_name,
    distinct,
    parse_json,
)

NOON = 12


def parse_beam(text: str) -> ParsedFile:
    """Parse a BEAM file: a conversation for each chat.

    Messages have a day only. Those of a day get times from noon UTC on, which is the same day in nearly every time
    zone. A message without a day gets that of the message before. ``source_id`` is the message's ``id``. Too long
    messages are cut, with a note. Raises ImportFileError.
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
    return ParsedFile("beam", distinct(conversations, lambda number: chats[number].path))


def _id(node: Node) -> str:
    return str(node.value) if type(node.value) is int else node.as_text()


def _day(node: Node) -> datetime | None:
    """Parse a day such as ``March-15-2024`` to its noon in UTC; None when it is missing."""
    if node.value is None:
        return None
    try:
        return datetime.strptime(node.as_text(), "%B-%d-%Y").replace(hour=NOON, tzinfo=UTC)
    except ValueError as error:
        raise ImportFileError(node.path, f"{node.value!r} is not a day like 'March-15-2024'") from error


_SESSION = re.compile(r"session_(\d+)")


def parse_locomo(text: str, *, user_speaker: str = "") -> ParsedFile:
    """Parse a LoCoMo file: a conversation for each sample, with its sessions in order.

    The user is ``user_speaker``, by default ``speaker_a``; the other speaker is the assistant. Captions of pictures are
    appended in brackets. Times are taken as UTC. ``source_id`` is the message's ``dia_id``. Raises ImportFileError.
    """
    samples = Node(parse_json(text)).as_items()
    if not samples:
        raise ImportFileError("", "the file holds no conversation")
    conversations = [_parse_sample(sample, user_speaker) for sample in samples]
    return ParsedFile("locomo", distinct(conversations, lambda number: samples[number].path))


def _parse_sample(sample: Node, user_speaker: str) -> ParsedConversation:
    name = checked_name(sample["sample_id"].path, sample["sample_id"].as_text(), 255)
    said = sample["conversation"]
    speakers = [said["speaker_a"].as_text(), said["speaker_b"].as_text()]
    user = user_speaker or speakers[0]
    if user not in speakers:
        raise ImportFileError(said.path, f"nobody is called {user!r}: the speakers are {' and '.join(speakers)}")
    collector = Collector(name)
    for session in _sessions(said):
        turns = session.as_items()
        if not turns:
            continue
        start = _time(said[f"{session.path.rpartition('.')[2]}_date_time"])
        for place, turn in enumerate(turns):
            speaker = turn["speaker"].as_text()
            role = "user" if speaker == user else "assistant"
            at = spaced(start, place)
            collector.add(turn, ParsedMessage(role, _content(turn), speaker, at, turn["dia_id"].as_text()))
    title = checked_name(said.path, " and ".join(speakers), 200)
    return ParsedConversation(name, title, collector.some(said), notes=tuple(collector.notes))


def _sessions(said: Node) -> list[Node]:
    """Return the sessions in order of their numbers."""
    numbered = [(int(match[1]), key) for key in said.as_object() if (match := _SESSION.fullmatch(key))]
    return [said[key] for _, key in sorted(numbered)]


def _content(turn: Node) -> str:
    caption = turn["blip_caption"].as_text_or_nothing()
    return " ".join(part for part in (turn["text"].as_text_or_nothing(), caption and f"[image: {caption}]") if part)


def _time(node: Node) -> datetime:
    """Parse a time such as ``1:56 pm on 8 May, 2023`` as UTC. Raises ImportFileError."""
    try:
        return datetime.strptime(node.as_text(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise ImportFileError(node.path, f"{node.value!r} is not a time like '1:56 pm on 8 May, 2023'") from error

"""LoCoMo: long talks between two people in dated sessions, a list of samples in one JSON file."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from .documents import parse_json
from .records import ImportFileError, Node, ParsedConversation, ParsedFile, ParsedMessage, checked_name, distinct
from .spacing import Collector, spaced

CHANNEL = "locomo"
_SESSION = re.compile(r"session_(\d+)")


def parse_locomo(text: str, *, user_speaker: str = "") -> ParsedFile:
    """Read a LoCoMo file: a conversation for each sample, its sessions one after the other.

    ``speaker_a`` is the user and everybody else the assistant, unless ``user_speaker`` names ``speaker_b``. What a
    picture shows is added in brackets to the text beside it. The times are taken as UTC. A message's ``source_id`` is
    its ``dia_id``. Raises ImportFileError.
    """
    samples = Node(parse_json(text)).as_items()
    if not samples:
        raise ImportFileError("", "the file holds no conversation")
    conversations = [_parse_sample(sample, user_speaker) for sample in samples]
    return ParsedFile(CHANNEL, distinct(conversations, lambda number: samples[number].path))


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
    """The sessions in order of their numbers; a date without a session is none."""
    numbered = [(int(match[1]), key) for key in said.as_object() if (match := _SESSION.fullmatch(key))]
    return [said[key] for _, key in sorted(numbered)]


def _content(turn: Node) -> str:
    caption = turn["blip_caption"].as_text_or_nothing()
    return " ".join(part for part in (turn["text"].as_text_or_nothing(), caption and f"[image: {caption}]") if part)


def _time(node: Node) -> datetime:
    """Read a time such as ``1:56 pm on 8 May, 2023``."""
    try:
        return datetime.strptime(node.as_text(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise ImportFileError(node.path, f"{node.value!r} is no time like '1:56 pm on 8 May, 2023'") from error

"""Parser of Keepsake's JSON Lines format: one message per line, each a JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .gathering import iso_time
from .records import ImportFileError, Node, ParsedConversation, ParsedMessage, checked, checked_name, parse_json
from .sources import ArchiveMember
from .streams import read_lines

CHANNEL = "jsonl"
REQUIRED = ("conversation", "role", "content")
OPTIONAL = ("speaker", "at", "title")


def read_jsonl(members: Sequence[ArchiveMember]) -> Iterator[ParsedConversation]:
    """Yield the conversations of JSON lines. The lines of one conversation need not be adjacent; their order counts.

    A conversation is yielded after its last line, so only unfinished ones are in memory. The title is the first one
    given. ``source_id`` is the line number, from 1. Blank lines are skipped. Raises ImportFileError, also for an
    unknown key, which would be lost.
    """
    for member in members:
        last = {name: number for number, name, _, _ in _messages(member)}
        if not last:
            raise ImportFileError("", "the file holds no message")
        said: dict[str, list[ParsedMessage]] = {}
        titles: dict[str, str] = {}
        for number, name, title, message in _messages(member):
            said.setdefault(name, []).append(message)
            if title:
                titles.setdefault(name, title)
            if last[name] == number:
                yield ParsedConversation(name, titles.pop(name, ""), tuple(said.pop(name)), place=f"line {number}")


def _messages(member: ArchiveMember) -> Iterator[tuple[int, str, str, ParsedMessage]]:
    """Yield each line's number, conversation, title and message."""
    with member.open() as stream:
        for number, line in read_lines(stream):
            yield number, *_message(line, number)


def _message(line: bytes, number: int) -> tuple[str, str, ParsedMessage]:
    place = f"line {number}"
    try:
        parsed = parse_json(line.decode(), place)
    except UnicodeDecodeError as error:
        raise ImportFileError(f"{place}, byte {error.start + 1}", "is not UTF-8 text") from error
    if not isinstance(parsed, dict):
        raise ImportFileError(place, "is not a JSON object")
    unknown = sorted(set(parsed) - {*REQUIRED, *OPTIONAL})
    if unknown:
        known = ", ".join((*REQUIRED, *OPTIONAL))
        raise ImportFileError(place, f"{', '.join(unknown)[:200]} is not known; a line has {known}")
    told = {name: Node(parsed.get(name), f"{place}, {name}") for name in (*REQUIRED, *OPTIONAL)}
    name = checked_name(told["conversation"].path, told["conversation"].as_text(), 255)
    message = ParsedMessage(
        told["role"].as_text(),
        told["content"].as_text(),
        told["speaker"].as_text_or_nothing(),
        iso_time(told["at"]),
        str(number),
    )
    title = checked_name(told["title"].path, told["title"].as_text_or_nothing(), 200)
    return name, title, checked(place, message)

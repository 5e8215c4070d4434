"""Keepsake's own form: one message a line, each a JSON object."""

from __future__ import annotations

from datetime import UTC, datetime

from .documents import parse_json
from .records import ImportFileError, Node, ParsedConversation, ParsedFile, ParsedMessage, checked, checked_name

CHANNEL = "jsonl"
REQUIRED = ("conversation", "role", "content")
OPTIONAL = ("speaker", "at", "title")


def parse_jsonl(text: str) -> ParsedFile:
    """Read one message a line; those of one conversation may stand apart, their order counts. Empty lines are skipped.

    The title is the first that any line of the conversation gives. A message's ``source_id`` is the number of its line,
    from 1. Raises ImportFileError, also for a member that is not known: it would be lost.
    """
    messages: dict[str, list[ParsedMessage]] = {}
    titles: dict[str, str] = {}
    # Not splitlines(): JSON texts may hold other separators, such as U+2028, unescaped.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        parsed = parse_json(line, place)
        if not isinstance(parsed, dict):
            raise ImportFileError(place, "is no JSON object")
        unknown = sorted(set(parsed) - {*REQUIRED, *OPTIONAL})
        if unknown:
            known = ", ".join((*REQUIRED, *OPTIONAL))
            raise ImportFileError(place, f"{', '.join(unknown)} is not known; a line has {known}")
        told = {name: Node(parsed.get(name), f"{place}, {name}") for name in (*REQUIRED, *OPTIONAL)}
        name = checked_name(told["conversation"].path, told["conversation"].as_text(), 255)
        message = ParsedMessage(
            told["role"].as_text(),
            told["content"].as_text(),
            told["speaker"].as_text_or_nothing(),
            _time(told["at"]),
            str(number),
        )
        messages.setdefault(name, []).append(checked(place, message))
        title = checked_name(told["title"].path, told["title"].as_text_or_nothing(), 200)
        if title:
            titles.setdefault(name, title)
    if not messages:
        raise ImportFileError("", "the file holds no message")
    conversations = tuple(
        ParsedConversation(name, titles.get(name, ""), tuple(said)) for name, said in messages.items()
    )
    return ParsedFile(CHANNEL, conversations)


def _time(node: Node) -> datetime | None:
    """Read an ISO 8601 time, UTC unless it says otherwise; None when there is none."""
    if node.value is None:
        return None
    try:
        at = datetime.fromisoformat(node.as_text())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ImportFileError(node.path, f"{node.value!r} is no ISO 8601 time") from error

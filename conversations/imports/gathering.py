"""Shared parts of the parsers: collecting and cleaning messages, finding the active branch, parsing times."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.conf import settings

from .records import ImportFileError, Node, ParsedConversation, ParsedMessage, checked, checked_name

TITLE_CHARACTERS = 200
PARTS = 10
CUT_MARKER = " […the rest was cut when it was imported]"
# Control characters except tabs and line ends, lone surrogates, and ChatGPT's markers of web citations.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\ue200[^\ue201]{0,2000}\ue201")
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")


class Gathering:
    """Collects the messages of one conversation in order and counts what is skipped.

    ``began`` is the time given to leading messages without one.
    """

    def __init__(self, conversation: Node, began: datetime | None) -> None:
        self._node = conversation
        self._at = began
        self._messages: list[ParsedMessage] = []
        self._notes: list[str] = []
        self.skipped: Counter[str] = Counter()

    def skip(self, reason: str, count: int = 1) -> None:
        """Count skipped messages."""
        if count:
            self.skipped[reason] += count

    def add(self, node: Node, role: str, texts: list[str], attachments: list[str], at: datetime | None) -> None:
        """Add a message: its texts, and a line for each attachment.

        Too long text is split into several messages. A message without a time gets that of the message before. Raises
        ImportFileError when it can't be stored.
        """
        self._at = at or self._at
        named = [f"[attachment: {clean(name)[:200] or 'file'}]" for name in attachments]
        self.skip("attachments", len(named))
        content = "\n".join([*filter(None, map(clean, texts)), *named])
        if not content:
            self.skip("empty")
            return
        parts = split(content, settings.MESSAGE_MAX_CHARACTERS)
        if len(parts) > PARTS:
            self._notes.append(
                f"{node.path}: has {len(content):,} characters; what came after {PARTS} messages was cut"
            )
            last = parts[PARTS - 1][: settings.MESSAGE_MAX_CHARACTERS - len(CUT_MARKER)]
            parts = [*parts[: PARTS - 1], last + CUT_MARKER]
        elif len(parts) > 1:
            self._notes.append(f"{node.path}: has {len(content):,} characters and became {len(parts)} messages")
        for part in parts:
            self._messages.append(checked(node.path, ParsedMessage(role, part, at=self._at)))

    def finished(self, external_id: Node, title: Node) -> ParsedConversation:
        """Return the conversation, possibly without messages. Raises ImportFileError for a bad id or title."""
        name = clean(title.as_text_or_nothing()).replace("\n", " ")[:TITLE_CHARACTERS]
        return ParsedConversation(
            checked_name(external_id.path, external_id.as_text(), 255),
            name,
            tuple(self._messages),
            self.skipped,
            tuple(self._notes),
            self._node.path,
        )


def clean(text: str) -> str:
    """Return a text without unstorable and invisible characters, stripped, with ``\\n`` as line ends."""
    return _UNWANTED.sub("", _LINE_END.sub("\n", text)).strip()


def split(text: str, longest: int) -> list[str]:
    """Cut a text into parts of at most ``longest`` characters, at the end of a paragraph, line, sentence or word.

    Only white space at the cuts is lost.
    """
    parts = []
    while len(text) > longest:
        window = text[: longest + 1]
        cuts = (window.rfind(mark, longest // 2) + len(mark.rstrip()) for mark in ("\n\n", "\n", ". ", " "))
        cut = next((cut for cut in cuts if cut > longest // 2), longest)
        parts.append(text[:cut].rstrip())
        text = text[cut:].lstrip()
    return [*parts, text] if text else parts


def active_path(
    leaf: str, parent_of: Callable[[str], Node], known: Callable[[str], bool], conversation: Node
) -> list[str]:
    """Return the ids from a conversation's first message to ``leaf``, by following the parents from ``leaf``.

    The path begins where a parent is missing, e.g. deleted. Raises ImportFileError for a cycle.
    """
    path: dict[str, None] = {}
    at = leaf
    while at and known(at):
        if at in path:
            conversation.fail("its messages follow each other in a circle")
        path[at] = None
        at = parent_of(at).as_text_or_nothing()
    return list(path)[::-1]


def unix_time(node: Node) -> datetime | None:
    """Parse seconds since 1970 (int or float) to a time in UTC; None when missing. Raises ImportFileError."""
    if node.value is None:
        return None
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        node.fail("is not a time in seconds")
    try:
        return datetime.fromtimestamp(node.value, UTC)
    except (ValueError, OverflowError, OSError):
        node.fail("is not a time in seconds")


def iso_time(node: Node) -> datetime | None:
    """Parse an ISO 8601 time, without an offset as UTC; None when missing. Raises ImportFileError."""
    if node.value is None:
        return None
    try:
        at = datetime.fromisoformat(node.as_text())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        node.fail(f"{str(node.value)[:40]!r} is not an ISO 8601 time")


def spaced(start: datetime, place: int) -> datetime:
    """Return ``start`` plus one second for each of ``place`` messages.

    The small step keeps the order without reaching the next day or session.
    """
    return start + timedelta(seconds=place)


class Collector:
    """Collects the messages of one dataset conversation; cuts long ones and skips empty ones, with notes."""

    def __init__(self, conversation: str) -> None:
        self.conversation = conversation
        self.messages: list[ParsedMessage] = []
        self.notes: list[str] = []

    def add(self, node: Node, message: ParsedMessage) -> None:
        """Add a message. Raises ImportFileError when it can't be stored for another reason."""
        if not message.content.strip():
            self.notes.append(f"{self.conversation}: message {message.source_id} is empty and was left out")
            return
        length, limit = len(message.content), settings.MESSAGE_MAX_CHARACTERS
        if length > limit:
            self.notes.append(
                f"{self.conversation}: message {message.source_id} has {length:,} characters and was cut to {limit:,}"
            )
            message = replace(message, content=message.content[: limit - len(CUT_MARKER)] + CUT_MARKER)
        self.messages.append(checked(node.path, message))

    def some(self, node: Node) -> tuple[ParsedMessage, ...]:
        """Return the messages. Raises ImportFileError when there are none."""
        if not self.messages:
            raise ImportFileError(node.path, "holds no message")
        return tuple(self.messages)

"""What readers of chat exports share: which text of a message is kept, how it is cleaned, and when it was said."""

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
# Control characters but tabs and line ends, halves of surrogate pairs, and the marks that stand for a web page cited.
_UNWANTED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]|\ue200[^\ue201]{0,2000}\ue201")
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")


class Gathering:
    """Gathers the messages of one conversation in order, and counts what is left out.

    ``began`` is the time of a message that has none and comes before all that have one.
    """

    def __init__(self, conversation: Node, began: datetime | None) -> None:
        self._node = conversation
        self._at = began
        self._messages: list[ParsedMessage] = []
        self._notes: list[str] = []
        self.skipped: Counter[str] = Counter()

    def skip(self, reason: str, count: int = 1) -> None:
        """Count messages that are left out."""
        if count:
            self.skipped[reason] += count

    def add(self, node: Node, role: str, texts: list[str], attachments: list[str], at: datetime | None) -> None:
        """Take one message: its texts, and a line that names each file that came with it.

        What is longer than a message may be becomes several, which follow each other. A message without a time was
        said when the one before it was. Raises ImportFileError when it can't be stored.
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
        """The conversation, perhaps without a message. Raises ImportFileError for a bad id or title."""
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
    """A text without what can't be stored or seen, and without blanks around it."""
    return _UNWANTED.sub("", _LINE_END.sub("\n", text)).strip()


def split(text: str, longest: int) -> list[str]:
    """Cut a text into parts of at most ``longest`` characters, at the end of a paragraph, line, sentence or word.

    Blanks at the cuts are lost, nothing else.
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
    """The ids from the first message of a conversation to ``leaf``, found by going from each to its parent.

    It begins where a parent is missing: its message was deleted. Raises ImportFileError when it goes round in a circle.
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
    """Read seconds since 1970, with a fraction or without; None when there are none."""
    if node.value is None:
        return None
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        node.fail("is not a time in seconds")
    try:
        return datetime.fromtimestamp(node.value, UTC)
    except (ValueError, OverflowError, OSError):
        node.fail("is not a time in seconds")


def iso_time(node: Node) -> datetime | None:
    """Read an ISO 8601 time, UTC unless it says otherwise; None when there is none."""
    if node.value is None:
        return None
    try:
        at = datetime.fromisoformat(node.as_text())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        node.fail(f"{str(node.value)[:40]!r} is not an ISO 8601 time")


def spaced(start: datetime, place: int) -> datetime:
    """The time of the message that comes ``place`` messages after the one at ``start``: a second for each.

    So small a step keeps the order without leaving the day, or reaching the next session.
    """
    return start + timedelta(seconds=place)


class Collector:
    """Gathers the messages of one conversation, cuts what is too long, leaves out what is empty, and says so."""

    def __init__(self, conversation: str) -> None:
        self.conversation = conversation
        self.messages: list[ParsedMessage] = []
        self.notes: list[str] = []

    def add(self, node: Node, message: ParsedMessage) -> None:
        """Take one message. Raises ImportFileError when it can't be stored for another reason."""
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
        """What was gathered. Raises ImportFileError when it is nothing."""
        if not self.messages:
            raise ImportFileError(node.path, "holds no message")
        return tuple(self.messages)

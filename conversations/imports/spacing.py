"""Times of messages where a file gives one time for many, and texts that are longer than a message may be."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from django.conf import settings

from .gathering import CUT_MARKER
from .records import ImportFileError, Node, ParsedMessage, checked


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

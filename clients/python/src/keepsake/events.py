"""Parser of server-sent events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """A server-sent event. Resume a stream after its ``id``."""

    name: str
    data: dict[str, Any]
    id: str = ""


@dataclass(slots=True)
class Reading:
    """The state of the parser: the event being read."""

    name: str = ""
    id: str = ""
    data: list[str] = field(default_factory=list)

    def take(self, line: str) -> Event | None:
        """Parse a line. Returns an event if the line completes one."""
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self.name = value
            elif name == "id":
                self.id = value
            elif name == "data":
                self.data.append(value)
            return None
        told = Event(self.name or "message", json.loads("\n".join(self.data)), self.id) if self.data else None
        self.name, self.data = "", []
        return told

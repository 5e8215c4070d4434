"""The demo data, read from the YAML files in this folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import yaml

_HERE = Path(__file__).parent
# Time to read a message and to type the answer.
_SECONDS_TO_BEGIN = 20
_SECONDS_A_CHARACTER = 0.3


@dataclass(frozen=True, slots=True)
class DemoPerson:
    """A person of the demo. Only those with a password can sign in."""

    name: str
    display_name: str
    password: str | None
    preferences: dict[str, Any]
    what: str


@dataclass(frozen=True, slots=True)
class DemoConversation:
    """A conversation: ``said`` has (role, text) pairs. It ended ``days_ago`` days before the demo is loaded."""

    id: str
    person: str
    title: str
    days_ago: int
    starts: time
    said: tuple[tuple[str, str], ...]

    def times(self, now: datetime) -> list[datetime]:
        """Return the time of each message, from estimated typing times."""
        at = datetime.combine(now.date() - timedelta(days=self.days_ago), self.starts, now.tzinfo)
        times = []
        for _, text in self.said:
            at += timedelta(seconds=round(_SECONDS_TO_BEGIN + _SECONDS_A_CHARACTER * len(text)))
            times.append(at)
        return times


@dataclass(frozen=True, slots=True)
class DemoDecision:
    """A decision of ``person`` about their facts that contain all ``words``."""

    person: str
    words: tuple[str, ...]
    decision: str
    reason: str = ""
    content: str = ""


@dataclass(frozen=True, slots=True)
class DemoMemory:
    """A memory that the agent adds about ``person``: its successive wordings, and the person's decisions.

    ``said`` is part of its source message, if it has one. After the decisions the agent ``proposes`` another wording,
    or to ``forget`` it; the person may have to approve that.
    """

    id: str
    person: str
    category: str
    worded: tuple[str, ...]
    subject: str
    topics: tuple[str, ...]
    field: str
    importance: int
    said: str
    decide: tuple[str, ...]
    proposes: str
    forget: bool


@dataclass(frozen=True, slots=True)
class DemoPlace:
    """A place that the agent adds for ``person``, and its later notes, if they change.

    ``said`` has a part of each message that mentions it. ``decide``: the person approves or removes it.
    """

    id: str
    person: str
    name: str
    notes: str
    said: tuple[str, ...]
    decide: str
    later: str


@dataclass(frozen=True, slots=True)
class DemoContent:
    """The whole demo."""

    people: tuple[DemoPerson, ...]
    staff: DemoPerson
    legacy: str
    owner: str
    members: tuple[str, ...]
    agent: str
    issuer: str
    conversations: tuple[DemoConversation, ...]
    decisions: tuple[DemoDecision, ...]
    memories: tuple[DemoMemory, ...]
    places: tuple[DemoPlace, ...]


@cache
def read_content() -> DemoContent:
    """Read the files."""
    house = _read(_HERE / "people.yaml")
    password = house["password"]
    people = [_person(each, password) for each in house["people"]]
    conversations = [_conversation(_read(file)) for file in sorted((_HERE / "conversations").glob("*.yaml"))]
    decisions = [
        DemoDecision(
            person=each["person"],
            words=tuple(each["words"].split()),
            decision=each["decision"],
            reason=each.get("reason", ""),
            content=each.get("content", ""),
        )
        for each in _read(_HERE / "decisions.yaml")
    ]
    return DemoContent(
        people=tuple(people),
        staff=_person(house["staff"], password),
        legacy=house["legacy"]["name"],
        owner=house["legacy"]["owner"],
        members=tuple(house["legacy"]["members"]),
        agent=house["agent"]["name"],
        issuer=house["agent"]["issuer"],
        conversations=tuple(conversations),
        decisions=tuple(decisions),
        memories=tuple(_memory(each) for each in _read(_HERE / "memories.yaml")),
        places=tuple(_place(each) for each in _read(_HERE / "places.yaml")),
    )


def _read(file: Path) -> Any:
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def _person(given: dict[str, Any], password: str) -> DemoPerson:
    return DemoPerson(
        name=given["name"],
        display_name=given["display_name"],
        password=password if given.get("signs_in", True) else None,
        preferences=given.get("preferences", {}),
        what=given.get("what", ""),
    )


def _conversation(given: dict[str, Any]) -> DemoConversation:
    said = tuple(
        ("assistant" if role == "agent" else role, text.strip())
        for turn in given["said"]
        for role, text in turn.items()
    )
    return DemoConversation(
        id=given["id"],
        person=given["person"],
        title=given["title"],
        days_ago=given["days_ago"],
        starts=time.fromisoformat(given["starts"]),
        said=said,
    )


def _memory(given: dict[str, Any]) -> DemoMemory:
    return DemoMemory(
        id=given["id"],
        person=given["person"],
        category=given["category"],
        worded=tuple(given["worded"]),
        subject=given.get("subject", ""),
        topics=tuple(given.get("topics", ())),
        field=given.get("field", ""),
        importance=given.get("importance", 2),
        said=given.get("said", ""),
        decide=tuple(given.get("decide", ())),
        proposes=given.get("proposes", ""),
        forget=given.get("forget", False),
    )


def _place(given: dict[str, Any]) -> DemoPlace:
    return DemoPlace(
        id=given["id"],
        person=given["person"],
        name=given["name"],
        notes=given.get("notes", ""),
        said=tuple(given.get("said", ())),
        decide=given.get("decide", ""),
        later=given.get("later", ""),
    )

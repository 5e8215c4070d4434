"""agno's database of user memories, stored in Keepsake. Install ``keepsake[agno]``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from agno.db.in_memory import InMemoryDb
from agno.db.schemas import UserMemory

from .client import Keepsake
from .requests import in_parts, segment

_PATH = "memories/"
_PER_PAGE = 100
_MOST_NAMED = 50
"""The most ids per request, since they are in its URL."""
_NOBODY = "default"
"""agno's name of the user when none is given: here the owner of the key."""

_SORTED_BY = {"created_at", "updated_at"}
_BESIDE = ("agent_id", "team_id", "feedback")


class KeepsakeDb(InMemoryDb):
    """A database for a ``MemoryManager``, or for an agent without another one. It stores only user memories.

    agno's ``user_id`` is the person that a service's key acts for; with a personal key it is its owner's name, or none.
    Everything else, such as sessions, is kept in memory as with ``InMemoryDb``. Missing arguments are read from
    KEEPSAKE_URL and KEEPSAKE_KEY. Every method raises KeepsakeError.
    """

    def __init__(self, url: str = "", key: str = "", *, category: str = "knowledge") -> None:
        super().__init__()
        self._keepsake = Keepsake(url, key)
        self._category = category

    def close(self) -> None:
        """Close the connections."""
        self._keepsake.close()

    def get_user_memory(
        self, memory_id: str, deserialize: bool | None = True, user_id: str | None = None
    ) -> UserMemory | dict[str, Any] | None:
        """Return a memory, or None."""
        row = self._row(memory_id, user_id)
        return _as_wanted(_memory(row, user_id), deserialize) if row else None

    def get_user_memories(  # noqa: PLR0917 - agno's
        self,
        user_id: str | None = None,
        agent_id: str | None = None,
        team_id: str | None = None,
        topics: list[str] | None = None,
        search_content: str | None = None,
        limit: int | None = None,
        page: int | None = None,
        sort_by: str | None = None,
        sort_order: str | None = None,
        deserialize: bool | None = True,
    ) -> list[UserMemory] | tuple[list[dict[str, Any]], int]:
        """Return a person's memories, the oldest first; with ``topics`` those with any of them.

        Memories of the person's other agents are included, as far as this agent may see them.
        """
        beside = {"agno_agent_id": agent_id, "agno_team_id": team_id}
        metadata = {name: value for name, value in beside.items() if value is not None}
        wanted = {
            "metadata": metadata,
            "topics": {"in": topics} if topics else None,
            "content": {"icontains": search_content} if search_content else None,
        }
        asked = {
            "filters": {name: value for name, value in wanted.items() if value} or None,
            "sort_by": sort_by if sort_by in _SORTED_BY else "created_at",
            "sort_order": sort_order if sort_by in _SORTED_BY else "asc",
        }
        first = 0 if limit is None else ((page or 1) - 1) * limit
        found, count = self._rows(asked, user_id, first, limit)
        memories = [_memory(each, user_id) for each in found]
        return memories if deserialize else ([each.to_dict() for each in memories], count)

    def upsert_user_memory(
        self, memory: UserMemory, deserialize: bool | None = True
    ) -> UserMemory | dict[str, Any] | None:
        """Add a memory, or update text and topics of the one with its id. Gates apply, and it may wait for review.

        Texts are stored verbatim, at most 4,000 characters; ``input`` is not stored.
        """
        row = self._row(memory.memory_id, memory.user_id) if memory.memory_id else None
        beside = {f"agno_{name}": getattr(memory, name) for name in _BESIDE if getattr(memory, name) is not None}
        if row is None:
            body = {"content": memory.memory, "category": self._category, "topics": memory.topics or [],
                    "metadata": beside, "verbatim": True}  # fmt: skip
            if memory.memory_id:
                body["external_id"] = _external(memory.memory_id)
            row = self._send("POST", _PATH, memory.user_id, body=body)
        else:
            path, metadata = f"{_PATH}{segment(row['id'])}/", {**row["metadata"], **beside}
            if memory.topics is not None and memory.topics != row["topics"]:
                self._send("PATCH", path, memory.user_id, body={"topics": memory.topics})
            if (memory.memory, metadata) != (row["content"], row["metadata"]):
                body = {"content": memory.memory, "metadata": metadata, "verbatim": row["verbatim"]}
                self._send("PUT", path, memory.user_id, body=body)
            row = self._row(memory.memory_id, memory.user_id) or row
        return _as_wanted(_memory(row, memory.user_id), deserialize)

    def upsert_memories(
        self, memories: list[UserMemory], deserialize: bool | None = True, preserve_updated_at: bool = False
    ) -> list[UserMemory | dict[str, Any]]:
        """Upsert memories one after the other; stops at the first error. Times of change are set by Keepsake."""
        made = [self.upsert_user_memory(each, deserialize) for each in memories]
        return [each for each in made if each is not None]

    def delete_user_memory(self, memory_id: str, user_id: str | None = None) -> None:
        """Archive a memory if it exists. It can be restored for 30 days."""
        self.delete_user_memories([memory_id], user_id)

    def delete_user_memories(self, memory_ids: list[str], user_id: str | None = None) -> None:
        """Archive memories."""
        for part in in_parts(memory_ids, _MOST_NAMED):
            ids = [each["id"] for each in self._named(part, user_id)]
            if ids:
                self._send("POST", f"{_PATH}bulk-delete/", user_id, body={"ids": ids})

    def clear_memories(self) -> None:
        """Raise NotImplementedError: memories can be cleared for one person only."""
        raise NotImplementedError("Name whose memories to clear: MemoryManager.clear_user_memories(user_id).")

    def get_all_memory_topics(self, user_id: str | None = None) -> list[str]:
        """Return the topics of a person's memories."""
        topics: list[str] = self._send("GET", f"{_PATH}topics/", user_id)["topics"]
        return topics

    def get_user_memory_stats(
        self, limit: int | None = None, page: int | None = None, user_id: str | None = None
    ) -> tuple[list[dict[str, Any]], int]:
        """Return the number of one person's memories and the time of the last change; not those of all users."""
        found, count = self._rows({"sort_by": "updated_at", "sort_order": "desc"}, user_id, 0, 1)
        of = {"user_id": user_id or _NOBODY, "total_memories": count}
        told = [{**of, "last_memory_updated_at": _epoch(each["updated_at"])} for each in found]
        return ([], len(told)) if page is not None and page > 1 else (told, len(told))

    # --- What is sent ---

    def _send(self, method: str, path: str, user_id: str | None, **more: Any) -> Any:
        user = "" if user_id in {None, "", _NOBODY} else str(user_id)
        return self._keepsake.request(method, path, user=user, repeatable=True, **more)

    def _row(self, memory_id: str | None, user_id: str | None) -> dict[str, Any] | None:
        """Return the memory with an id, or None."""
        found = self._named([str(memory_id)], user_id)
        return found[0] if found else None

    def _named(self, memory_ids: Sequence[str], user_id: str | None) -> list[dict[str, Any]]:
        """Return the memories with ids, which are agno's or Keepsake's own."""
        either = [{"external_id": {"in": [*map(_external, memory_ids)]}}, {"id": {"in": [*memory_ids]}}]
        params = {"filters": {"OR": either}, "per_page": _PER_PAGE}
        found: list[dict[str, Any]] = self._send("GET", _PATH, user_id, params=params)["results"]
        return found

    def _rows(
        self, asked: Mapping[str, Any], user_id: str | None, first: int, limit: int | None
    ) -> tuple[list[dict[str, Any]], int]:
        """Return up to ``limit`` memories from position ``first`` on, and the number of all."""
        wanted = None if limit is None else first + limit
        found: list[dict[str, Any]] = []
        number = 1
        while True:
            page = self._send("GET", _PATH, user_id, params={**asked, "per_page": _PER_PAGE, "page": number})
            found += page["results"]
            if page["next"] is None or (wanted is not None and len(found) >= wanted):
                return found[first:wanted], page["count"]
            number += 1


def _external(memory_id: str) -> str:
    return f"agno:{memory_id}"


def _memory(row: Mapping[str, Any], user_id: str | None) -> UserMemory:
    return UserMemory(
        memory=row["content"],
        memory_id=row["external_id"].removeprefix("agno:") if row["external_id"].startswith("agno:") else row["id"],
        topics=row["topics"],
        user_id=user_id or _NOBODY,
        created_at=_epoch(row["created_at"]),
        updated_at=_epoch(row["updated_at"]),
        **{name: row["metadata"].get(f"agno_{name}") for name in _BESIDE},
    )


def _epoch(moment: str) -> int:
    return int(datetime.fromisoformat(moment).timestamp())


def _as_wanted(memory: UserMemory, deserialize: bool | None) -> UserMemory | dict[str, Any]:
    return memory if deserialize else memory.to_dict()

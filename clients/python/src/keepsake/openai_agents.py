"""A session of the OpenAI Agents SDK, stored as a conversation. Install ``keepsake[openai-agents]``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from .errors import Conflict, NotFound
from .requests import following, in_parts, segment
from .steps import Call, Clients, Steps, run

if TYPE_CHECKING:
    from agents import SessionSettings, TResponseInputItem

_CHANNEL = "openai-agents"
_ROLES = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_TEXTS = {"input_text", "output_text", "text"}
_LONGEST = 32_000
_MOST_AT_ONCE = 500
_TRIES = 20


class KeepsakeSession:
    """The history of a run: its texts are a conversation that Keepsake learns from, the rest a thread's state.

    ``session_id``, chosen by the client, names both; they belong to the key's person and agent. Missing arguments are
    read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. Every method raises KeepsakeError: TooLarge when the state,
    which holds tool calls and their results, exceeds 1 MB.
    """

    def __init__(
        self,
        session_id: str,
        url: str = "",
        key: str = "",
        *,
        user: str = "",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._clients = Clients(url, key, user)
        self._state = f"checkpoints/{segment(f'{_CHANNEL}:{session_id}')}/"
        self._messages = ""
        self._one_at_a_time = Lock()

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items in order, or the last ``limit``. Words that the person withheld read ``[withheld]``."""
        settings = self.session_settings
        most = limit if limit is not None or settings is None else settings.limit
        return await self._run(self._items(most))

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items. If it fails half-way, the conversation may hold the texts, but the history is unchanged."""
        if items:
            await self._run(self._add(items))

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove and return the last item of the history. Its text stays in the conversation, which is the person's."""
        return await self._run(self._pop())

    async def clear_session(self) -> None:
        """Delete the history. The texts stay in the conversation."""
        await self._run(self._clear())

    def close(self) -> None:
        """Close the connections."""
        self._clients.close()

    # --- What is sent ---

    async def _run(self, steps: Steps[Any]) -> Any:
        """Run steps in a thread, so that a session works with any event loop."""

        def carry_out() -> Any:
            with self._one_at_a_time:
                return run(steps, self._clients.sync)

        return await asyncio.to_thread(carry_out)

    def _conversation(self) -> Steps[str]:
        """Return the path of the conversation's messages; the conversation is created if it does not exist."""
        if not self._messages:
            made = yield Call("POST", "conversations/", body={"channel": _CHANNEL, "external_id": self.session_id})
            self._messages = f"conversations/{segment(made['id'])}/messages/"
        return self._messages

    def _load(self) -> Steps[tuple[list[Any], int]]:
        """Return the items without their texts, and the version of the state."""
        try:
            kept = yield Call("GET", self._state)
        except NotFound:
            return [], 0
        return kept["state"], kept["version"]

    def _change(self, change: Callable[[list[Any]], list[Any]]) -> Steps[list[Any]]:
        """Apply a change to the stored items and return the old ones. Retries on concurrent saves; raises Conflict."""
        for left in reversed(range(_TRIES)):
            items, version = yield from self._load()
            try:
                yield Call("PUT", self._state, body={"state": change(items), "version": version})
                break
            except Conflict:
                if not left:
                    raise
        return items

    def _add(self, items: Sequence[Mapping[str, Any]]) -> Steps[None]:
        said = [
            {"role": _ROLES[item["role"]], "content": piece}
            for item in items
            for text in _texts(item)
            for piece in _pieces(text)
        ]
        indices: list[int] = []
        for part in in_parts(said, _MOST_AT_ONCE):
            path = yield from self._conversation()
            answer = yield Call("POST", path, body={"messages": part})
            indices += [each["index"] for each in answer["messages"]]
        where = iter(indices)
        kept = [_with_texts(item, lambda text: {"said": [next(where) for _ in _pieces(text)]}) for item in items]
        yield from self._change(lambda before: [*before, *kept])

    def _pop(self) -> Steps[Any]:
        before = yield from self._change(lambda items: items[:-1])
        return (yield from self._filled(before[-1:]))[0] if before else None

    def _clear(self) -> Steps[None]:
        try:
            yield Call("DELETE", self._state)
        except NotFound:
            return

    def _items(self, limit: int | None) -> Steps[list[Any]]:
        items, _ = yield from self._load()
        return (yield from self._filled(items if limit is None else items[-limit:] if limit > 0 else []))

    def _filled(self, items: Sequence[Mapping[str, Any]]) -> Steps[list[Any]]:
        """Return items with their texts filled in from the conversation."""
        wanted = {index for item in items for text in _texts(item, kept=True) for index in text["said"]}
        said: dict[int, str] = {}
        asked: dict[str, Any] | None = {"per_page": 500} if wanted else None
        path = (yield from self._conversation()) if wanted else ""
        while asked is not None:
            page = yield Call("GET", path, asked)
            said |= {each["index"]: each["content"] for each in page["results"] if each["index"] in wanted}
            asked = following(page) if len(said) < len(wanted) else None
        return [_with_texts(item, lambda text: "".join(said[at] for at in text["said"]), kept=True) for item in items]


# --- Where the texts of an item stand -------------------------------------------------------------------------------


def _texts(item: Mapping[str, Any], *, kept: bool = False) -> Iterator[Any]:
    """Yield the texts of an item. ``kept``: it is from the state, with message indices in place of its texts."""
    found: list[Any] = []
    _with_texts(item, found.append, kept=kept)
    yield from found


def _with_texts(item: Mapping[str, Any], instead: Callable[[Any], Any], *, kept: bool = False) -> dict[str, Any]:
    """Return an item with each text replaced by ``instead(text)``. Blank texts and other items have none."""
    if item.get("type", "message") != "message" or item.get("role") not in _ROLES:
        return dict(item)
    content = item.get("content")
    if isinstance(content, list):
        parts = [
            {**part, "text": instead(part["text"])}
            if isinstance(part, Mapping) and part.get("type") in _TEXTS and _is_text(part.get("text"), kept)
            else part
            for part in content
        ]
        return {**item, "content": parts}
    return {**item, "content": instead(content)} if _is_text(content, kept) else dict(item)


def _is_text(value: Any, kept: bool) -> bool:
    if kept:
        return isinstance(value, dict)
    return isinstance(value, str) and all(piece.strip() for piece in _pieces(value)) and bool(value)


def _pieces(text: str) -> list[str]:
    """Split a text into pieces that fit into a message."""
    return [text[start : start + _LONGEST] for start in range(0, len(text), _LONGEST)]

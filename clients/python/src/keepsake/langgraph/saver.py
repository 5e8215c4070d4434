"""A LangGraph checkpointer that stores the states of threads in Keepsake."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_serializable_checkpoint_metadata,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

from ..steps import Call, Clients, Steps, arun, run

_PATH = "graph-checkpoints/"
_PER_PAGE = 20


class KeepsakeSaver(BaseCheckpointSaver[str]):
    """Stores states by ``thread_id``, for the key's person and agent.

    Missing arguments are read from KEEPSAKE_URL, KEEPSAKE_KEY and KEEPSAKE_USER. Every method raises KeepsakeError. A
    state has at most 780 KB (TooLarge). Use it from one event loop, or from any threads.
    """

    def __init__(
        self, url: str = "", key: str = "", *, user: str = "", serde: SerializerProtocol | None = None
    ) -> None:
        super().__init__(serde=serde)
        self._clients = Clients(url, key, user)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return the next version: an incremented number, zero-padded so that it sorts as text."""
        return f"{int(str(current).split('.')[0]) + 1 if current else 1:032}"

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the state that a config names, or the newest of its thread."""
        return run(self._get(config), self._clients.sync)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the state that a config names, or the newest of its thread."""
        return await arun(self._get(config), self._clients.awaited)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield states, the newest first."""
        asked: dict[str, Any] | None = _asked(config, filter, before, limit)
        while asked is not None:
            found, asked = run(self._page(asked), self._clients.sync)
            yield from found

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield states, the newest first."""
        asked: dict[str, Any] | None = _asked(config, filter, before, limit)
        while asked is not None:
            found, asked = await arun(self._page(asked), self._clients.awaited)
            for each in found:
                yield each

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a state."""
        return run(self._put(config, checkpoint, metadata), self._clients.sync)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a state."""
        return await arun(self._put(config, checkpoint, metadata), self._clients.awaited)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save a task's writes after a state."""
        run(self._write(config, writes, task_id, task_path), self._clients.sync)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save a task's writes after a state."""
        await arun(self._write(config, writes, task_id, task_path), self._clients.awaited)

    def delete_thread(self, thread_id: str) -> None:
        """Delete the states of a thread."""
        run(_post("prune/", {"threads": [thread_id], "strategy": "delete"}, [thread_id]), self._clients.sync)

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete the states of a thread."""
        await arun(_post("prune/", {"threads": [thread_id], "strategy": "delete"}, [thread_id]), self._clients.awaited)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the states that runs made."""
        run(_post("delete-runs/", {"runs": [*run_ids]}, run_ids), self._clients.sync)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the states that runs made."""
        await arun(_post("delete-runs/", {"runs": [*run_ids]}, run_ids), self._clients.awaited)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all states of a thread to another."""
        copied = {"thread": source_thread_id, "to": target_thread_id}
        run(_post("copy/", copied, copied), self._clients.sync)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all states of a thread to another."""
        copied = {"thread": source_thread_id, "to": target_thread_id}
        await arun(_post("copy/", copied, copied), self._clients.awaited)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the states of threads, or all but the newest of each namespace and the states it depends on."""
        run(_post("prune/", {"threads": [*thread_ids], "strategy": strategy}, thread_ids), self._clients.sync)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the states of threads, or all but the newest of each namespace and the states it depends on."""
        body = {"threads": [*thread_ids], "strategy": strategy}
        await arun(_post("prune/", body, thread_ids), self._clients.awaited)

    def close(self) -> None:
        """Close the synchronous client."""
        self._clients.close()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._clients.aclose()

    # --- What is sent ---

    def _get(self, config: RunnableConfig) -> Steps[CheckpointTuple | None]:
        configurable = config["configurable"]
        asked = {"thread": configurable["thread_id"], "namespace": configurable.get("checkpoint_ns", "")}
        if checkpoint_id := get_checkpoint_id(config):
            asked["checkpoint_id"] = checkpoint_id
        page = yield Call("GET", _PATH, {**asked, "per_page": 1})
        return self._tuple(page["results"][0]) if page["results"] else None

    def _page(self, asked: dict[str, Any]) -> Steps[tuple[Sequence[CheckpointTuple], dict[str, Any] | None]]:
        """Return the states of a page and the query of the next one, or None."""
        left = asked.pop("limit")
        if left is not None and left <= 0:
            return [], None
        page = yield Call("GET", _PATH, asked)
        found = page["results"] if left is None else page["results"][:left]
        left = None if left is None else left - len(found)
        more = {**asked, "page": asked.get("page", 1) + 1, "limit": left} if page["next"] else None
        return [self._tuple(each) for each in found], more

    def _put(
        self, config: RunnableConfig, checkpoint: Checkpoint, metadata: CheckpointMetadata
    ) -> Steps[RunnableConfig]:
        configurable = config["configurable"]
        of = {"thread": configurable["thread_id"], "namespace": configurable.get("checkpoint_ns", "")}
        yield Call(
            "PUT",
            _PATH,
            body={
                **of,
                "checkpoint_id": checkpoint["id"],
                "parent_id": configurable.get("checkpoint_id") or "",
                "metadata": get_serializable_checkpoint_metadata(config, metadata),
                "channels": [*checkpoint["channel_values"]],
                "blob": self._blob(checkpoint),
            },
        )
        return _config(of["thread"], of["namespace"], checkpoint["id"])

    def _write(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str
    ) -> Steps[None]:
        if not writes:
            return
        configurable = config["configurable"]
        yield Call(
            "PUT",
            f"{_PATH}writes/",
            body={
                "thread": configurable["thread_id"],
                "namespace": configurable.get("checkpoint_ns", ""),
                "checkpoint_id": configurable["checkpoint_id"],
                "task_id": task_id,
                "task_path": task_path,
                "writes": [
                    {"index": WRITES_IDX_MAP.get(channel, index), "channel": channel, "blob": self._blob(value)}
                    for index, (channel, value) in enumerate(writes)
                ],
            },
        )

    def _blob(self, value: Any) -> dict[str, str]:
        kind, data = self.serde.dumps_typed(value)
        return {"type": kind, "base64": b64encode(data).decode()}

    def _value(self, blob: dict[str, str]) -> Any:
        return self.serde.loads_typed((blob["type"], b64decode(blob["base64"])))

    def _tuple(self, state: dict[str, Any]) -> CheckpointTuple:
        of = state["thread"], state["namespace"]
        return CheckpointTuple(
            config=_config(*of, state["checkpoint_id"]),
            checkpoint=self._value(state["blob"]),
            metadata=state["metadata"],
            parent_config=_config(*of, state["parent_id"]) if state["parent_id"] else None,
            pending_writes=[(each["task_id"], each["channel"], self._value(each["blob"])) for each in state["writes"]],
        )


def _config(thread: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}


def _asked(
    config: RunnableConfig | None, filter: dict[str, Any] | None, before: RunnableConfig | None, limit: int | None
) -> dict[str, Any]:
    """Return the query of a list, with the maximum number of states as ``limit``."""
    per_page = _PER_PAGE if limit is None else min(max(limit, 1), _PER_PAGE)
    asked: dict[str, Any] = {"per_page": per_page, "limit": limit}
    if config is not None:
        configurable = config["configurable"]
        asked["thread"] = configurable["thread_id"]
        asked["namespace"] = configurable.get("checkpoint_ns")
        asked["checkpoint_id"] = get_checkpoint_id(config)
    if before is not None:
        asked["before"] = get_checkpoint_id(before)
    if filter:
        asked["metadata"] = filter
    return {name: value for name, value in asked.items() if value is not None or name == "limit"}


Path = Literal["copy/", "prune/", "delete-runs/"]


def _post(path: Path, body: dict[str, Any], named: Any) -> Steps[None]:
    """Post a bulk change, unless ``named`` is empty."""
    if named:
        yield Call("POST", _PATH + path, body=body)

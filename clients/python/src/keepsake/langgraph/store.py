"""A LangGraph store whose items are memories of the person, stored verbatim."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ..errors import Conflict
from ..steps import Call, Clients, Steps, arun, run

_PATH = "memories/"
_MOST_FOUND = 100
_MOST_TOKENS = 100_000


class KeepsakeStore(BaseStore):
    """Stores items by namespace and key, each as one memory of ``category``.

    The value is stored as JSON of at most 4,000 characters. Missing arguments are read from KEEPSAKE_URL, KEEPSAKE_KEY
    and KEEPSAKE_USER. Every method raises KeepsakeError: ``put`` raises Refused if a gate rejects the value, and
    NotAllowed if the person removed the item. While a new item waits for review, ``get`` returns None; while a change
    waits, it returns the old value.
    """

    supports_ttl = False

    def __init__(self, url: str = "", key: str = "", *, user: str = "", category: str = "knowledge") -> None:
        self._clients = Clients(url, key, user)
        self._category = category

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations. Reads see the state before the batch; of several writes to a key only the last is done."""
        return run(self._batch([*ops]), self._clients.sync)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations as ``batch`` does."""
        return await arun(self._batch([*ops]), self._clients.awaited)

    def close(self) -> None:
        """Close the synchronous client."""
        self._clients.close()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._clients.aclose()

    # --- What is sent ---

    def _batch(self, ops: Sequence[Op]) -> Steps[list[Result]]:
        results: list[Result] = []
        writes: dict[tuple[tuple[str, ...], str], PutOp] = {}
        for op in ops:
            result: Result = None
            if isinstance(op, GetOp):
                result = yield from _get(op)
            elif isinstance(op, SearchOp):
                result = yield from _search(op)
            elif isinstance(op, ListNamespacesOp):
                result = yield from _namespaces(op)
            elif isinstance(op, PutOp):
                writes[op.namespace, op.key] = op
            else:
                raise ValueError(f"Unknown operation: {type(op).__name__}")
            results.append(result)
        for write in writes.values():
            yield from _delete(write) if write.value is None else self._put(write)
        return results

    def _put(self, op: PutOp) -> Steps[None]:
        metadata = {
            "namespace": op.namespace,
            "key": op.key,
            "within": _paths(op.namespace),
            "indexed": op.index is not False,
        }
        content = json.dumps(op.value, ensure_ascii=False)
        body = {"content": content, "metadata": metadata, "verbatim": True}
        new = {**body, "category": self._category, "external_id": _id(op.namespace, op.key)}
        try:
            yield Call("POST", _PATH, body=new)
            return
        except Conflict as conflict:
            if conflict.code != "external_id_exists":
                raise
            there = conflict.body.get("memory") or {}
            state = conflict.body.get("state")
        found = there or (yield from _row(op.namespace, op.key))
        if found is None:
            raise Conflict("The person took this item away.", status=409, code="taken_away")
        if state in {"archived", "rejected"}:
            yield Call("POST", f"{_PATH}{found['id']}/restore/")
        yield Call("PUT", f"{_PATH}{found['id']}/", body=body)


def _row(namespace: tuple[str, ...], key: str) -> Steps[dict[str, Any] | None]:
    """Return the memory of a key in any state, or None."""
    page = yield Call("GET", _PATH, {"state": "all", "filters": {"external_id": _id(namespace, key)}})
    return page["results"][0] if page["results"] else None


def _get(op: GetOp) -> Steps[Item | None]:
    page = yield Call("GET", _PATH, {"filters": {"external_id": _id(op.namespace, op.key)}})
    return _item(page["results"][0], Item) if page["results"] else None


def _delete(op: PutOp) -> Steps[None]:
    row = yield from _row(op.namespace, op.key)
    if row is not None and row["state"] in {"active", "proposed"}:
        yield Call("DELETE", f"{_PATH}{row['id']}/")


def _search(op: SearchOp) -> Steps[list[SearchItem]]:
    wanted = op.offset + op.limit
    found: list[SearchItem] = []
    within = _within(op.namespace_prefix)
    if op.query:
        where = {"metadata": {**within, "indexed": True}}
        asked = {"query": op.query, "filters": where, "return": "full"}
        most = _MOST_FOUND if op.filter else min(wanted, _MOST_FOUND)
        answer = yield Call("POST", f"{_PATH}query/", body={**asked, "top_k": most, "budget_tokens": _MOST_TOKENS})
        found = [_item(each, SearchItem, score=each["score"]) for each in answer["results"]]
        return [each for each in found if _fits(each.value, op.filter)][op.offset : wanted]
    page_number: int | None = 1
    while page_number is not None and len(found) < wanted:
        rows, page_number = yield from _page(within, page_number)
        items = [_item(each, SearchItem) for each in rows]
        found += [each for each in items if _fits(each.value, op.filter)]
    return found[op.offset : wanted]


def _namespaces(op: ListNamespacesOp) -> Steps[list[tuple[str, ...]]]:
    conditions = op.match_conditions or ()
    prefixes = [tuple(each.path) for each in conditions if each.match_type == "prefix" and "*" not in each.path]
    within = _within(max(prefixes, key=len, default=()))
    found: set[tuple[str, ...]] = set()
    page_number: int | None = 1
    while page_number is not None:
        rows, page_number = yield from _page(within, page_number)
        found |= {tuple(each["metadata"]["namespace"]) for each in rows}
    matching = {each[: op.max_depth] for each in found if all(_matches(condition, each) for condition in conditions)}
    return sorted(matching)[op.offset : op.offset + op.limit]


def _page(within: Mapping[str, Any], number: int) -> Steps[tuple[list[dict[str, Any]], int | None]]:
    """Return a page of memories and the number of the next page, or None."""
    page = yield Call("GET", _PATH, {"per_page": 100, "page": number, "filters": {"metadata": within}})
    return page["results"], number + 1 if page["next"] else None


# --- How an item is kept ---


def _id(namespace: tuple[str, ...], key: str) -> str:
    """Return the external id of an item's memory, which is unique."""
    return f"store:{sha256(json.dumps([*namespace, key]).encode()).hexdigest()}"


def _paths(namespace: Sequence[str]) -> list[str]:
    """Return a namespace and its parents as dotted paths. LangGraph allows no period in a label."""
    return [".".join(namespace[: depth + 1]) for depth in range(len(namespace))]


def _within(namespace: tuple[str, ...]) -> dict[str, Any]:
    return {"within": {"contains": ".".join(namespace)} if namespace else "*"}


def _item(row: Mapping[str, Any], kind: Callable[..., Any], **more: Any) -> Any:
    """Convert a memory to an item. If the person reworded it to text that is no JSON, it is the key ``content``."""
    try:
        value = json.loads(row["content"])
    except ValueError:
        value = None
    return kind(
        namespace=tuple(row["metadata"]["namespace"]),
        key=row["metadata"]["key"],
        value=value if isinstance(value, dict) else {"content": row["content"]},
        created_at=datetime.fromisoformat(row["created_at"]),
        updated_at=datetime.fromisoformat(row["updated_at"]),
        **more,
    )


def _matches(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in {"*", label} for label, wanted in zip(part, path, strict=True))


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": lambda value, other: bool(value == other),
    "$ne": lambda value, other: bool(value != other),
    "$gt": lambda value, other: bool(value > other),
    "$gte": lambda value, other: bool(value >= other),
    "$lt": lambda value, other: bool(value < other),
    "$lte": lambda value, other: bool(value <= other),
}


def _fits(value: Any, wanted: Mapping[str, Any] | None) -> bool:
    """Whether a value matches a filter. Raises ValueError for an unknown operator."""
    if not wanted:
        return True
    return all(_is(value.get(name), each) for name, each in wanted.items())


def _is(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, Mapping):
        return bool(value == wanted)
    if not any(name.startswith("$") for name in wanted):
        return isinstance(value, Mapping) and _fits(value, wanted)
    for operator, operand in wanted.items():
        if operator not in _COMPARED:
            raise ValueError(f"Unsupported operator: {operator}")
        try:
            if not _COMPARED[operator](value, operand):
                return False
        except TypeError:
            return False  # Values that can't be compared don't match.
    return True

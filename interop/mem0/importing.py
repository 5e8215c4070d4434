"""Import memories from a mem0 export, or from a file with the answer of ``get_all``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import orjson
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from accounts.categories import load as load_categories
from accounts.principals import Principal
from assistant.imports.memories import MEMORY_FORMS, MemoryForm
from conversations.imports.forms import MEM0
from journal.exceptions import Refused
from memories.actions import ADDED_AT_ONCE, memories_add
from memories.records import Addition, NewMemory
from web.json import decoded

from .formatting import ENTITY_KEYS
from .operations import CATEGORY, LONGEST_RUN
from .parsing import day_of, metadata_of, text_of

_LISTS = ("memories", "results")
_TEXTS = ("memory", "text", "data", "content")


@dataclass(frozen=True, slots=True)
class Exported:
    """A memory of the file with its user_id in mem0."""

    user: str
    new: NewMemory


def read_export(data: bytes) -> list[Exported]:
    """Parse a file: a JSON list, or an object with ``memories`` or ``results``. Raises Refused (400)."""
    try:
        read = decoded(data)
    except orjson.JSONDecodeError as error:
        raise Refused("The file is not JSON.", code="bad_file") from error
    listed = next((read[name] for name in _LISTS if name in read), None) if isinstance(read, Mapping) else read
    if not isinstance(listed, list):
        raise Refused("The file has no list of memories.", code="bad_file")
    return [_exported(number, each) for number, each in enumerate(listed, start=1)]


def _exported(number: int, row: Any) -> Exported:
    if not isinstance(row, Mapping):
        raise Refused(f"Memory {number} is no object.", code="bad_file")
    content = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), None)
    if content is None or not isinstance(row.get("id"), str):
        raise Refused(f"Memory {number} has no id or no text.", code="bad_file")
    try:
        created_at = parse_datetime(str(row["created_at"])) if row.get("created_at") else None
        expires_at = day_of(row["expiration_date"]) if row.get("expiration_date") else None
        metadata = metadata_of({name: row.get(name) for name in ("metadata", *ENTITY_KEYS)})
        run_id = text_of(row, "run_id")[:LONGEST_RUN]
        user = text_of(row, "user_id")
    except (Refused, ValueError) as error:
        raise Refused(f"Memory {number}: {error}", code="bad_file") from error
    if created_at is not None and timezone.is_naive(created_at):
        created_at = timezone.make_aware(created_at)
    new = NewMemory(
        content,
        _category(row.get("categories")),
        external_id=f"mem0:{row['id']}"[:255],
        run_id=run_id,
        metadata=metadata,
        valid_from=created_at,
        expires_at=expires_at,
        verbatim=True,
    )
    return Exported(user, new)


def _category(named: Any) -> str:
    """Return the first category that Keepsake knows, else the default."""
    known = load_categories().by_name
    return next((each for each in named or () if isinstance(each, str) and each in known), CATEGORY)


def import_memories(
    principal: Principal,
    exported: Sequence[Exported],
    advance: Callable[[int], None] = lambda count: None,
    *,
    import_id: UUID,
) -> Counter[str]:
    """Add the exported memories and count the outcomes. ``import_id`` is the import that they belong to.

    The gates and the review apply as to an agent's memories. Memories imported before are left unchanged. The counts
    are ``expired``, ``created``, ``proposed``, ``quarantined``, ``in already`` and ``refused: CODE``.
    """
    counts: Counter[str] = Counter()
    now = timezone.now()
    current = [each for each in exported if each.new.expires_at is None or each.new.expires_at > now]
    counts["expired"] = len(exported) - len(current)
    current = [replace(each, new=replace(each.new, brought_by=import_id)) for each in current]
    for part in _parts(current):
        for outcome in memories_add(principal, [Addition(each.new) for each in part]):
            if isinstance(outcome, Refused):
                counts["in already" if outcome.code == "external_id_exists" else f"refused: {outcome.code}"] += 1
            else:
                counts[outcome.outcome] += 1
        advance(len(part))
    return +counts


def _parts(exported: Sequence[Exported]) -> Iterator[Sequence[Exported]]:
    for start in range(0, len(exported), ADDED_AT_ONCE):
        yield exported[start : start + ADDED_AT_ONCE]


def filter_user(exported: Sequence[Exported], user: str | None) -> list[Exported]:
    """Filter for one user's memories. Raises Refused (400) for an unknown user, or for several users and none named."""
    users = {each.user for each in exported}
    if user is not None and exported and user not in users:
        raise Refused(f"The file has no memory of {user[:50]!r}.", code="no_such_user")
    if user is None and len(users) > 1:
        some = ", ".join(sorted(users)[:10])
        raise Refused(f"The file has memories of {len(users)} users: name one. {some}", code="several_users")
    return [each for each in exported if user is None or each.user == user]


def _read_for_page(data: bytes) -> list[Exported]:
    """Parse a person's own file, which may hold one user only. Raises Refused (400)."""
    return filter_user(read_export(data), None)


def _import_for_page(principal: Principal, exported: Sequence[Exported], import_id: UUID) -> Counter[str]:
    """Import the memories and return the counts under the keys of an import's outcome."""
    counts = import_memories(principal, exported, import_id=import_id)
    told: Counter[str] = Counter()
    for what, count in counts.items():
        told["refused" if what.startswith("refused") else what.replace(" ", "_")] += count
    return told


MEMORY_FORMS[MEM0] = MemoryForm(_read_for_page, _import_for_page)

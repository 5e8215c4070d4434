"""Finds statements that say again what a person does not want kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import EmptyResultSet
from django.db import connection
from pgvector import HalfVector

from accounts.principals import Principal, shape_for
from conversations.echoes import MOST_OFFERED, Repetition, RepetitionQuery
from retrieval.prepared import SHAPES, PreparedStatement, Shaped, build_statement

from .querysets import StatementQuerySet

_MOST_NAMED = 100
_SAID_AGAIN = (Path(__file__).parent / "sql" / "said_again.sql").read_text(encoding="utf-8")


def statements_say_again(
    principal: Principal,
    own: Callable[[Principal], StatementQuerySet[Any]],
    sought: RepetitionQuery,
    object_type: str,
    *columns: str,
) -> list[Repetition]:
    """Return statements that say what the person asked not to keep, by words or meaning; at most ``MOST_OFFERED``.

    ``own`` returns the statements of a principal; ``columns`` hold text beside the content. ``surely`` is set only
    without further words: "plays the cello" and "has a daughter who plays the cello" are two statements.
    """
    said, archived = sought.said, sought.archived
    if not said.words:
        return []
    rows = shape_for(
        principal,
        ("said again", object_type, archived),
        lambda someone: own(someone) if archived else own(someone).present(),
    )
    values: dict[Any, Any] = {
        **rows.values,
        "beginnings": said.queries()["beginnings"],
        "but": sought.cause[1] if sought.cause[0] == object_type else None,
        "vector": None if sought.vector is None else HalfVector(sought.vector),
        "model": sought.embedding_model,
        "at_least": settings.MEMORY_LINK_MIN_SIMILARITY,
        "most_named": _MOST_NAMED,
        "most_near": MOST_OFFERED,
    }
    try:
        read = _statement(rows, columns).run(values)
    except EmptyResultSet:
        return []
    near = {pk for is_near, pk, *_ in read if is_near}
    found = list({pk: (pk, *rest) for _, pk, *rest in read}.values())
    stems = said.stems([*(each[1] for each in found), *(" ".join(_flat(more)) for _, _, *more in found)])
    contents, besides = stems[: len(found)], stems[len(found) :]
    offered = []
    for (pk, content, *_), words, beside in zip(found, contents, besides, strict=True):
        if said.is_said_by(words) or said.is_said_by(beside) or (pk in near and words & said.words):
            offered.append(Repetition(object_type, str(pk), content, said.is_all_of(words)))
    return sorted(offered, key=lambda each: not each.surely)[:MOST_OFFERED]


@lru_cache(maxsize=SHAPES)
def _statement(rows: Shaped, columns: tuple[str, ...]) -> PreparedStatement:
    """Compile the statement, shared by principals with the same kind of access. Raises EmptyResultSet."""
    built = rows.build().order_by()
    names = ["id", "content", *(f"c{number}" for number in range(len(columns)))]
    template = _SAID_AGAIN.replace("{names}", ", ".join(f"r.{name}" for name in names))
    template = template.replace("{columns}", ", ".join([*names, "updated_at", "search"]))
    template = template.replace("{id_type}", built.model._meta.pk.db_type(connection))
    read = {
        "rows": built.values_list("pk", "content", *columns, "updated_at", "search"),
        "vectors": built.values_list("pk", "embedding_model", "embedding"),
    }
    return build_statement(template, read, placeholders=rows.values.keys(), lasting=True)


def _flat(values: Iterable[str | Sequence[str]]) -> Iterator[str]:
    for value in values:
        yield from [value] if isinstance(value, str) else value

"""Search by meaning and by word over rows that the caller has already narrowed to what may be seen.

Every function takes a queryset of a ``Searchable`` model that has passed ``visible_to(principal)``. Its SQL becomes
the inner query of one statement, so the rule who may see what is written in one place, and the cost depends on the
owner's rows alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet, Value
from django.db.models.expressions import Combinable
from pgvector import HalfVector

from language.base import Vectors

from .reranking import Candidate, Said, scores_in_context
from .text import config_for, detect_config, list_query_words
from .weights import Weights, default_weights

CANDIDATES = 200
"""How many rows, at least, are looked at in their context; with 100 the tail of the first 20 suffers."""

CENTRE_SAMPLE = 500
"""About how many rows the owner's mean vector is taken from, a sample by the hashes of their ids. Of more it hardly
differs, and to sum up 10,000 would take longer than to compare them all with the question."""

CENTRE_ROWS = 20
"""With so many rows half of the centre's weight counts, with more nearer to all of it: few rows have no centre."""

HALF_BY_WORD = 8.0
"""The BM25 score that counts half as a relevance, where there is no vector."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is asked for.

    ``vector`` has the shape (dimensions,) and was made by ``embedding_model``; without one (the embedder is away) rows
    are found by word only. ``vector_before`` is the same by ``embedding_model_before``, whose vectors the rows have
    that are not moved to the new model yet. ``threshold`` cuts off hits whose score is below it. ``language`` is the
    language of ``text`` when it is known, e.g. ``de``.
    """

    text: str
    vector: Vectors | None
    embedding_model: str
    top_k: int
    threshold: float | None = None
    language: str = ""
    vector_before: Vectors | None = None
    embedding_model_before: str = ""


@dataclass(frozen=True, slots=True)
class Corpus:
    """How many rows the owner has and how many words they hold together, as the ledger counts them."""

    documents: int
    terms: int

    @property
    def average_length(self) -> float:
        """Words per row, at least 1."""
        return max(self.terms / self.documents, 1.0) if self.documents > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One row that was found.

    ``score`` orders the hits of one search and means nothing beside those of another. ``similarity`` is the cosine of
    the two vectors (``None``: one is missing), ``keyword`` the BM25 score (``None``: no word in common). ``level`` is
    the mean cosine of all rows that were searched (``None``: none has a vector), ``unit`` what one point of score is
    worth as a cosine.
    """

    id: Any
    score: float
    similarity: float | None
    keyword: float | None
    level: float | None = None
    unit: float = 0.0

    @property
    def relevance(self) -> float:
        """The score told as a cosine: what the row would have that stands where this one does by meaning alone.

        So it compares with the relevance of rows that other searches found for the same question. Where no vector says
        how near anything is, it goes by the common words, from 0 to 1.
        """
        if self.level is None:
            found = self.keyword or 0.0
            return found / (found + HALF_BY_WORD)
        return self.level + self.unit * self.score


def hybrid_search(
    rows: QuerySet[Any],
    query: SearchQuery,
    corpus: Corpus,
    weights: Weights | None = None,
    *,
    prior: Combinable | None = None,
    said: Said | None = None,
) -> list[Hit]:
    """Return the ``query.top_k`` best rows by meaning and by word, best first, equal ones by id.

    ``rows`` must be visible to the caller already. Rows without a vector of one of the query's models are found by
    word only, rows without a common word by meaning only. ``prior`` is an expression over the rows for what speaks for
    one whatever is asked, on the scale of ``weights``. With ``said``, the best ``CANDIDATES`` are ranked again by who
    said them and by what was said around them. One statement.
    """
    words = list_query_words(query.text)
    by_meaning = query.vector is not None or query.vector_before is not None
    if query.top_k < 1 or not (by_meaning or words):
        return []
    weights = weights or default_weights()
    rows = rows.order_by()
    place = (said.talk, said.place, said.speaker) if said else ("pk", "search_length", "embedding_model")
    found = _run(
        rows,
        "hybrid",
        vector=_text_of(query.vector),
        has_vector=query.vector is not None,
        vectors=rows.filter(embedding_model=query.embedding_model).values_list("pk", "embedding"),
        vector_before=_text_of(query.vector_before),
        has_vector_before=query.vector_before is not None,
        vectors_before=rows.filter(embedding_model=query.embedding_model_before).values_list("pk", "embedding"),
        centre=weights.centre,
        centre_rows=CENTRE_ROWS,
        every=max(1, round(corpus.documents / CENTRE_SAMPLE)),
        texts=rows.values_list("pk", "search_config", "search", "search_length"),
        configs=rows.values_list("search_config"),
        words=words,
        query_config=config_for(query.language) if query.language else detect_config(query.text),
        documents=corpus.documents,
        average_length=corpus.average_length,
        saturation=weights.saturation,
        length_share=weights.length_share,
        vector_weight=weights.vector,
        keyword_weight=weights.keyword,
        meaning_share=weights.vector or 1.0,
        has_prior=prior is not None,
        priors=rows.values_list("pk", Value(0.0) if prior is None else prior),
        has_place=said is not None,
        places=rows.values_list("pk", *place, "search_length"),
        limit=max(query.top_k, CANDIDATES) if said else query.top_k,
    )
    candidates = [Candidate(*row) for row in found]
    if said:
        scores = scores_in_context(candidates, query.text, weights)
    else:
        scores = [candidate.found + candidate.prior for candidate in candidates]
    hits = [
        Hit(candidate.id, score, candidate.similarity, candidate.keyword, candidate.level, candidate.unit)
        for candidate, score in zip(candidates, scores, strict=True)
        if query.threshold is None or score >= query.threshold
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits[: query.top_k]


def nearest(rows: QuerySet[Any], vector: Vectors, embedding_model: str, k: int, at_least: float) -> list[Hit]:
    """Return the ``k`` rows whose vectors are nearest to ``vector``, exactly, best first, equal ones by id.

    Only vectors of ``embedding_model`` are compared, and only cosines of ``at_least`` come back. ``rows`` must be
    visible to the caller already. One statement.
    """
    if k < 1:
        return []
    found = _run(
        rows,
        "nearest",
        vector=_text_of(vector),
        vectors=rows.order_by().filter(embedding_model=embedding_model).values_list("pk", "embedding"),
        at_least=at_least,
        top_k=k,
    )
    return [Hit(*row) for row in found]


def _text_of(vector: Vectors | None) -> str | None:
    return None if vector is None else HalfVector(vector).to_text()


def _run(rows: QuerySet[Any], name: str, **parts: Any) -> list[tuple[Any, ...]]:
    try:
        sql, params = _fill(_statement(name), parts)
    except EmptyResultSet:
        return []
    with connections[rows.db].cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


@cache
def _statement(name: str) -> str:
    """Read a named statement, without its comments: they would be sent and parsed with every search."""
    text = (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return re.sub(r"--[^\n]*\n", "\n", text)


def _fill(template: str, parts: dict[str, Any]) -> tuple[str, list[Any]]:
    """Put each named part in its place: a queryset as its SQL, anything else as a parameter.

    Raises EmptyResultSet when a queryset can't have rows.
    """
    params: list[Any] = []
    compiled: dict[str, tuple[str, Sequence[Any]]] = {}

    def place(match: re.Match[str]) -> str:
        name = match[1]
        part = parts[name]
        if not isinstance(part, QuerySet):
            params.append(part)
            return "%s"
        if name not in compiled:
            compiled[name] = part.query.get_compiler(part.db).as_sql()
        sql, values = compiled[name]
        params.extend(values)
        return sql

    return re.sub(r"\{(\w+)\}", place, template), params

"""Hybrid search by vectors and words over rows that are visible to the caller.

Every function takes a queryset of a ``Searchable`` model after ``visible_to(principal)``. Its SQL becomes the inner
query of one statement, so the visibility rule is not repeated here, and the cost depends on the owner's rows alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet, Value
from django.db.models.expressions import Combinable
from pgvector import HalfVector

from language.base import Vectors

from .prepared import SHAPES, Call, PreparedStatement, Rows, Shaped, Steps, Stepwise, build_statement
from .reranking import RerankCandidate, TurnColumns, scores_in_context
from .text import LETTERS_WRONG, config_for, detect_config, is_like, list_query_words, names_in
from .weights import SearchWeights, default_weights

CANDIDATES = 200
"""The least number of rows to rerank; with 100, the lower ranks of the first 20 get worse."""

CENTRE_SAMPLE = 500
"""About how many rows the owner's mean vector is computed from, sampled by hashes of ids. More rows hardly change it,
and summing up 10,000 would take longer than comparing them all with the question."""

CENTRE_ROWS = 20
"""The number of rows at which half of the centre's weight applies. The mean of few rows says little."""

FEW_WORDS = 40
"""Up to this length of a text, in words, repeated words are not counted."""

FEW_TERMS = 16
"""Up to this many query words, testing each against a text is quicker than unnesting the text."""

ALIKE = 0.3
MOST_ALIKE = 5
"""The least trigram similarity, and the most words, that are considered for a name that no text contains."""

MOST_NAMES = 4
"""How many names of a question are searched for with misspellings. Each is compared with every distinct word of the
owner, and some languages capitalise every noun."""

ALIKE_TERMS = 100_000
"""Owners with more words than this are not searched for misspelt names: a million words would take most of a second."""

HALF_BY_WORD = 8.0
"""The BM25 score that gives a relevance of 0.5, if there is no vector."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search.

    ``vector`` has the shape (dimensions,) and was made by ``embedding_model``; if it is None (the embedder is
    unavailable), rows are found by word only. ``vector_before`` is the vector by ``embedding_model_before``, for rows
    that are not re-embedded yet. ``threshold`` is the least score of a hit. ``language`` is the language of ``text``,
    e.g. ``de``, if known.
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
    """The number of the owner's rows, and of words in them, as the ledger counts them."""

    documents: int
    terms: int

    @property
    def average_length(self) -> float:
        """Words a row, at least 1."""
        return max(self.terms / self.documents, 1.0) if self.documents > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that was found.

    ``score`` orders the hits of one search; scores of two searches can't be compared. ``similarity`` is the cosine of
    the two vectors (None if one is missing), ``keyword`` the BM25 score (None without a common word). ``level`` is the
    mean cosine of all searched rows (None if none has a vector), ``unit`` the cosine that corresponds to a score of 1.
    ``columns`` are the values of the requested columns.
    """

    id: Any
    score: float
    similarity: float | None
    keyword: float | None
    level: float | None = None
    unit: float = 0.0
    columns: tuple[Any, ...] = ()

    @property
    def relevance(self) -> float:
        """The score converted to a cosine, so that it can be compared with hits of other searches for the question.

        Without any vector, it is a saturating function of the BM25 score, from 0 to 1.
        """
        if self.level is None:
            found = self.keyword or 0.0
            return found / (found + HALF_BY_WORD)
        return self.level + self.unit * self.score


@dataclass(frozen=True, slots=True)
class Centre:
    """The mean of an owner's vectors of one model, None without any, and the number of rows it was computed from."""

    mean: HalfVector | None
    rows: int

    def share(self, weights: SearchWeights) -> float:
        """Return the share of it that is subtracted from a question's vector; small for few rows."""
        return weights.centre * self.rows / (self.rows + CENTRE_ROWS)


NO_CENTRE = Centre(None, 0)


@Stepwise
def hybrid_search(
    rows: QuerySet[Any] | Shaped,
    query: SearchQuery,
    corpus: Corpus,
    weights: SearchWeights | None = None,
    *,
    prior: Combinable | None = None,
    said: TurnColumns | None = None,
    columns: tuple[str, ...] = (),
    centre: Centre | None = None,
    without: Collection[Any] = (),
) -> Steps[list[Hit]]:
    """Return the ``query.top_k`` best rows by vector and words, best first, ties by id.

    ``rows`` must be visible to the caller; ids of ``without`` are excluded. Rows without a vector of the query's models
    are found by words only, rows without a common word by vector only. ``prior`` is an expression over the rows that is
    added to the score, on the scale of ``weights``. With ``said``, the best ``CANDIDATES`` are reranked by speaker and
    context. Each hit has the values of ``columns``. ``centre`` is the known centre of the rows for the query's model.

    Names in the question that no row contains, at most ``MOST_NAMES``, are also searched for with up to
    ``LETTERS_WRONG`` wrong letters.

    Runs one statement, one more for each missing centre, and up to two for unknown names.
    """
    words = list_query_words(query.text)
    by_meaning = query.vector is not None or query.vector_before is not None
    if query.top_k < 1 or not (by_meaning or words):
        return []
    weights = weights or default_weights()
    if said:
        columns = (said.talk, said.place, said.speaker, "search_length")
    try:
        statement = _hybrid(rows, columns, prior, bool(without))
        if centre is None:
            centre = centre_of(rows, query.embedding_model, corpus) if query.vector is not None else NO_CENTRE
        before = NO_CENTRE
        if query.vector_before is not None:
            before = centre_of(rows, query.embedding_model_before, corpus)
    except EmptyResultSet:
        return []
    values: dict[Any, Any] = {
        "model": query.embedding_model,
        "without": list(without),
        "vector": _as_sent(query.vector),
        "mean": centre.mean,
        "share": centre.share(weights),
        "model_before": query.embedding_model_before,
        "vector_before": _as_sent(query.vector_before),
        "mean_before": before.mean,
        "share_before": before.share(weights),
        "words": words,
        "places": list(range(len(words))),
        "query_config": config_for(query.language) if query.language else detect_config(query.text),
        "few_words": FEW_WORDS if len(words) <= FEW_TERMS else 0,
        "documents": float(corpus.documents),
        "average_length": corpus.average_length,
        "saturation": weights.saturation,
        "length_share": weights.length_share,
        "vector_weight": weights.vector,
        "keyword_weight": weights.keyword,
        "meaning_share": weights.vector or 1.0,
        "limit": max(query.top_k, CANDIDATES) if said else query.top_k,
    }
    if isinstance(rows, Shaped):
        values |= rows.values
    found = yield Call(statement, values)
    unheard = names_in(query.text).intersection(found[0][7]) if found and corpus.terms <= ALIKE_TERMS else set()
    if names := [word for word in words if word in unheard][:MOST_NAMES]:
        spelt = [(words.index(name), word) for name, word in (yield from _spelt_alike(rows, names, without))]
        if spelt:
            values["words"] = [*words, *(word for _, word in spelt)]
            values["places"] = [*range(len(words)), *(place for place, _ in spelt)]
            found = yield Call(statement, values)
    return _hits(found, query, weights, in_context=said is not None)


def centre_of(rows: QuerySet[Any] | Shaped, embedding_model: str, corpus: Corpus) -> Centre:
    """Return the centre of the rows' vectors of a model; of a sample if there are many rows. One statement."""
    values: dict[Any, Any] = {"every": max(1, round(corpus.documents / CENTRE_SAMPLE))}
    if isinstance(rows, Shaped):
        values |= rows.values
    try:
        ((mean, count),) = _centre(rows, embedding_model).run(values)
    except EmptyResultSet:
        return NO_CENTRE
    return Centre(None if mean is None else HalfVector(mean), count)


def _spelt_alike(
    rows: QuerySet[Any] | Shaped, names: Sequence[str], without: Collection[Any]
) -> Steps[list[tuple[str, str]]]:
    """Return pairs of a name and a word of the rows that may be a spelling of it."""
    values: dict[Any, Any] = {
        "without": list(without),
        "names": list(names),
        "letters_wrong": LETTERS_WRONG,
        "at_least": ALIKE,
        "most": MOST_ALIKE,
    }
    if isinstance(rows, Shaped):
        values |= rows.values
    found = yield Call(_alike(rows), values)
    return [(name, word) for name, word in found if is_like(name, word)]


def _hits(found: Rows, query: SearchQuery, weights: SearchWeights, *, in_context: bool) -> list[Hit]:
    if in_context:
        candidates = [RerankCandidate(*row[:7], *row[9:]) for row in found]
        scores = scores_in_context(candidates, query.text, weights)
    else:
        scores = [row[1] + row[2] for row in found]
    ranked = sorted(zip(scores, found, strict=True), key=lambda each: (-each[0], each[1][0]))
    return [
        Hit(row[0], score, row[3], row[4], row[5], row[6], row[9:])
        for score, row in ranked[: query.top_k]
        if query.threshold is None or score >= query.threshold
    ]


def read_places(rows: Shaped, places: Sequence[tuple[Any, int]], columns: tuple[str, ...]) -> Rows:
    """Return the id and columns of the rows at these places, given as (conversation, position), in no order.

    The first two ``columns`` must be those of the conversation and the position. One statement.
    """
    values: dict[Any, Any] = {"talks": [talk for talk, _ in places], "places": [place for _, place in places]}
    return _places(rows, columns).run(values | dict(rows.values))


def has_model(rows: QuerySet[Any] | Shaped, embedding_model: str) -> bool:
    """Whether any of the rows has a vector of this model. One statement."""
    if not isinstance(rows, Shaped):
        return rows.order_by().filter(embedding_model=embedding_model).exists()
    return centre_of(rows, embedding_model, Corpus(0, 0)).rows > 0


@Stepwise
def read_columns(rows: QuerySet[Any] | Shaped, ids: Sequence[Any], columns: tuple[str, ...]) -> Steps[Rows]:
    """Return the id and columns of the rows with these ids, in no order. One statement."""
    if not isinstance(rows, Shaped):
        return list(rows.order_by().filter(pk__in=ids).values_list("pk", *columns))
    return (yield Call(_columns(rows, columns), {"ids": list(dict.fromkeys(ids)), **rows.values}))


class _StatementCache:
    """Caches the statements that a function builds for ``Shaped`` rows."""

    def __init__(self, put: Callable[..., PreparedStatement]) -> None:
        self._put = put
        self._kept = lru_cache(maxsize=SHAPES)(put)

    def __call__(self, rows: QuerySet[Any] | Shaped, *options: Any) -> PreparedStatement:
        return (self._kept if isinstance(rows, Shaped) else self._put)(rows, *options)

    def clear(self) -> None:
        """Clear the cache."""
        self._kept.cache_clear()


@_StatementCache
def _hybrid(
    rows: QuerySet[Any] | Shaped, columns: tuple[str, ...], prior: Combinable | None, has_left_out: bool
) -> PreparedStatement:
    built = _built(rows)
    # With nothing to leave out, looking each row up among nothing took a thirtieth of the time.
    left_out = f"WHERE r.id NOT IN (SELECT unnest({{without}}::{_id_type(built)}[]))" if has_left_out else ""
    template = _template("hybrid").replace("{detail_names}", _names(columns)).replace("{left_out}", left_out)
    speaks_for = Value(0.0) if prior is None else prior
    read = ("pk", "search_config", "search", "search_length", speaks_for, "embedding_model", "embedding")
    querysets = {"rows": built.values_list(*read), "details": built.values_list("pk", *columns)}
    return build_statement(template, querysets, **_lasting(rows))


@_StatementCache
def _centre(rows: QuerySet[Any] | Shaped, model: str) -> PreparedStatement:
    vectors = _built(rows).filter(embedding_model=model).values_list("pk", "embedding")
    return build_statement(_template("centre"), {"vectors": vectors}, **_lasting(rows))


@_StatementCache
def _columns(rows: QuerySet[Any] | Shaped, columns: tuple[str, ...]) -> PreparedStatement:
    built = _built(rows)
    template = _template("columns").replace("{detail_names}", _names(columns)).replace("{id_type}", _id_type(built))
    return build_statement(template, {"rows": built.values_list("pk", *columns)}, **_lasting(rows))


@_StatementCache
def _places(rows: QuerySet[Any] | Shaped, columns: tuple[str, ...]) -> PreparedStatement:
    template = _template("places").replace("{detail_names}", _names(columns))
    return build_statement(template, {"rows": _built(rows).values_list("pk", *columns)}, **_lasting(rows))


@_StatementCache
def _alike(rows: QuerySet[Any] | Shaped) -> PreparedStatement:
    built = _built(rows)
    template = _template("alike").replace("{id_type}", _id_type(built))
    return build_statement(template, {"texts": built.values_list("pk", "search")}, **_lasting(rows))


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(["id", *(f"c{number}" for number in range(len(columns)))])


def _id_type(rows: QuerySet[Any]) -> str:
    return rows.model._meta.pk.db_type(connections[rows.db])


def _built(rows: QuerySet[Any] | Shaped) -> QuerySet[Any]:
    return (rows.build() if isinstance(rows, Shaped) else rows).order_by()


def _lasting(rows: QuerySet[Any] | Shaped) -> dict[str, Any]:
    return {"placeholders": rows.values.keys(), "lasting": True} if isinstance(rows, Shaped) else {}


def nearest(rows: QuerySet[Any], vector: Vectors, embedding_model: str, k: int, at_least: float) -> list[Hit]:
    """Return the ``k`` rows nearest to ``vector`` by exact search, best first, ties by id.

    Only vectors of ``embedding_model`` with a cosine of ``at_least`` count. ``rows`` must be visible to the caller. One
    statement.
    """
    if k < 1:
        return []
    vectors = rows.order_by().filter(embedding_model=embedding_model).values_list("pk", "embedding")
    try:
        statement = build_statement(_template("nearest"), {"vectors": vectors})
    except EmptyResultSet:
        return []
    found = statement.run({"vector": _as_sent(vector), "at_least": at_least, "top_k": k})
    return [Hit(*row) for row in found]


def _as_sent(vector: Vectors | None) -> HalfVector | None:
    return None if vector is None else HalfVector(vector)


@cache
def _template(name: str) -> str:
    """Read an SQL template without its comments, which would be sent and parsed with every search."""
    text = (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"--[^\n]*\n", "\n", text))

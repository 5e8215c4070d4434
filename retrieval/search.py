"""Search by meaning and by word over rows that the caller has already narrowed to what may be seen.

Every function takes a queryset of a ``Searchable`` model that has passed ``visible_to(principal)``. Its SQL becomes
the inner query of one statement, so the rule who may see what is written in one place, and the cost depends on the
owner's rows alone.
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
"""How many rows, at least, are looked at in their context; with 100 the tail of the first 20 suffers."""

CENTRE_SAMPLE = 500
"""About how many rows the owner's mean vector is taken from, a sample by the hashes of their ids. Of more it hardly
differs, and to sum up 10,000 would take longer than to compare them all with the question."""

CENTRE_ROWS = 20
"""With so many rows half of the centre's weight counts, with more nearer to all of it: few rows have no centre."""

FEW_WORDS = 40
"""Texts of so many words say little more by saying a word twice."""

FEW_TERMS = 16
"""Of so many words it is quicker to ask of each whether a text holds it than to take the text apart."""

ALIKE = 0.3
MOST_ALIKE = 5
"""Of a name that no text holds, so many words are looked at that have so much in common with it by their trigrams."""

MOST_NAMES = 4
"""Names of a question that are looked for in that way. Each is compared with every different word of the owner's, and
in some languages every noun begins with a capital."""

ALIKE_TERMS = 100_000
"""Owners who have more words than that are not looked through for them: a million would take most of a second."""

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
    worth as a cosine. ``columns`` are the values that were asked for.
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
        """The score told as a cosine: what the row would have that stands where this one does by meaning alone.

        So it compares with the relevance of rows that other searches found for the same question. Where no vector says
        how near anything is, it goes by the common words, from 0 to 1.
        """
        if self.level is None:
            found = self.keyword or 0.0
            return found / (found + HALF_BY_WORD)
        return self.level + self.unit * self.score


@dataclass(frozen=True, slots=True)
class Centre:
    """The mean of an owner's vectors, of one model; None without any. ``rows`` is how many it was taken from."""

    mean: HalfVector | None
    rows: int

    def share(self, weights: SearchWeights) -> float:
        """How much of it is taken from a question: of few rows there is no centre yet."""
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
    """Return the ``query.top_k`` best rows by meaning and by word, best first, equal ones by id.

    ``rows`` must be visible to the caller already; those with an id of ``without`` are none of them. Rows without a
    vector of one of the query's models are found by word only, rows without a common word by meaning only. ``prior`` is
    an expression over the rows for what speaks for one whatever is asked, on the scale of ``weights``. With ``said``,
    the best ``CANDIDATES`` are ranked again by who said them and by what was said around them. ``columns`` are those of
    which each hit brings the values. ``centre`` is that of the rows for the query's model, if it is known.

    A name that none of the rows holds is looked for with a letter or two wrong, of several the first ``MOST_NAMES``.

    One statement, one more for each centre that is needed and not given, and up to two for names that nobody has.
    """
    words = list_query_words(query.text)
    by_meaning = query.vector is not None or query.vector_before is not None
    if query.top_k < 1 or not (by_meaning or words):
        return []
    weights = weights or default_weights()
    if said:
        columns = (said.talk, said.place, said.speaker, "search_length")
    try:
        statement = _hybrid(rows, columns, prior)
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
    """The centre of these rows among the vectors of a model, of a sample if there are many. One statement."""
    values: dict[Any, Any] = {"every": max(1, round(corpus.documents / CENTRE_SAMPLE))}
    if isinstance(rows, Shaped):
        values |= rows.values
    try:
        ((mean, count),) = _centre(rows, embedding_model).run(values)
    except EmptyResultSet:
        return NO_CENTRE
    return Centre(None if mean is None else HalfVector.from_binary(mean), count)


def _spelt_alike(
    rows: QuerySet[Any] | Shaped, names: Sequence[str], without: Collection[Any]
) -> Steps[list[tuple[str, str]]]:
    """Words of the rows that may be one of these names, each with the name."""
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
    """The id and the columns of those of the rows that stand at these places, each a talk and a place there.

    The columns begin with those that say so. In no order. One statement.
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
    """The id and the columns of those of the rows that have one of these ids, in no order. One statement."""
    if not isinstance(rows, Shaped):
        return list(rows.order_by().filter(pk__in=ids).values_list("pk", *columns))
    return (yield Call(_columns(rows, columns), {"ids": list(dict.fromkeys(ids)), **rows.values}))


class _StatementCache:
    """Keeps what a function puts together for rows that are told by their shape."""

    def __init__(self, put: Callable[..., PreparedStatement]) -> None:
        self._put = put
        self._kept = lru_cache(maxsize=SHAPES)(put)

    def __call__(self, rows: QuerySet[Any] | Shaped, *options: Any) -> PreparedStatement:
        return (self._kept if isinstance(rows, Shaped) else self._put)(rows, *options)

    def clear(self) -> None:
        """Put everything together anew."""
        self._kept.cache_clear()


@_StatementCache
def _hybrid(rows: QuerySet[Any] | Shaped, columns: tuple[str, ...], prior: Combinable | None) -> PreparedStatement:
    built = _built(rows)
    template = _template("hybrid").replace("{detail_names}", _names(columns)).replace("{id_type}", _id_type(built))
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
    """Return the ``k`` rows whose vectors are nearest to ``vector``, exactly, best first, equal ones by id.

    Only vectors of ``embedding_model`` are compared, and only cosines of ``at_least`` come back. ``rows`` must be
    visible to the caller already. One statement.
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
    """Read a named statement, without its comments: they would be sent and parsed with every search."""
    text = (Path(__file__).parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")
    return re.sub(r"\s+", " ", re.sub(r"--[^\n]*\n", "\n", text))

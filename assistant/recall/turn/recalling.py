"""Recall for a message: a first search, a second, wider one if the first was not confident, and neighbours."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

import numpy as np
import structlog
from django.conf import settings

from accounts import categories
from accounts.principals import Principal
from conversations.models import Message
from conversations.searching import InPrompt, Recallable, TurnRow, read_turns_at, turns_shape
from facts.searching import FactSelection
from language.backends import get_embedder, get_embedder_before
from language.base import Embedder, Vectors
from language.reranker import RERANKED, is_reranking, reranked
from memories.searching import Narrowing, present_shape, read_memories
from retrieval.budget import pack
from retrieval.prepared import Shaped, together
from retrieval.search import Hit

from ..marking import mark_turns
from ..search import FoundMemories, QueryVector, find_chunks, find_facts, find_memories, find_turns
from .pieces import Piece, Recalled, SaidPiece, chunk_piece, fact_piece, memory_piece, turn_piece

log = structlog.get_logger(__name__)

BY_MEANING_ALONE = 0.4
"""What the score of a row counts as a sign that it fits, when it has no word in common with the message.

"And when was that?" is as near to some rows as a good question is to its answer, and has no word of theirs.
"""

OWN_SHARE = 0.5
"""What the vector of a message counts beside that of the person's message before it, when both are looked for."""

WORDS_FROM = 300
"""So many characters of each are looked for by their words."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the prompt contains anyway: ``prompt`` of its conversation, and ids by source.

    ``legacy_id``: the legacy of the conversation; ``memories``: those of the block.
    """

    legacy_id: UUID | None
    prompt: InPrompt
    facts: Sequence[UUID] = ()
    chunks: Sequence[UUID] = ()
    memories: Sequence[str] = ()

    @property
    def said(self) -> Recallable:
        """Return the messages that may be recalled."""
        return Recallable(self.legacy_id)


class _Together(QueryVector):
    """A query from a message and the person's previous one: the words of both, and their mean vector.

    The vector of the previous message is stored, so it needs no embedding.
    """

    def __init__(self, principal: Principal, query: QueryVector, before: TurnRow) -> None:
        super().__init__(f"{query.text[:WORDS_FROM]}\n{before.content[:WORDS_FROM]}")
        self._query = query
        self._counted = query._counted
        self._earlier = Message.objects.visible_to(principal).filter(pk=before.pk)

    @cached_property
    def vector(self) -> Vectors | None:
        """The unit vector, of shape (dimensions,); that of the message alone if the previous one has none."""
        return self._mixed(self._query.vector, get_embedder())

    @cached_property
    def vector_before(self) -> Vectors | None:
        """The vector of the previous embedder."""
        before = get_embedder_before()
        return None if before is None else self._mixed(self._query.vector_before, before)

    def _mixed(self, vector: Vectors | None, embedder: Embedder) -> Vectors | None:
        stored = self._earlier.filter(embedding_model=embedder.name).values_list("embedding", flat=True).first()
        if vector is None or stored is None:
            return vector
        mixed: Vectors = OWN_SHARE * vector + np.asarray(stored, dtype=np.float32)
        return mixed / max(float(np.linalg.norm(mixed)), 1e-6)


def recall(principal: Principal, content: str, before: TurnRow | None, shown: Shown) -> Recalled:
    """Return rows relevant to the message ``content`` that the prompt does not contain anyway.

    If no score reaches ``RECALL_CONFIDENT`` and there are more rows, a second search includes the person's message
    ``before``. Turns come with their neighbours.
    """
    query = QueryVector(content)
    recalled = _first_search(principal, query, shown)
    if recalled.best is not None and recalled.best < settings.RECALL_CONFIDENT:
        began = time.perf_counter()
        _second_search(principal, query, before, shown, recalled)
        recalled.again_seconds = time.perf_counter() - began
        log.info("recalled_again", milliseconds=round(1_000 * recalled.again_seconds, 1), best=round(recalled.best, 2))
    recalled.neighbours = _neighbours(principal, recalled.turns, shown)
    return recalled


def _first_search(principal: Principal, query: QueryVector, shown: Shown) -> Recalled:
    recalled = Recalled()
    said, prompt, legacy_id = shown.said, shown.prompt, shown.legacy_id
    most = {
        "chunks": settings.RECALLED_CHUNKS,
        "turns": settings.RECALLED_TURNS,
        "memories": settings.RECALLED_MEMORIES,
        "facts": settings.RECALLED_FACTS,
    }
    kept = most
    if is_reranking():  # Each source contributes its share of candidates for reranking.
        share = RERANKED // (len(most) if legacy_id is not None else len(most) - 1)
        most = {name: max(count, share) for name, count in most.items()}
    carried = [name for name, category in categories.load().by_name.items() if category.context == "all"]
    rows = present_shape(principal, Narrowing(beside=frozenset(carried)))
    chunks_shown, facts_shown = shown.chunks, shown.facts
    searches = [
        find_chunks.steps(principal, query, wanted=said, top_k=most["chunks"], shown=prompt, without=chunks_shown),
        find_turns.steps(principal, query, wanted=said, top_k=most["turns"], shown=prompt),
        find_memories.steps(principal, query, rows=rows, top_k=most["memories"]),
    ]
    if legacy_id is not None:
        about = FactSelection(legacy_id)
        searches.append(find_facts.steps(principal, query, wanted=about, top_k=most["facts"], without=facts_shown))
    chunks, turns, memories, *others = together(*searches)
    facts = others[0] if others else []
    found = {"facts": facts, "chunks": chunks, "turns": turns, "memories": memories.memories}
    hits = [each.hit for group in found.values() for each in group]
    full = any(len(group) >= kept[name] for name, group in found.items())
    if most is not kept:
        chosen = _best_of_each(query.text, found, kept)
        facts, chunks, turns = chosen["facts"], chosen["chunks"], chosen["turns"]
        memories = replace(memories, memories=chosen["memories"])
    recalled.chunks = [chunk_piece(each.row) for each in chunks]
    recalled.turns = [turn_piece(each.row) for each in turns]
    recalled.facts = [fact_piece(each.row, principal) for each in facts]
    _take_memories(memories, rows, recalled)
    if full and hits:  # Else everything was found, and a second search finds nothing new.
        recalled.best = max(0.0, *map(_fits, hits))
    return recalled


def _best_of_each(question: str, found: Mapping[str, Sequence[Any]], most: Mapping[str, int]) -> dict[str, list[Any]]:
    """Rerank the first few of all sources in one call."""
    every = [(name, each) for name, group in found.items() for each in group]
    order = reranked(question, every, lambda pair: str(pair[1].row.content))
    return {name: [each for kind, each in order if kind == name][: most[name]] for name in found}


def _take_memories(found: FoundMemories, rows: Shaped, recalled: Recalled) -> None:
    """Recall memories that are not in the block, and memories in ``rows`` related to them."""
    ids = {each.row.id for each in found.memories}
    others = [edge.beyond(ids) for edge in found.edges if edge.touches(ids)]
    known = read_memories(rows, others) if others else {}
    beside = [known[memory_id] for memory_id in dict.fromkeys(others) if memory_id in known]
    recalled.memories = [memory_piece(each.row) for each in found.memories]
    recalled.related = [memory_piece(row) for row in beside[: settings.QUERY_RELATED]]


def _fits(hit: Hit) -> float:
    """Return the confidence of a hit, in standard deviations above the mean score of the person's rows.

    A plain cosine would depend on the embedder. None without vectors.
    """
    if hit.level is None:
        return math.inf
    return hit.score if hit.keyword is not None else BY_MEANING_ALONE * hit.score


def _second_search(
    principal: Principal, query: QueryVector, before: TurnRow | None, shown: Shown, recalled: Recalled
) -> None:
    """Add the best of all readable rows not shown yet, if they are likely to be relevant.

    Includes facts of all legacies if the conversation is about none, and memories newer than the pinned block. A
    message without content words ("And when was that?") is combined with the person's previous message.
    """
    if before is not None:
        query = _Together(principal, query, before)
    most = settings.RECALLED_AGAIN
    longest = settings.RECALLED_AGAIN_TOKENS // 2
    found: list[tuple[float, Hit, Piece]] = []
    facts_shown = [*shown.facts, *_ids(recalled.facts)]
    memories_shown = [*shown.memories, *_ids([*recalled.memories, *recalled.related])]
    rows = present_shape(principal, Narrowing())
    said, prompt = shown.said, shown.prompt
    chunks_shown = [*shown.chunks, *_ids(recalled.chunks)]
    turns_shown = _ids(recalled.turns)
    facts, memories, chunks, turns = together(
        find_facts.steps(principal, query, wanted=FactSelection(shown.legacy_id), top_k=most, without=facts_shown),
        find_memories.steps(principal, query, rows=rows, top_k=most, without=memories_shown),
        find_chunks.steps(principal, query, wanted=said, top_k=most, shown=prompt, without=chunks_shown),
        find_turns.steps(principal, query, wanted=said, top_k=most, shown=prompt, without=turns_shown),
    )
    found += [(each.hit.relevance, each.hit, fact_piece(each.row, principal)) for each in facts]
    found += [(each.relevance, each.hit, memory_piece(each.row)) for each in memories.memories]
    found += [(each.hit.relevance, each.hit, chunk_piece(each.row, longest)) for each in chunks]
    found += [(each.hit.relevance, each.hit, turn_piece(each.row, longest)) for each in turns]
    fitting = [each for each in found if _may_fit(each[1], each[2].kind)]
    fitting.sort(key=lambda each: (-each[0], each[2].kind, str(each[2].id)))
    packed = pack([piece for _, _, piece in fitting[:most]], settings.RECALLED_AGAIN_TOKENS, lambda piece: piece.tokens)
    for piece in packed.kept:
        getattr(recalled, piece.kind).append(piece)


def _may_fit(hit: Hit, kind: str) -> bool:
    """Whether a hit of the second search is likely to be relevant.

    Among few rows none is far from the mean, so a common word suffices, except for messages, which are many.
    """
    return _fits(hit) >= settings.RECALL_CONFIDENT or (kind != "turns" and hit.keyword is not None)


def _ids(pieces: Iterable[Piece]) -> list[Any]:
    return [piece.id for piece in pieces]


def _neighbours(principal: Principal, turns: Sequence[SaidPiece], shown: Shown) -> list[SaidPiece]:
    """Return the messages before and after each of these, in order, without those already shown."""
    there = {(turn.talk, turn.place) for turn in turns}
    around = dict.fromkeys((turn.talk, turn.place + step) for turn in turns for step in (-1, 1))
    wanted = [key for key in around if key not in there]
    if not wanted:
        return []
    found = mark_turns(read_turns_at(turns_shape(principal, shown.said, shown.prompt), wanted))
    return [turn_piece(found[key], settings.RECALLED_NEIGHBOUR_TOKENS) for key in wanted if key in found]

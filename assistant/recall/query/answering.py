"""Answers a query: merges and ranks the results of all sources, applies the budget, adds related memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import structlog
from django.conf import settings

from accounts.principals import Principal
from conversations.actions import conversation_set_told_rev
from conversations.policy import may_pin
from journal.actions import count_use
from language.backends import get_model
from language.base import LanguageError, Passage
from language.reranker import RERANKED, is_reranking, reranked
from language.tokens import count_tokens
from memories.actions import memories_show
from memories.delta import memory_delta
from memories.models import Disclosure
from memories.searching import read_memories
from retrieval.budget import pack

from ..search import QueryVector
from .question import MEMORIES, Question, Scope, scope_of
from .sources import Result, SourceResults, longest_text, memory_result, search_sources

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RelatedResult:
    """A memory related to a result, with the relation."""

    result: Result
    type: str


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """Results, best first; ``related`` by the id of the memory they are related to.

    ``tokens`` are those of all lines. ``delta``: changes since the conversation's last query.
    """

    results: list[Result]
    related: dict[str, list[RelatedResult]] = field(default_factory=dict)
    delta: str | None = None
    tokens: int = 0
    revision: int = 0

    @property
    def memory_ids(self) -> list[str]:
        """The ids of its memories: results first, then related ones."""
        found = [result.id for result in self.results if result.source == MEMORIES]
        return found + [each.result.id for related in self.related.values() for each in related]


def memory_query(principal: Principal, question: Question) -> QueryAnswer:
    """Answer a query, and log disclosures and uses in the background.

    With a conversation the answer contains the delta. Raises what ``scope_of`` raises.
    """
    scope = scope_of(principal, question)
    answer = _answer(scope)
    conversation_id = scope.conversation.pk if scope.conversation else None
    memories_show(principal, Disclosure.By.QUERY, [], recalled=answer.memory_ids, conversation_id=conversation_id)
    talk = scope.conversation
    if talk is not None and answer.delta is not None and scope.principal == principal and may_pin(principal, talk):
        conversation_set_told_rev(principal, talk, answer.revision)
    return answer


def answer_question(principal: Principal, question: Question) -> QueryAnswer:
    """Answer a query without logging, for evaluation. Changes nothing."""
    return _answer(scope_of(principal, question))


def _answer(scope: Scope) -> QueryAnswer:
    revision = scope.principal.rev
    if not scope.is_open:
        return QueryAnswer([], revision=revision)
    delta = memory_delta(scope.principal, scope.conversation.seen_rev) if scope.conversation else None
    asked = scope.question
    if not asked.query.strip():
        return QueryAnswer([], delta=delta, revision=revision)
    most = max(asked.top_k, settings.QUERY_CHOSEN_AMONG) if asked.agentic else asked.top_k
    most = max(most, RERANKED) if is_reranking() else most
    found = search_sources(scope, QueryVector(asked.query), most)
    results = sorted(found.results, key=lambda each: (-each.score, each.source, each.id))
    if asked.threshold is not None:
        results = [result for result in results if result.score >= asked.threshold]
    results = reranked(asked.query, results, lambda result: result.text)
    if asked.agentic:
        results = _chosen(asked, results[: settings.QUERY_CHOSEN_AMONG])
    packed = pack(results[: asked.top_k], asked.budget_tokens, _cost)
    related, tokens = _related(scope, found, packed.kept, asked.budget_tokens - packed.tokens)
    return QueryAnswer(packed.kept, related, delta, packed.tokens + tokens, revision)


def _chosen(question: Question, results: list[Result]) -> list[Result]:
    """Return the results that the model selects, in its order; all if it is unavailable."""
    passages = [Passage(str(number), result.text) for number, result in enumerate(results)]
    try:
        chosen = set(count_use("select", get_model().select, question.query, passages, question.top_k).ids)
    except LanguageError as error:
        log.warning("query_not_chosen", error=type(error).__name__)
        return results
    return [result for number, result in enumerate(results) if str(number) in chosen]


def _related(
    scope: Scope, found: SourceResults, kept: Sequence[Result], left: int
) -> tuple[dict[str, list[RelatedResult]], int]:
    """Return memories related to the results and not among them, within the budget, and their tokens.

    Strongest relations first, each memory once, with the same filters as the results.
    """
    ids = {result.id for result in kept if result.source == MEMORIES}
    beyond = [edge for edge in found.edges if edge.touches(ids)]
    if not beyond or found.rows is None:
        return {}, 0
    known = read_memories(found.rows, [edge.beyond(ids) for edge in beyond])
    longest = longest_text(scope.question)
    related: dict[str, list[RelatedResult]] = {}
    told: set[str] = set()
    tokens = 0
    for edge in beyond:
        far = edge.beyond(ids)
        if len(told) == settings.QUERY_RELATED:
            break
        if far not in known or far in told:
            continue
        result = memory_result(known[far], edge.strength, longest)
        cost = _cost(result)
        if tokens + cost <= left:
            near = edge.one if far == edge.other else edge.other
            related.setdefault(near, []).append(RelatedResult(result, edge.type))
            told.add(far)
            tokens += cost
    return related, tokens


def _cost(result: Result) -> int:
    """Count the tokens of a line, including its line break."""
    return count_tokens(result.text) + 1

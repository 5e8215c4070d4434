"""Runs the questions against the product's own recall.

The messages go in by the conversations' own actions, for a person made for the purpose, and are found by the function
that turns are recalled with, so what is measured is what is served. The transaction is rolled back.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence

from django.db import transaction

from accounts.actions import user_create
from accounts.queries import principal_for_person
from conversations.actions import messages_index
from conversations.imports import Step, append_step
from conversations.models import Conversation
from conversations.policy import passage
from language.backends import embedder_replaced
from language.base import Embedder
from retrieval.weights import Weights, default_weights, without

from ..recall import QueryVector, recall_turns
from .datasets import Case
from .figures import DEPTH, Outcome, Report, score

EMBED_BATCH = 32


def measure(
    cases: Sequence[Case],
    embedder: Embedder,
    *,
    ablate: Collection[str] = (),
    progress: Callable[[int], object] = lambda count: None,
) -> Report:
    """Ask every question of every case. Leaves nothing in the database and changes no row that was there.

    ``ablate`` names parts of the search (``retrieval.weights.PARTS``); every question is asked again without each.
    ``embedder`` serves stored texts and questions; give one that remembers, since each text is asked for twice.
    ``progress`` is called with the number of texts and questions that are done, ``count_steps(cases)`` in all.

    Raises EmbedderUnavailable.
    """
    weights = default_weights()
    searches = {"": weights} | {part: without(part, weights) for part in ablate}
    outcomes: dict[str, list[Outcome]] = {part: [] for part in searches}
    with embedder_replaced(embedder):
        for case in cases:
            for part, found in _measure_case(case, embedder, searches, progress).items():
                outcomes[part] += found
    whole = outcomes.pop("")
    return Report(embedder.name, whole, sum(case.skipped for case in cases), outcomes)


def count_steps(cases: Sequence[Case]) -> int:
    """How many texts and questions there are."""
    return sum(len(case.conversation.messages) + len(case.questions) for case in cases)


def _measure_case(
    case: Case, embedder: Embedder, searches: Mapping[str, Weights], progress: Callable[[int], object]
) -> dict[str, list[Outcome]]:
    # Before the transaction: it would stay open for minutes, and hold up the cleaning of every table meanwhile.
    texts = [
        passage(message.content, message.speaker, message.at) for message in case.conversation.messages if message.at
    ]
    for start in range(0, len(texts), EMBED_BATCH):
        embedder.embed_passages(texts[start : start + EMBED_BATCH])
        progress(len(texts[start : start + EMBED_BATCH]))
    queries = []
    for question in case.questions:
        queries.append(QueryVector(question.text))
        embedder.embed_query(question.text)
        progress(1)
    with transaction.atomic():
        try:
            return _ask(case, queries, searches)
        finally:
            transaction.set_rollback(True)


def _ask(case: Case, queries: Sequence[QueryVector], searches: Mapping[str, Weights]) -> dict[str, list[Outcome]]:
    principal = principal_for_person(user_create(f"evaluation-{uuid.uuid4().hex[:12]}").pk)
    for _ in append_step(principal, Step(case.conversation), channel=case.channel, legacy_id=None):
        pass
    conversation = Conversation.objects.visible_to(principal).get()
    messages_index(conversation.pk)
    outcomes: dict[str, list[Outcome]] = {part: [] for part in searches}
    for question, query in zip(case.questions, queries, strict=True):
        for part, weights in searches.items():
            started = time.perf_counter()
            turns = recall_turns(principal, query, legacy_id=None, top_k=DEPTH, weights=weights)
            seconds = time.perf_counter() - started
            ranking = [turn.message.index for turn in turns]
            outcomes[part].append(Outcome(question.category, score(ranking, question.gold), seconds))
    return outcomes

"""Run the questions against the product's own search.

The messages are stored through the actions for a temporary person and searched by the code of ``POST memories/query/``
with the source ``turns``, so the served code is measured. The transaction is rolled back.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from django.conf import settings
from django.db import transaction

from accounts.actions import user_create
from accounts.principals import Principal
from accounts.queries import principal_for_person
from accounts.scope import acting_as
from assistant.imports.loading import Step, append_step
from assistant.recall import query as querying
from conversations.actions import messages_index
from conversations.models import Conversation
from conversations.policy import passage
from language.backends import embedder_replaced
from retrieval.weights import SearchWeights, default_weights, override_weights, without

from .datasets import Case
from .figures import DEPTH, Outcome, Report, score
from .vector_cache import CachingEmbedder

EMBED_BATCH = 32

Progress = Callable[[int], object]


def measure(
    cases: Sequence[Case],
    embedder: CachingEmbedder,
    *,
    ablate: Collection[str] = (),
    progress: Progress = lambda count: None,
) -> Report:
    """Ask every question of every case. The database is unchanged afterwards.

    ``ablate`` names parts of the search (``retrieval.weights.PARTS``); every question is repeated without each.
    ``progress`` is called with the number of finished texts and questions, ``count_steps(cases)`` in all.

    Raises EmbedderUnavailable.
    """
    weights = default_weights()
    searches = {"": weights} | {part: without(part, weights) for part in ablate}
    outcomes: dict[str, list[Outcome]] = {part: [] for part in searches}
    with embedder_replaced(embedder):
        for case in cases:
            embed_messages(case, embedder, progress)
            embedding_seconds = []
            for question in case.questions:
                embedding_seconds.append(embedder.time_query(question.text))
                progress(1)
            with told(case) as conversation:
                for part, found in _ask(case, conversation, embedding_seconds, searches).items():
                    outcomes[part] += found
    whole = outcomes.pop("")
    return Report(embedder.name, whole, sum(case.skipped for case in cases), outcomes)


def count_steps(cases: Sequence[Case]) -> int:
    """Return the number of texts and questions."""
    return sum(len(case.conversation.messages) + len(case.questions) for case in cases)


def embed_messages(case: Case, embedder: CachingEmbedder, progress: Progress) -> None:
    """Cache the vectors of the messages before a transaction begins.

    Otherwise it would be open for minutes and block the vacuum of every table.
    """
    texts = [
        passage(message.content, message.speaker, message.at) for message in case.conversation.messages if message.at
    ]
    for start in range(0, len(texts), EMBED_BATCH):
        embedder.embed_passages(texts[start : start + EMBED_BATCH])
        progress(len(texts[start : start + EMBED_BATCH]))


@contextmanager
def taken_back() -> Iterator[None]:
    """Run the block in a transaction that is rolled back."""
    with transaction.atomic():
        try:
            yield
        finally:
            transaction.set_rollback(True)


@contextmanager
def told(case: Case) -> Iterator[Conversation]:
    """Store the case's conversation for a new person; rolled back after the block."""
    with taken_back():
        principal = principal_for_person(user_create(f"evaluation-{uuid.uuid4().hex[:12]}").pk)
        with acting_as(principal):
            for _ in append_step(principal, Step(case.conversation), channel=case.channel, legacy_id=None):
                pass
            conversation = Conversation.objects.visible_to(principal).get()
            messages_index(conversation.pk)
            yield conversation


def person_of(conversation: Conversation) -> Principal:
    """Return the principal of a conversation's person."""
    return principal_for_person(conversation.user_id)


def _ask(
    case: Case, conversation: Conversation, embedding_seconds: Sequence[float], searches: Mapping[str, SearchWeights]
) -> dict[str, list[Outcome]]:
    principal = person_of(conversation)
    outcomes: dict[str, list[Outcome]] = {part: [] for part in searches}
    for question, embedding in zip(case.questions, embedding_seconds, strict=True):
        asked = querying.Question(
            question.text, sources=("turns",), top_k=DEPTH, budget_tokens=settings.QUERY_MOST_TOKENS
        )
        for part, weights in searches.items():
            with override_weights(weights):
                started = time.perf_counter()
                answer = querying.answer_question(principal, asked)
                seconds = time.perf_counter() - started
            ranking = [result.details["index"] for result in answer.results]
            outcomes[part].append(Outcome(question.category, score(ranking, question.gold), seconds, embedding))
    return outcomes

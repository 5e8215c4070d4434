"""Reranking by a server with Cohere's or Jina's API, which many local servers offer, too.

Off unless ``KEEPSAKE_RERANKER`` is set.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from language.base import EmbedderUnavailable
from language.embedders.http import EmbedderAnswerInvalid, Endpoint, post

log = structlog.get_logger(__name__)
T = TypeVar("T")

RERANKED = 50
"""How many texts one call carries at most; what comes after them keeps its place."""

TEXT_CHARACTERS = 4_000
"""So much of the beginning of each text is sent."""

_ANSWER_BYTES = 262_144
_PATH = "rerank"
_SERVERS = {
    "cohere": ("https://api.cohere.com/v2", "rerank-v3.5"),
    "jina": ("https://api.jina.ai/v1", "jina-reranker-v2-base-multilingual"),
}
"""Which shapes there are: the address and the model that are taken when none is named."""

_rests_until = 0.0


@dataclass(frozen=True, slots=True)
class RerankerChoice:
    """API, model and URL."""

    kind: str
    model: str
    base_url: str


def read_choice(value: str, base_url: str = "") -> RerankerChoice | None:
    """Read ``cohere[:model]`` or ``jina[:model]``; None for nothing. Raises ImproperlyConfigured for anything else."""
    if not value:
        return None
    kind, _, model = value.partition(":")
    if kind not in _SERVERS or any(map(str.isspace, model)):
        choices = ", ".join(f"{each}[:model]" for each in _SERVERS)
        raise ImproperlyConfigured(f"KEEPSAKE_RERANKER is {value!r}; choose one of {choices}, or nothing.")
    usual_url, usual_model = _SERVERS[kind]
    return RerankerChoice(kind, model or usual_model, base_url or usual_url)


def is_reranking() -> bool:
    """Whether a reranker is configured and did not fail recently."""
    return bool(settings.KEEPSAKE_RERANKER) and time.monotonic() >= _rests_until


def reranked(question: str, found: Sequence[T], text_of: Callable[[T], str]) -> list[T]:
    """Return the results with the first ``RERANKED`` reranked; in their order if that fails.

    Takes at most ``KEEPSAKE_RERANKER_TIMEOUT_SECONDS``. After a failure the server is not called for a while. Texts are
    not logged. Call it outside transactions.
    """
    global _rests_until  # noqa: PLW0603 - what every thread of this process knows of the server
    first, rest = found[:RERANKED], found[RERANKED:]
    choice = read_choice(settings.KEEPSAKE_RERANKER, settings.RERANKER_BASE_URL)
    if choice is None or len(first) < 2 or not question.strip() or not is_reranking():
        return list(found)
    began = time.monotonic()
    try:
        order = _ask(choice, question, [text_of(each) for each in first])
    except EmbedderUnavailable as error:
        _rests_until = time.monotonic() + settings.RERANKER_REST_SECONDS
        log.warning("not_reranked", reranker=choice.kind, error=type(error).__name__)
        return list(found)
    log.info("reranked", reranker=choice.kind, texts=len(first), seconds=round(time.monotonic() - began, 2))
    return [*(first[place] for place in order), *rest]


def _ask(choice: RerankerChoice, question: str, texts: Sequence[str]) -> list[int]:
    """Return the indices of the texts, best first. Raises EmbedderUnavailable."""
    body: dict[str, Any] = {
        "model": choice.model,
        "query": question[:TEXT_CHARACTERS],
        # A text of nothing but white space is refused.
        "documents": [text[:TEXT_CHARACTERS] if text.strip() else "-" for text in texts],
        "top_n": len(texts),
    }
    if choice.kind == "jina":
        body["return_documents"] = False
    endpoint = Endpoint(choice.base_url, settings.RERANKER_API_KEY, retries=0)
    seconds = settings.KEEPSAKE_RERANKER_TIMEOUT_SECONDS
    return _order(post(endpoint, _PATH, body, seconds=seconds, most_bytes=_ANSWER_BYTES), len(texts))


def _order(answer: Any, count: int) -> list[int]:
    """Sort the indices by score, stably; those without a score come last."""
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise EmbedderAnswerInvalid("The answer has no list of results.")
    scores: dict[int, float] = {}
    for each in results:
        place, score = (each.get("index"), each.get("relevance_score")) if isinstance(each, dict) else (None, None)
        if type(place) is not int or not 0 <= place < count or place in scores:
            raise EmbedderAnswerInvalid("The results are not one for each of the texts.")
        if not isinstance(score, int | float) or isinstance(score, bool) or not math.isfinite(score):
            raise EmbedderAnswerInvalid("A result has no score.")
        scores[place] = float(score)
    return sorted(range(count), key=lambda place: (-scores.get(place, -math.inf), place))

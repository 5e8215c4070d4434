"""Searchable rows with vectors of the test's own, and what a search over them should find, worked out row by row."""

import math
import uuid
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from django.utils import timezone

from accounts.principals import SCOPES, Principal
from conversations.models import Conversation, Message
from retrieval import search as searching
from retrieval.search import CENTRE_ROWS, Corpus
from retrieval.text import list_query_words, prepare
from retrieval.weights import SearchWeights

MODEL = "test:4"
UNSTEMMED = "xx"


def principal(user):
    return Principal("person", str(user.pk), user.pk, frozenset(SCOPES))


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


@dataclass
class Said:
    """What a test says a row holds."""

    content: str
    vector: tuple[float, ...] | None = None
    model: str = MODEL
    language: str = UNSTEMMED
    private: bool = False
    legacy: object = None
    user: object = None
    id: uuid.UUID = field(default_factory=uuid.uuid4)


def say(user, rows):
    """Store the rows as messages, of ``user`` where a row names nobody else."""
    conversations = {}
    messages = []
    for row in rows:
        speaker, legacy = row.user or user, row.legacy
        key = (speaker.pk, legacy and legacy.pk, row.private)
        if key not in conversations:
            conversations[key] = Conversation.objects.create(user=speaker, legacy=legacy, private=row.private)
        prepared = prepare(row.content, row.language)
        messages.append(
            Message(
                id=row.id,
                conversation=conversations[key],
                user=speaker,
                legacy=legacy,
                private=row.private,
                index=len(messages),
                role="user",
                content=row.content,
                tokens=1,
                at=timezone.now(),
                embedding=None if row.vector is None else unit(*row.vector),
                embedding_model="" if row.vector is None else row.model,
                search_text=prepared.text,
                search_config=prepared.config,
                search_length=prepared.length,
            )
        )
    Message.objects.bulk_create(messages)
    return messages


def corpus(rows):
    return Corpus(len(rows), sum(prepare(row.content).length for row in rows))


def keyword_scores(rows, text, whole, weights=SearchWeights()):  # noqa: B008 - it is frozen
    """BM25 of each row that shares a word with the text; words count as they are, without stemming."""
    words = {row.id: Counter(prepare(row.content).text.split()) for row in rows}
    terms = list_query_words(text)
    holders = {term: sum(1 for counts in words.values() if counts[term]) for term in terms}
    scores = {}
    for row in rows:
        length = prepare(row.content).length
        share = weights.length_share
        norm = weights.saturation * (1 - share + share * length / whole.average_length)
        for term in terms:
            count = words[row.id][term]
            if length <= searching.FEW_WORDS and len(terms) <= searching.FEW_TERMS:
                count = min(count, 1)
            if count:
                documents = max(whole.documents, holders[term])
                rarity = math.log(1 + (documents - holders[term] + 0.5) / (holders[term] + 0.5))
                scores[row.id] = scores.get(row.id, 0) + rarity * count * (weights.saturation + 1) / (count + norm)
    return scores


def similarities(rows, vector, model=MODEL):
    """The cosine of each row that has a vector of the model, as half precision stores it."""
    asked = unit(*vector).astype(np.float16).astype(np.float64)
    result = {}
    for row in rows:
        if row.vector is not None and row.model == model:
            stored = unit(*row.vector).astype(np.float16).astype(np.float64)
            result[row.id] = float(stored @ asked / np.linalg.norm(stored) / np.linalg.norm(asked))
    return result


def away_from_the_centre(rows, similar, weights):
    """The cosines, less what each row has in common with the mean of all that have one."""
    stored = {row.id: unit(*row.vector).astype(np.float16) for row in rows if row.id in similar}
    if not stored:
        return {}
    mean = np.mean([vector.astype(np.float64) for vector in stored.values()], axis=0).astype(np.float16)
    share = weights.centre * len(stored) / (len(stored) + CENTRE_ROWS)
    return {key: similar[key] - share * float(stored[key].astype(np.float64) @ mean) for key in stored}


def standardised(values, least=1e-9):
    """Each value in standard deviations from their mean, but at least ``least`` of them; all alike are 0."""
    mean = sum(values) / len(values)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / max(deviation, least) for value in values]


def fused_scores(rows, similar, keyword, weights, before=None):
    """The score of each row that either side found; ``before`` are the cosines of the model before."""
    ids = sorted(similar.keys() | (before or {}).keys() | keyword.keys())
    vector_part = {}
    for cosines in (similar, before):
        if cosines:
            own = away_from_the_centre(rows, cosines, weights)
            vector_part |= zip(own, standardised(list(own.values()), 1e-3), strict=True)
    keyword_part = standardised([keyword.get(row, 0.0) for row in ids]) if ids else []
    return {
        row: weights.vector * vector_part.get(row, 0.0) + weights.keyword * part
        for row, part in zip(ids, keyword_part, strict=True)
    }

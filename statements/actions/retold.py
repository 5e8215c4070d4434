"""Find texts that say in other words what a person does not want kept: by the judgement that statements pass."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from uuid import UUID

import numpy as np

from conversations.echoes import RejectedText, rejected_causes

from ..models import Suppression
from ..querysets import SuppressionMatches
from ..wording import Embedded
from .rejected import has_rejected

_NEAR_ENOUGH = 0.79
"""Below this cosine similarity of its vector to any of these statements a sentence isn't worded as one about the user,
which takes a parser."""
_LIKE_ENOUGH = 0.45
"""From this likeness on, what comes near is withheld. A statement waits at less, but of 3,044 ordinary sentences of an
assistant 174 came near to one of 25 statements, 3 of them so near; of 38 paraphrases 33 are found."""


def retold_search(user_id: UUID, texts: Callable[[], Sequence[str]]) -> Iterator[tuple[int, RejectedText]]:
    """Yield which text says what stored statement that is not to be kept. Raises EmbedderUnavailable.

    Costs one query for people who never rejected anything. A text may be in the first or second person.
    """
    causes = {each.cause_id: each for each in rejected_causes(user_id, not_kept=True)} if has_rejected(user_id) else {}
    if not causes:
        return
    near = _near(user_id, causes, Embedded.read_each(texts()))
    found = Suppression.objects.matches(user_id, list(near.values()), near=False)
    said = {place: _repeated(each) for place, each in zip(near, found, strict=True)}
    ids = set().union(*said.values())
    stands_for = dict(Suppression.objects.filter(pk__in=ids).values_list("pk", "object_id")) if ids else {}
    for place, repeated in said.items():
        objects = {stands_for.get(pk) for pk in repeated}
        yield from ((place, causes[object_id]) for object_id in objects if object_id in causes)


def _repeated(matches: SuppressionMatches) -> set[int]:
    """Return the suppressions that a text matches closely enough."""
    nearly = (pk for pk, alike in matches.nearly.items() if alike >= _LIKE_ENOUGH)
    return {*matches.words, *matches.meaning, *nearly}


def _near(user_id: UUID, causes: Collection[str], read: Sequence[Embedded]) -> dict[int, Embedded]:
    """Return the texts whose vectors are near to one of these statements, worded as statements, too."""
    model = next((each.embedding_model for each in read), "")
    rows = Suppression.objects.filter(user_id=user_id, embedding_model=model, object_id__in=causes)
    stored = list(rows.values_list("embedding", flat=True))
    if not stored:
        return {}
    vectors = np.asarray(stored, dtype=np.float32)
    near = {
        place: replace(each, free=True)
        for place, each in enumerate(read)
        if each.vector is not None and float((vectors @ each.vector).max()) >= _NEAR_ENOUGH
    }
    stated = {
        place: said.content
        for place, each in near.items()
        if (said := each.said_of_user) is not None and said.vector is None
    }
    for place, said in zip(stated, Embedded.read_each([*stated.values()]), strict=True):
        near[place] = replace(near[place], as_user=said)
    return near

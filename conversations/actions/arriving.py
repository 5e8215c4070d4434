"""Find what a person refused in messages that an agent posts: the same sentence, or the same content words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple
from uuid import UUID

from accounts.scope import acting_name
from language.reading.gist import Gists
from retrieval.text import list_words

from ..echoes import RejectedText
from ..models import Message, Withheld
from ..passages import Original, Span, asks
from ..querysets import WithheldQuerySet
from .withheld_rows import Cause

_MOST_COMPARED = 200
_FEWEST_WORDS = 3


class Found(NamedTuple):
    """A sentence of a message that says again what was refused for the cause."""

    message_id: UUID
    span: Span
    cause: Cause


RefusedSearch = Callable[[UUID, Collection[str]], tuple[Iterable[RejectedText], Mapping[str, str]]]
_refused_searches: list[RefusedSearch] = []


def register_refused_search(search: RefusedSearch) -> None:
    """Register the search for what a person does not want kept.

    It is called with the person's id and the gists of new sentences (``language.reading.gist``). It returns the texts
    that are still stored, and of the gists whose texts are gone, the ids of their messages or statements.
    """
    _refused_searches.append(search)


def sentences_refused(
    user_id: UUID, known: WithheldQuerySet, messages: Iterable[Message]
) -> tuple[list[Found], list[Found]]:
    """Return the sentences that say again what was withheld or rejected, and those that say what was erased.

    A sentence repeats a withheld one of at least three words if it has all of these, in their order. It also repeats
    what was refused if a sentence or clause of both has the same content words. Compared are the latest 200 of the
    ``known`` passages that can still be restored, without questions, which say nothing.
    """
    sentences = [(row.pk, *each) for row in messages for each in _sentences(row.content)]
    said_now = Gists([said for *_, said in sentences], acting_name())
    causes: dict[str, set[Cause]] = defaultdict(set)
    refused: list[tuple[str, Cause]] = []
    rows = known.restorable().order_by("-created_at")
    for text, *cause in rows.values_list("text", "cause_type", "cause_id")[:_MOST_COMPARED]:
        for _span, said in _sentences(text):
            if not asks(said):
                causes[_flat(said)].add(Cause(*cause))
                refused.append((said, Cause(*cause)))
    told = {words: because for words, because in causes.items() if words.count(" ") > _FEWEST_WORDS}
    found = [
        (number, cause)
        for number, (*_, said) in enumerate(sentences if told else ())
        for words in [_flat(said)]
        for withheld, because in told.items()
        if withheld in words
        for cause in because
    ]
    erased: list[tuple[int, Cause]] = []
    for search in _refused_searches:
        texts, gone = search(user_id, said_now.places.keys())
        refused += ((each.text, Cause(each.cause_type, each.cause_id)) for each in texts)
        for gist, message_id in gone.items():
            erased += ((number, Cause(Withheld.Cause.MESSAGE, message_id)) for number in said_now.places[gist])
    found += ((number, cause) for said, cause in refused for number in said_now.said_by(said))
    again, of_erased = ([Found(*sentences[number][:2], cause) for number, cause in each] for each in (found, erased))
    return again, of_erased


def _sentences(text: str) -> Iterator[tuple[Span, str]]:
    original = Original(text)
    return ((span, original.words(span)) for span in original.sentences())


def _flat(sentence: str) -> str:
    return f" {' '.join(list_words(sentence))} "

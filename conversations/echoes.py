"""What says again what is withheld: later turns of the assistant, and what was said, titled or kept elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Length
from pgvector.django import CosineDistance

from accounts.principals import Principal
from language.base import Vectors
from language.reading.replying import STOCK
from retrieval.text import SIMPLE, detect_config, list_words

from . import policy
from .models import Conversation, Message, Withheld
from .passages import Original, Span

Rows = TypeVar("Rows", bound=QuerySet[Any])

AGAIN_SIMILARITY = 0.79
"""From this cosine similarity on, a short message that shares a word with a statement may say the same.

With the bundled embedder the vector alone tells little: of 15 paraphrases 10 were nearer than this, of 15 sentences
about the same matter 5. So what is found by meaning is offered, and left to the person to choose.
"""
SHORT_CHARACTERS = 300
"""The vector of a longer message stands for too much else."""
MOST_OFFERED = 20
_MOST_LOOKED_AT = 200
_OF_ASKING = ("remember",)
"""Whoever asks for something to be kept, or says what is, has said nothing of it yet."""
_STEMS = """
SELECT tsvector_to_array(to_tsvector(%s::regconfig, said.text))
FROM unnest(%s::text[]) WITH ORDINALITY AS said (text, number) ORDER BY said.number
"""


@dataclass(frozen=True, slots=True)
class SaidAgain:
    """What says the same elsewhere: a message, a title, a memory, a fact or a place's notes.

    ``object_id`` is that of the row, for a title that of its conversation. ``index`` is a message's. ``quote`` holds
    the words that do; ``surely``: in the same words.
    """

    object_type: str
    object_id: str
    quote: str
    surely: bool
    conversation_id: UUID | None = None
    index: int | None = None


class Said:
    """The words that are withheld, as stems of their language.

    ``names`` don't count, since all else holds them too, nor do words of what is ``kept`` of the same messages.
    """

    def __init__(self, texts: Sequence[str], names: Iterable[str] = (), kept: Iterable[str] = ()) -> None:
        found = detect_config(" ".join(texts))
        self.config = "english" if found == SIMPLE else found
        *said, named = self.stems([*texts, " ".join([*_OF_ASKING, *names, *kept])])
        self.names = named
        self.each = [words for words in (each - named for each in said) if words]
        self.words = frozenset().union(*self.each)

    def stems(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """The words of each text that are not too common to count, stemmed; in one statement, for none in none."""
        if not texts:
            return []
        with connection.cursor() as cursor:
            cursor.execute(_STEMS, [self.config, [" ".join(list_words(text)) for text in texts]])
            return [frozenset(row[0]) for row in cursor.fetchall()]

    def in_sentences(self, texts: Mapping[UUID, Original]) -> Iterator[tuple[UUID, Span, frozenset[str]]]:
        """The sentences of texts with their words, stemmed: whose it is, where it stands, what it says."""
        places = [
            (pk, span)
            for pk, text in texts.items()
            for span in text.sentences()
            if not any(text.words(span) in told for told in STOCK)
        ]
        stems = self.stems([texts[pk].words(span) for pk, span in places])
        return ((pk, span, words) for (pk, span), words in zip(places, stems, strict=True))

    def in_part(self, rows: Rows) -> Rows:
        """Those of the rows, which have search vectors, that hold a word which begins as one of these does."""
        query = " | ".join(f"'{word}':*" for word in sorted(self.words))
        # They are stemmed already, and the vectors of all languages are searched alike.
        return rows.filter(search=SearchQuery(query, config="simple", search_type="raw")) if query else rows.none()

    def is_echoed_by(self, words: frozenset[str]) -> bool:
        """Whether a sentence of the assistant gives away a sentence that was withheld."""
        return any(_gives_away(each, words) for each in self.each)

    def is_said_by(self, words: frozenset[str]) -> bool:
        """Whether a sentence says one of them."""
        return any(_is_same(each, words) for each in self.each)

    def is_all_of(self, words: frozenset[str]) -> bool:
        """Whether a statement says one of them and nothing else."""
        return words - self.names in self.each


def _gives_away(said: frozenset[str], words: frozenset[str]) -> bool:
    """Rather one too many than one too few: what an assistant says again is nobody's loss."""
    shared = len(said & words)
    if shared >= 2:
        return shared >= 0.3 * min(len(said), len(words))
    return shared == 1 and (len(words) <= 3 or len(said) <= 2)


def _is_same(said: frozenset[str], words: frozenset[str]) -> bool:
    shared = len(said & words)
    if len(said) == 1:
        return shared == 1
    return shared >= 2 and (shared >= 0.6 * len(said) or shared >= 0.6 * len(words))


@dataclass(frozen=True, slots=True)
class Sought:
    """What is looked for elsewhere: the words, the vector of the statement, and the cause (type and id) it comes by."""

    said: Said
    cause: tuple[str, object]
    vector: Vectors | None
    embedding_model: str


Search = Callable[[Principal, Sought], Iterable[SaidAgain]]
_searches: list[Search] = []


def says_again(search: Search) -> None:
    """Have a room looked through for what says the same as something that is not to be kept."""
    _searches.append(search)


def says_withheld(user_id: UUID, title: str) -> bool:
    """Whether a title is one that its person had taken out, or says in the same words what they took out of messages.

    The latest 200 passages that can still be given back are compared; of what was erased only the title as it was.
    """
    if not title.strip():
        return False
    rows = Withheld.objects.filter(user_id=user_id)
    if rows.filter(object_type="title", digest__in=policy.digests(user_id, title)).exists():
        return True
    passages = rows.kept().passages().filter(message__role="user").order_by("-created_at")
    texts = [Original(each) for each in passages.values_list("text", flat=True)[:_MOST_LOOKED_AT]]
    if not texts:
        return False
    said = Said([text.words(span) for text in texts for span in text.sentences()])
    return said.is_said_by(*said.stems([title]))


def said_again(
    principal: Principal,
    cause: tuple[str, object],
    statement: str,
    vector: Vectors | None,
    embedding_model: str,
    *,
    names: Iterable[str] = (),
) -> list[SaidAgain]:
    """Where else is said what a statement says that is not to be kept: messages, titles, then what rooms keep.

    In the words of the statement or of what was withheld because of it (``cause``: its type and id), or in meaning.
    ``names`` don't count as words. At most 20 messages and titles are found, the latest first, and as many in each room
    that is looked through.
    """
    rows = Withheld.objects.visible_to(principal).because_of(cause[0], [cause[1]]).passages()
    withheld = list(rows.values_list("message_id", "text"))
    said = Said([statement, *(text for _, text in withheld)], ["user", *names])
    sought = Sought(said, cause, vector, embedding_model)
    talked = [*_in_messages(principal, sought, {pk for pk, _ in withheld}), *_in_titles(principal, said)]
    return talked[:MOST_OFFERED] + [each for search in _searches for each in search(principal, sought)]


def _in_messages(principal: Principal, sought: Sought, but: Collection[UUID]) -> list[SaidAgain]:
    said = sought.said
    rows = Message.objects.visible_to(principal).filter(declined=False, role__in=["user", "assistant"])
    rows = rows.exclude(pk__in=but)
    by_words = said.in_part(rows).order_by("-at").values_list("pk", flat=True)[:_MOST_LOOKED_AT]
    near: set[UUID] = set()
    if sought.vector is not None:
        short = rows.alias(length=Length("content")).filter(
            embedding_model=sought.embedding_model, length__lte=SHORT_CHARACTERS
        )
        distance = CosineDistance("embedding", sought.vector)
        nearest = short.order_by(distance).annotate(distance=distance).values_list("pk", "distance")[:MOST_OFFERED]
        near = {pk for pk, apart in nearest if 1 - apart >= AGAIN_SIMILARITY}
    wanted = rows.filter(Q(pk__in=[*by_words, *near])).only("conversation_id", "index", "content").order_by("-at")
    found = {row.pk: row for row in wanted}
    texts = {pk: Original(row.content) for pk, row in found.items()}
    offered: dict[UUID, SaidAgain] = {}
    for pk, span, words in said.in_sentences(texts):
        surely = said.is_said_by(words)
        known = offered.get(pk)
        if (surely or (pk in near and words & said.words)) and (known is None or surely > known.surely):
            row = found[pk]
            quote = texts[pk].words(span)
            offered[pk] = SaidAgain("message", str(pk), quote, surely, row.conversation_id, row.index)
    return list(offered.values())


def _in_titles(principal: Principal, said: Said) -> list[SaidAgain]:
    rows = Conversation.objects.visible_to(principal).filter(message_count__gt=0)
    rows = said.in_part(rows.alias(search=SearchVector("title", config=said.config))).order_by("-last_message_at")
    titles = dict(rows.values_list("pk", "title")[:_MOST_LOOKED_AT])
    pairs = zip(titles.items(), said.stems(list(titles.values())), strict=True)
    return [SaidAgain("title", str(pk), title, True, pk) for (pk, title), words in pairs if said.is_said_by(words)]

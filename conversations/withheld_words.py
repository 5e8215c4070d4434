"""The words of withheld texts, and whether other texts say them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain
from typing import Any, TypeVar
from uuid import UUID

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import QuerySet

from accounts.principals import Principal, shape_for
from language.reading.refusals import SentenceWords
from language.reading.stock import stock
from retrieval.prepared import PreparedStatement, Shaped, build_statement
from retrieval.text import SIMPLE, detect_config, list_words

from .passages import Original, Span

Rows = TypeVar("Rows", bound=QuerySet[Any])

_OF_ASKING = ("remember", "thanks", "thank", "tell", "telling", "told", "see", "know", "sorry", "sharing", "noted")
"""Words of asking to remember and of polite replies, which don't count as repetition."""
_MOST_OF = 0.75
"""The share of a withheld sentence's words that a statement has to have to repeat it."""
_MOST_PAIRED = 40
"""Up to so many stems, rows are searched for two of one text; the query of more would take longer than it saves."""
_STEMS = """
SELECT said.word, tsvector_to_array(to_tsvector({config}::regconfig, said.word))
FROM unnest({words}::text[]) AS said (word)
"""
_BEGINNINGS, _CONFIG = "\0beginnings", "\0config"
"""The placeholders of the stems and their language in compiled statements; no text contains a NUL."""


class WithheldWords:
    """The stems of withheld texts, to compare other texts with.

    Ignored are ``names``, which occur everywhere, and the words of ``kept``, texts that may still be said.
    ``stays``: what the person says in the same conversation and is not withheld, and ``active_texts``: what repeats it
    is no echo.
    """

    stays: Sequence[str] = ()

    def __init__(self, texts: Sequence[str], names: Iterable[str] = (), kept: Iterable[str] = ()) -> None:
        self.texts = texts
        found = detect_config(" ".join(texts))
        self.config = "english" if found == SIMPLE else found
        self._known: dict[str, Sequence[str]] = {}
        *said, named = self.stems([*texts, " ".join([*_OF_ASKING, *names, *kept])])
        self.names = named
        self.each = [words - named for words in said]
        self.words = frozenset().union(*self.each)

    @cached_property
    def _told(self) -> list[SentenceWords]:
        return [SentenceWords.of(text) for text in self.texts]

    @cached_property
    def _little(self) -> list[frozenset[str]]:
        """The stems of each text that tell nothing alone: of whom it is said, and verbs such as "live"."""
        return self.stems([" ".join(told.subjects | told.verbs) for told in self._told])

    @cached_property
    def _stays(self) -> list[tuple[str, frozenset[str]]]:
        """What is not withheld: its words as the assistant would repeat them, and its stems."""
        return [
            (text, words)
            for said, words in zip(self.stays, self.stems(self.stays), strict=True)
            for text in (_flat(said), _flat(said, to_them=True))
        ]

    def stems(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the stems of each text without stop words. Runs one statement, or none without words not seen yet.

        Each word is stemmed by itself, which comes to the same: texts mostly share their words.
        """
        of_texts = [list_words(text) for text in texts]
        unknown = {word for words in of_texts for word in words} - self._known.keys()
        if unknown:
            self._known |= _stemming().run({"config": self.config, "words": sorted(unknown)})
        return [frozenset(chain.from_iterable(map(self._known.__getitem__, words))) for words in of_texts]

    def in_sentences(self, texts: Mapping[UUID, Original]) -> Iterator[tuple[UUID, Span, frozenset[str]]]:
        """Yield the id of the text, the span and the stems of each sentence, without stock phrases."""
        fixed = "\n".join(stock())
        told = [(pk, span, text.words(span)) for pk, text in texts.items() for span in text.sentences()]
        places = [each for each in told if each[2] not in fixed]
        stems = self.stems([words for _, _, words in places])
        return ((pk, span, words) for (pk, span, _), words in zip(places, stems, strict=True))

    def in_part(self, rows: Rows) -> Rows:
        """Filter rows with search vectors for those with a word that begins with one of the stems."""
        if not self.words:
            return rows.none()
        # "simple", since the words are stemmed already and the vectors are of several languages.
        return rows.filter(search=SearchQuery(_any_of(self.words), config="simple", search_type="raw"))

    def shape_in_part(
        self,
        principal: Principal,
        name: Hashable,
        rows: Callable[[Principal], QuerySet[Any]],
        *columns: str,
        values: Mapping[Any, Any] | None = None,
    ) -> Shaped:
        """Like ``in_part`` for rows without search vectors, of these ``columns``; for the rest, see ``shape_for``.

        There must be words.
        """

        def build(someone: Principal) -> QuerySet[Any]:
            said = rows(someone).alias(search=SearchVector(*columns, config=_CONFIG))
            return said.filter(search=SearchQuery(_BEGINNINGS, config="simple", search_type="raw"))

        sought = {_BEGINNINGS: _any_of(self.words), _CONFIG: self.config}
        return shape_for(principal, ("said in part", name), build, {**sought, **(values or {})})

    def queries(self) -> dict[str, str]:
        """Return queries of search vectors: one of the ``stems``, of their ``beginnings``, or of ``pairs`` of stems.

        A sentence that ``is_said_by`` finds has two stems of one text, or its only one. There must be words.
        """
        stems = _any_of(self.words, exact=True)
        # Long words first: they are in fewer rows, and what is found nowhere is not paired.
        texts = (sorted(each, key=lambda word: (-len(word), word)) for each in dict.fromkeys(self.each) if each)
        pairs = " | ".join(map(_two_of, texts)) if len(self.words) <= _MOST_PAIRED else stems
        return {"stems": stems, "beginnings": _any_of(self.words), "pairs": pairs}

    def is_echoed_by(self, words: frozenset[str], text: str) -> bool:
        """Whether a sentence of the assistant, given by its stems and its text, reveals a withheld sentence."""
        likely = (place for place, each in enumerate(self.each) if _gives_away(each, words))
        return any(
            self._is_told_by(place, words) and not self._repeats_what_stays(place, words, text) for place in likely
        )

    def _is_told_by(self, place: int, words: frozenset[str]) -> bool:
        said = self.each[place]
        return bool(words & ((said - self._little[place]) or said))

    def _repeats_what_stays(self, place: int, words: frozenset[str], text: str) -> bool:
        said, flat = self.each[place], _flat(text)
        return any(
            said & words <= stays and (len(said & words) == 1 or stays & words - said or repeated in flat)
            for repeated, stays in self._stays
        )

    def is_said_by(self, words: frozenset[str], text: str = "") -> bool:
        """Whether a sentence, given by its stems, repeats a withheld sentence; with its text, of the same person."""
        likely = (place for place, each in enumerate(self.each) if _is_same(each, words))
        return any(not text or not self._told[place].is_about_others_than(SentenceWords.of(text)) for place in likely)

    def is_stated_by(self, words: frozenset[str], text: str) -> bool:
        """Whether a statement has most words of a withheld sentence about the same person, not only whom it names.

        Or it has no other words than the sentence, and some of what that claims.
        """
        own = words - self.names
        told = [
            place
            for place, said in enumerate(self.each)
            if len(said & words) >= max(2, _MOST_OF * len(said)) or own == said or self._is_part(own, place, text)
        ]
        return any(not self._told[place].is_about_others_than(SentenceWords.of(text)) for place in told)

    def _is_part(self, words: frozenset[str], place: int, text: str) -> bool:
        return len(words) > 1 and words <= self.each[place] and self._told[place].is_claimed_by(text)

    def is_held_by(self, words: frozenset[str]) -> bool:
        """Whether a text, given by its stems, has all words of a withheld sentence of at least two."""
        return any(len(each) > 1 and each <= words for each in self.each)

    def is_all_of(self, words: frozenset[str]) -> bool:
        """Whether a statement, given by its stems, equals a withheld sentence."""
        return bool(words - self.names) and words - self.names in self.each


@cache
def _stemming() -> PreparedStatement:
    return build_statement(_STEMS, {}, lasting=True)


def _any_of(words: Iterable[str], *, exact: bool = False) -> str:
    return " | ".join(f"'{word}'" if exact else f"'{word}':*" for word in sorted(words))


def _two_of(words: Sequence[str]) -> str:
    pairs = (f"'{word}' & ({_any_of(words[place:], exact=True)})" for place, word in enumerate(words[:-1], 1))
    return " | ".join(pairs) or f"'{words[0]}'"


def _gives_away(said: frozenset[str], words: frozenset[str]) -> bool:
    """Whether ``words`` reveal ``said``. Prefers false positives: losing a sentence of a reply is harmless."""
    shared = len(said & words)
    if shared >= 2:
        return shared >= 0.3 * min(len(said), len(words))
    return shared == 1 and (len(words) <= 3 or len(said) <= 2)


_TO_THEM = {"i": "you", "my": "your", "am": "are", "i'm": "you're", "me": "you"}


def _flat(text: str, *, to_them: bool = False) -> str:
    """A text's words between spaces; ``to_them``: as somebody else says them to the speaker."""
    return f" {' '.join(_TO_THEM.get(word, word) if to_them else word for word in list_words(text))} "


def _is_same(said: frozenset[str], words: frozenset[str]) -> bool:
    shared = len(said & words)
    if len(said) == 1:
        return shared == 1
    return shared >= 2 and (shared >= 0.6 * len(said) or shared >= 0.6 * len(words))

"""Find sentences that tell what was refused with other words between: "my landlord, Mr Holt, is suing me"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from journal.verdicts import verdict
from language.reading.entailed import tells_all_of
from language.reading.gist import telling

from .passages import Original, Span

_FEWEST_TELLING, _FEWEST_TO_MISS_ONE = 3, 4
_MOST_SENTENCES, _MOST_TELLING = 4, 60
"""So many sentences in a row are read together, and so many telling words of them: the network reads no more."""
_MOST_COMPARED = 100


class Refused:
    """The sentences that a person refused, by the words that tell something. ``name`` is the person's."""

    def __init__(self, sentences: Collection[str], name: str) -> None:
        self._name, self._own = name, frozenset(telling(name))
        self._with: dict[str, list[str]] = defaultdict(list)
        self._words: dict[str, frozenset[str]] = {}
        for sentence in sentences:
            words = telling(sentence) - self._own
            if len(words) >= _FEWEST_TELLING:
                self._words[sentence] = words
                for word in words:
                    self._with[word].append(sentence)

    def told_in(self, text: str, known: Callable[[str], Collection[Span]]) -> Iterator[tuple[Span, str]]:
        """Yield the fewest sentences of a text that tell a refused one, with that. Compares at most a hundred times.

        They have all of its telling words, or of four or more all but one, and tell it as the entailment network
        reads them. ``known``: where the text says a refused sentence anyway. Under a ledger's lock what has not
        been compared is left out: the caller then runs ``check_compared``.
        """
        original = Original(text)
        spans = [*original.sentences()]
        said = [telling(original.words(span)) for span in spans]
        places: dict[str, set[int]] = defaultdict(set)
        for place, words in enumerate(said):
            for word in words:
                for sentence in self._with.get(word, ()):
                    places[sentence].add(place)
        left = _MOST_COMPARED
        for sentence, near in places.items():
            wanted, is_said = self._words[sentence], known(sentence)
            fewest = len(wanted) - (len(wanted) >= _FEWEST_TO_MISS_ONE)
            for first, last in _windows(sorted(near), said, wanted, fewest):
                span = Span(spans[first].start, spans[last].end)
                if any(span.overlaps(each) for each in is_said):
                    continue
                if not left:
                    return
                left -= 1
                together = " ".join(original.words(each) for each in spans[first : last + 1])
                compare = partial(tells_all_of, together, sentence, self._name)
                if verdict(("tells_all_of", together, sentence), compare, otherwise=False):
                    yield span, sentence


def _windows(
    near: Sequence[int], said: Sequence[frozenset[str]], wanted: frozenset[str], fewest: int
) -> Iterator[tuple[int, int]]:
    """Yield the first and last of the fewest sentences in a row that have ``fewest`` of the words, or more.

    Several sentences with many other words tell something of their own each.
    """
    for at, first in enumerate(near):
        most = fewest - 1
        for last in near[at:]:
            if last >= first + _MOST_SENTENCES:
                break
            words, rest = (frozenset().union(*said[start : last + 1]) for start in (first, first + 1))
            has = len(wanted & words)
            if has > most and len(words) <= _MOST_TELLING:
                most = has
                if len(wanted & rest) < has and (first == last or len(words - wanted) <= len(wanted) / 2):
                    yield first, last

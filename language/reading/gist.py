"""The content words of sentences and clauses, to recognise one that is said again with other function words.

"I'm being sued by my landlord" and "Maria is being sued by her landlord" have the same content words for Maria. Nothing
is parsed, so a text is read in well under a millisecond.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

from language.shown import as_shown

from .asked import find_asked
from .content import LIGHT, NEGATIONS
from .figures import normalise_figures
from .lexicon import is_word
from .parse import irregular
from .stems import stem
from .words import listed

_FEWEST = 3
"""Fewer content words may be said of many things; of a whole sentence, two suffice if one of them is a figure."""
_NO_CONTENT = LIGHT | listed(
    """i me my mine myself you your yours yourself we us our ours ourselves user being if or but then too still ever
    from into about can could do doing shall should may might must get got wo ca
    please remember remembered forget forgotten mind note noted thank thanks sorry tell told say said says saying
    mention mentioned know"""
)
_NEGATED = re.compile(r"n['’]t\b")
_SHORTENED = re.compile(r"['’](?:m|re|ve|d|ll|s)\b")
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_PARTS = re.compile(r"[,;:()—–]|\s-\s|\b(?:and|but|or|because|so|while|although|though|who|which)\b", re.IGNORECASE)
_OF_USER = re.compile(r"^The user\b")
_OF_THEM = re.compile(r"^The user\b|\b(?:I|i|[Mm]y|[Yy]ou|[Yy]our)\b(?!.*\?)", re.DOTALL)
"""What is said of the person by anybody, and no question."""
_ENDINGS = (
    ("s", ""), ("es", ""), ("ies", "y"), ("d", ""), ("ed", ""), ("ied", "y"), ("ing", "e"), ("ing", ""),
)  # fmt: skip


def gists(sentence: str, name: str, short: re.Pattern[str] = _OF_USER) -> Iterator[str]:
    """Yield the content words of a sentence and of each of its clauses, sorted, with a space between.

    The person's own ``name`` is left out, as are pronouns and an order such as "please remember that". Of clauses,
    those with too few content words to say something of their own are left out; of a sentence, too, unless it is one
    about the person, as ``short`` finds: "The user has gout."
    """
    asked = find_asked(sentence)
    said = sentence[asked.start : asked.end] if asked is not None and asked.form == "what" else sentence
    # Figures first: "nine hundred and two" is no two clauses.
    plain = normalise_figures(_NEGATED.sub(" not", as_shown(said)))
    no_content = _NO_CONTENT.union(name.lower().split())
    found = dict.fromkeys(_content_of(part, no_content) for part in (plain, *_PARTS.split(plain)))
    for number, words in enumerate(found):
        fewest = _FEWEST - (number == 0 and any(map(str.isdigit, "".join(words))))
        if len(words) >= fewest:
            yield " ".join(sorted(words))
        elif number == 0 and words and short.search(sentence):
            yield f"user: {' '.join(sorted(words))}"


class Gists:
    """The gists of sentences, to find which of them another text says again. ``name`` is the person's.

    A short sentence has one if it is about the person in any person: "I have gout" says "The user has gout."
    """

    def __init__(self, sentences: Sequence[str], name: str) -> None:
        self._sentences, self._name = sentences, name
        self._read: dict[int, frozenset[str]] = {}
        self._with: dict[str, list[int]] = defaultdict(list)
        for number, sentence in enumerate(sentences):
            for word in telling(sentence):
                self._with[word].append(number)

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The numbers of the sentences by their gists."""
        found: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self._sentences)):
            for gist in self._of(number):
                found[gist].append(number)
        return found

    def said_by(self, sentence: str) -> Iterator[int]:
        """Yield the numbers of the sentences that share a gist with another one."""
        # Most sentences share no word with it, and normalising one takes 0.5 ms.
        near = set().union(*(self._with.get(word, ()) for word in telling(sentence)))
        if near:
            said = frozenset(gists(sentence, self._name))
            yield from (number for number in sorted(near) if not said.isdisjoint(self._of(number)))

    def _of(self, number: int) -> frozenset[str]:
        if number not in self._read:
            self._read[number] = frozenset(gists(self._sentences[number], self._name, _OF_THEM))
        return self._read[number]


def telling(sentence: str) -> frozenset[str]:
    """The words of a sentence that tell something, without their endings."""
    return frozenset(base(word) for word in _WORD.findall(as_shown(sentence).lower()) if word not in _NO_CONTENT)


def _content_of(text: str, no_content: frozenset[str]) -> frozenset[str]:
    words = (word for word in _WORD.findall(_SHORTENED.sub("", text).lower()) if word not in no_content)
    return frozenset("not" if word in NEGATIONS else base(word) for word in words)


@lru_cache(maxsize=10_000)
def base(low: str) -> str:
    """The word without its ending, if that leaves a word: a name such as "Andreas" keeps it."""
    base = irregular(low)
    if base == low and len(low) > 3 and not low[0].isdigit():
        ends = ((low.removesuffix(ending) + put) for ending, put in _ENDINGS if low.endswith(ending))
        base = next((each for each in ends if len(each) > 2 and is_word(each)), low)
    return stem(base)

"""Normal forms for comparing words: one spelling, numerals as digits, one word for synonymous kin and verbs."""

from __future__ import annotations

import re
from functools import lru_cache

from language.reading import figures
from language.reading.parse import Word
from language.reading.words import KIN_WORDS, listed
from language.reading.words import NUMERALS as ALL_NUMERALS
from language.shown import as_shown

NUMERALS = {word: str(number) for word, number in ALL_NUMERALS.items() if number <= 20} | {
    "once": "1",
    "twice": "2",
}
"""Cardinal numerals in lower case, with their digits."""
_ORDINALS = {word: f"{number}." for number, word in enumerate(figures.ORDINALS[:10], start=1)}
# Words that are interchangeable in a statement about a person.
_ALIKE = {word: kin for kin in ("mother", "father", "grandmother", "grandfather") for word in KIN_WORDS[kin][1]} | {
    word: sense
    for sense, words in {
        "child": "kid",
        "like": "enjoy love adore",
        "live": "reside",
        "begin": "start",
        "every": "each",
        "film": "movie",
    }.items()
    for word in words.split()
}
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’-][^\W_]+)*")
LIGHT = listed("user be have do a an the of to in on at for with by as 's and")
"""Function words that don't count when two statements are compared."""
DATES = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|spring|summer|autumn|winter|morning|afternoon|evening|night|(?:1[5-9]|20)\d\d|\d\d?:\d\d"
)
"""Days, months, seasons, years and times of day, in lower case."""
_BEGINNING, _LEAST_LETTERS = 4, 3
_WEEKDAY = re.compile(r"((?:mon|tues|wednes|thurs|fri|satur|sun)day)s")


def stem_of(word: Word) -> str:
    """The normal form of a token for comparison."""
    return stem(word.low if word.tag in {"NNP", "NNPS", "CD"} else word.lemma.lower())


@lru_cache(maxsize=10_000)
def stem(low: str) -> str:
    """The normal form of a lemma in lower case: one spelling, numerals as digits."""
    low = _ALIKE.get(low, low)
    low = NUMERALS.get(low, low)
    low = _ORDINALS.get(low, low)
    low = re.sub(r"^(\d+)(?:st|nd|rd|th)$", r"\1", low)
    low = _WEEKDAY.sub(r"\1", low)
    low = re.sub(r"(?<=[a-z]{3})our(?=(?:s|ite|ed|ing|able)?$)", "or", low)
    return re.sub(r"(?<=[a-z]{3})is(e|ing|ation)$", r"iz\1", low)


def is_activity(word: Word) -> bool:
    """Whether a noun in "-ing" names an activity: "swimming"."""
    return word.tag == "NN" and word.low.endswith("ing") and len(word.low) > 6


def activity(word: Word) -> str:
    """The normal form of an activity, the same for noun and verb: "swimming", "to swim"."""
    base = word.low[:-3] if word.low.endswith("ing") and len(word.low) > 6 else word.lemma.lower()
    return re.sub(r"([^aeiouls])\1$|e$", r"\1", base)


def words_of(text: str) -> list[str]:
    """The normal forms of a text's words, without parsing it."""
    return [stem(word.removesuffix("'s").removesuffix("’s")) for word in _WORD.findall(as_shown(text).lower())]


def prefix(word: str) -> str:
    """The beginning of a word without a plural's "s": "cat" and "cats" have the same."""
    return word if word.endswith("-in-law") else word[:_BEGINNING].removesuffix("s")


def content_prefixes(text: str) -> set[str]:
    """Return the prefixes of the content words, also of parts of compounds."""
    words = {part for word in words_of(text) for part in (word, *(() if "-in-" in word else word.split("-")))}
    return {prefix(word) for word in words if word not in LIGHT and len(word) >= _LEAST_LETTERS}

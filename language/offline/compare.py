"""Whether two statements say the same, contradict each other, or neither, by rule. In doubt they are different."""

from __future__ import annotations

import re
from dataclasses import dataclass

from language.base import Comparison
from language.offline.lexicon import verbs
from language.offline.lexicon.words import ADVERBS, HABIT_ADVERBS, KIN, KIN_WORDS, MONTHS, NUMBERS, listed

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NOT = listed("not never no nobody none cannot without neither nor nothing hardly")
_FILLER = (
    listed(
        """a an the of to in on at for with by as is was were are be been being am do does did has have had will and
        that his her their its he she they it my s very really so quite always usually often also just too still
        still ever indeed truly simply all such who when much lot dearly used would only""",
    )
    | ADVERBS
) - HABIT_ADVERBS - {"first", "only", "later"} | {"always", "usually", "often"}
_PARENTS = ("mother", "father", "grandmother", "grandfather")
# Words that stand for one thing here. What the user says of "mum" is the same as of "mother".
_SYNONYMS = {word: group for group in _PARENTS for word in KIN_WORDS[group][1]} | {
    word: sense
    for sense, words in {
        "love": "adore enjoy like cherish fond",
        "hate": "dislike detest despise loathe",
        "marry": "wed married",
        "favourite": "favorite",
        "live": "reside",
        "child": "kids children kid",
        "football": "soccer",
        "film": "movie",
        "work": "job",
        "die": "died",
        "name": "called named",
        "move": "emigrate immigrate",
        "begin": "start",
        "shy": "timid",
        "generous": "generosity",
        "colour": "color",
    }.items()
    for word in words.split()
}
_ANTONYMS = frozenset(
    frozenset(pair.split("/"))
    for pair in listed(
        """love/hate patient/impatient quiet/loud early/late generous/stingy tall/short happy/sad kind/unkind kind/cruel
        honest/dishonest lazy/hardworking tidy/messy strict/lenient shy/outgoing introverted/extroverted rich/poor
        brave/cowardly calm/nervous oldest/youngest eldest/youngest older/younger first/last married/single alive/dead
        polite/rude optimistic/pessimistic left-handed/right-handed vegetarian/carnivore religious/atheist
        introvert/extrovert careful/careless tidy/untidy""",
    )
)
# Said of a person, each of these has one answer; two different answers can't both be true.
_SINGLE = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?P<key>born) (?:in|on) (?P<what>)(?P<value>.+)$",
        r"\b(?P<key>died|die|passed away) (?:in|on) (?P<what>)(?P<value>.+)$",
        r"\b(?P<key>name|birthday|pronouns|maiden name|middle name|nickname|hometown|blood type|time zone)"
        r"(?: is| was| are)(?: on)? (?P<what>)(?P<value>.+)$",
        r"\b(?P<key>favou?rite [\w ]{1,30}?)(?: is| was) (?P<what>)(?P<value>.+)$",
        r"\b(?:is|was) (?P<value>[\w-]+(?: [\w-]+)?) (?P<what>years old|feet tall)(?P<key>)",
        r"\b(?P<key>)(?:had|has|have) (?P<value>\w+) "
        r"(?P<what>children|kids|sons|daughters|brothers|sisters|siblings|grandchildren)\b",
        r"\b(?:is|was) (?P<key>married) to (?P<what>)(?P<value>\w+)$",
    )
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_DIGITS = {word: str(number) for number, word in enumerate(_COUNTED, start=1)}


@dataclass(frozen=True, slots=True)
class Sense:
    """What two statements are compared by: the words that matter, in order, whether they are denied, when they hold.

    ``past`` is false for statements about anybody but the user: those who talk of the dead change tense at will.
    """

    text: str
    words: tuple[str, ...]
    bag: frozenset[str]
    denied: bool
    past: bool


def sense_of(statement: str) -> Sense:
    """Reduce a statement to its sense."""
    text = " ".join(_expanded(word) for word in _WORD.findall(statement.replace("’", "'")))
    low = text.lower().replace("favorite", "favourite")
    words = []
    denials = 0
    for word in low.split():
        if word in _NOT:
            denials += 1
        elif word not in _FILLER:
            words.append(_stem(word))
    past = low.startswith("the user") and any(verbs.is_past(word) for word in low.split())
    return Sense(low, tuple(words), frozenset(words), denials % 2 == 1, past)


def _expanded(word: str) -> str:
    low = word.lower()
    if low.endswith("n't"):
        return low[:-3].replace("ca", "can") + " not" if low != "won't" else "will not"
    return word[:-2] if low.endswith("'s") else word


def _stem(word: str) -> str:
    word = _DIGITS.get(word, word)
    if word in _SYNONYMS:
        return _SYNONYMS[word]
    base = verbs.base_of(word)
    return _SYNONYMS.get(base, base)


def compare(existing: str, new: str) -> Comparison:
    """Compare two statements; the result doesn't depend on their order."""
    return compare_senses(sense_of(existing), sense_of(new))


def compare_senses(one: Sense, other: Sense) -> Comparison:
    """Compare two statements reduced to their senses."""
    if not one.bag or not other.bag:
        return "same" if one.text == other.text and one.text else "different"
    if _single_values_differ(one, other):
        return "contradicts"
    shared = one.bag & other.bag
    only_one = one.bag - shared
    only_other = other.bag - shared
    # The same words in another order may say who did what to whom.
    if one.past != other.past or (one.bag == other.bag and one.words != other.words):
        return "different"
    if (one.bag == other.bag and one.denied != other.denied) or _opposed(one, other, only_one, only_other):
        return "contradicts"
    alike = one.denied == other.denied and (one.bag == other.bag or _says_no_more(one, other, only_one or only_other))
    return "same" if alike else "different"


def _opposed(one: Sense, other: Sense, only_one: frozenset[str], only_other: frozenset[str]) -> bool:
    """Whether two statements differ in an antonym, or in a denial of the same words."""
    if len(only_one) == 1 and len(only_other) == 1:
        pair = only_one | only_other
        if pair in _ANTONYMS:
            return one.denied == other.denied
        # "loved coffee" and "never drank coffee" can't both hold.
        if one.denied != other.denied:
            affirmed, denied = (only_one, only_other) if other.denied else (only_other, only_one)
            return affirmed == {"love"} and denied <= {"drink", "eat", "touch", "stand"}
    return False


def _says_no_more(one: Sense, other: Sense, extra: frozenset[str]) -> bool:
    """Whether one long statement has a single word more than the other, and not one that decides what it says."""
    if one.denied or not (one.bag < other.bag or other.bag < one.bag):
        return False
    return len(extra) == 1 and not _decides(extra) and min(len(one.bag), len(other.bag)) >= 5


def _decides(words: frozenset[str]) -> bool:
    return any(
        word[:1].isdigit() or word in NUMBERS or word in MONTHS or word in KIN or verbs.verb_form(word) is not None
        for word in words
    )


def _single_values_differ(one: Sense, other: Sense) -> bool:
    """Whether both give the same one-valued thing of the same subject another value."""
    if one.denied or other.denied:
        return False
    for pattern in _SINGLE:
        first, second = pattern.search(one.text), pattern.search(other.text)
        if first and second and first["key"] == second["key"] and first["what"] == second["what"]:
            same = _same_subject(one.text[: first.start()], other.text[: second.start()])
            return same and _values_differ(first["value"], second["value"])
    return False


def _same_subject(one: str, other: str) -> bool:
    first = {_stem(word) for word in one.split() if word not in _FILLER}
    second = {_stem(word) for word in other.split() if word not in _FILLER}
    return first == second


def _values_differ(one: str, other: str) -> bool:
    years_one, years_other = set(_YEAR.findall(one)), set(_YEAR.findall(other))
    if years_one or years_other:
        return bool(years_one) and bool(years_other) and not years_one & years_other
    if MONTHS.isdisjoint(one.split()) != MONTHS.isdisjoint(other.split()):
        # A date and a place are answers to two questions.
        return False
    first = {_stem(word) for word in one.split() if word not in _FILLER}
    second = {_stem(word) for word in other.split() if word not in _FILLER}
    return bool(first) and bool(second) and not first & second

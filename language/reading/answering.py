"""Which statements that were found answer a question, by the words that they share with it.

Words count as shared in any inflected form, as synonyms for kin ("mum" and "mother"), and where a statement names a
kind of what is asked for (a greyhound for the dog).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import combinations, takewhile
from typing import Literal

import regex

from language.base import Source
from language.reading.compare import Saying, compare, parse_pairs
from language.reading.kin import given_name
from language.reading.lexicon import is_kind_of, relation
from language.reading.parse import irregular
from language.reading.questions import (
    ASKS_WHAT_WAS_SAID,
    HOW,
    OF_ME,
    WANTS_A_TIME,
    WHAT_I_DO,
    is_question,
    spelt,
    wanted_in,
)
from language.reading.related import form_of
from language.reading.stems import NUMERALS
from language.reading.topics import asks_of_somebody, subject_of, topic_of, topics_of
from language.reading.words import KIN, listed

Fit = Literal["answers", "nearest", "others"]
"""Whether statements answer a question, are only near to it, or are about others than the person who asks."""

MOST_TOLD = 4
MOST_TOLD_OF_ALL = 8
"""Used for general questions: "what do you know about me?"."""
_ENDINGS_OF_SHORT = frozenset({"", "s", "es", "ed", "ing", "y", "ies"})
_ENDINGS = _ENDINGS_OF_SHORT | {"d", "e", "en", "er", "ers", "ied", "n", "r", "st", "t", "te", "ten"}
"""Inflectional endings in English and German."""
NAME = regex.compile(
    r"(?<=[\p{L},] )\p{Lu}\p{Ll}{2,}\b|^\p{Lu}\p{Ll}{2,}(?= (?:called|came|said|told|rang|wrote|visited)\b)"
)
_TITLE = regex.compile(r"\b\p{Lu}\p{L}+(?= \p{Lu})")
"""What may be a title before a name: "Aunt Rosa". Facts about a legacy have the name alone."""
_GIVEN_NAME = regex.compile(r"(?<=[\p{L},.] )(?<!\b(?:a|an|the|two|three|four) )\p{Lu}\p{L}+")
"""A name within a statement. A breed with an article is none: "a Labrador"."""
_PRONOUN = regex.compile(r"(?<= )(?:she|he|her|him|his)\b", regex.IGNORECASE)
_FIGURE = regex.compile(rf"\d|\b(?:{'|'.join(NUMERALS)})\b", regex.IGNORECASE)
TIME = regex.compile(
    rf"{_FIGURE.pattern}|\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?|daily|weekly|monthly|yearly|"
    r"january|february|march|april|may|june|july|august|september|october|november|december|christmas|easter|"
    r"mornings?|noon|afternoons?|evenings?|nights?|midnight|springs?|summers?|autumns?|winters?)\b",
    regex.IGNORECASE,
)
_TIME_WORDS = listed("in on at the of about around early late st nd rd th")
_NOT_ALONE = listed("favourite favorite best new old own call called name names named like likes kind sort type")
"""Words that are no topic without their noun: the favourite dish may be known, the favourite colour not."""
_DERIVED_FROM = dict.fromkeys(("husband", "wife", "spouse"), "marry")
_GOES = listed("go goes going travel travels travelled travelling traveling")
_WAYS_TO_GO = frozenset({"same", "synonym", "kind"})
"""How words are related to "travel" that answer where somebody goes: a trip, a flight."""
_ALSO_TELLS = {"live": listed("moved relocated settled"), "dislike": listed("hate hates detest loathe loathes")}
"""Words of statements that answer a question with another word."""
_SAME_KIN = listed("mother father grandmother grandfather sister brother aunt uncle husband child")
"""Kin whose words in ``KIN`` are synonyms."""
_MEMBERS = {
    "children": listed("child daughter son"),
    "siblings": listed("brother sister"),
    "parents": listed("mother father"),
    "grandparents": listed("grandmother grandfather"),
    "grandchildren": listed("grandchild granddaughter grandson"),
}
"""Groups of kin, and the kin that are of them, by their names in ``KIN``."""
_GROUPS = {
    "child": "children",
    "kids": "children",
    "grandchild": "grandchildren",
    **{group: group for group in _MEMBERS},
    **{group.removesuffix("s"): group for group in _MEMBERS},
}
_OF_OTHERS, _OF_ONE_VALUE = frozenset({"family", "pets", "marriage"}), frozenset({"name", "age", "marriage"})
"""Topics that are about others in any case, and those that only their own statements answer."""
_OVER = regex.compile(r"\bno longer\b|(?:\bnot\b|n['’]t\b)[^.]*\bany ?more\b")
_THEY = regex.compile(r"“(?:He|She|They|His|Her|Their)\b")
_OF_YOU = regex.compile(r"\b[Yy]ou\b|“[^”]*\b(?:I|[Mm]y)\b")


def asks_of_legacy(question: str, name: str) -> bool:
    """Whether a question is about whom the chat is about in general: "what do you know about him?"."""
    asked = with_name(question, name)
    return (
        is_question(asked)
        and given_name(name).casefold() in spelt(asked)
        and wanted_in(asked).keys() <= set(spelt(name))
    )


def with_name(question: str, name: str) -> str:
    """The question with its pronoun replaced by the name that statements have for whom the chat is about.

    So is what precedes it in their full name: "Grandma" of "Grandma Rosa".
    """
    given = given_name(name)
    if not given:
        return question
    for title in name.partition(given)[0].split():
        question = regex.sub(rf"\b{regex.escape(title)}(?!\w| {regex.escape(given)})", given, question)
    return question if NAME.search(question) else _PRONOUN.sub(given, question)


def matching_sources(question: str, found: Sequence[Source]) -> tuple[list[Source], Fit]:
    """The sources that share most words with the question, and whether they answer it.

    A question without a topic ("what do you know of me?") gets all sources. A name in it must be in the answer. The
    first ranked source is kept with fewer shared words. For a broad topic, all its sources are returned. Where none
    shares a word, the source that stands out in meaning is the nearest.
    """
    wanted = wanted_in(question)
    if not wanted:
        of_them = [source for source in found if not (source.of_legacy and OF_ME.search(question))]
        return _remembered(question, of_them)[:MOST_TOLD_OF_ALL], "answers"
    if OF_ME.search(question) and not (NAME.search(question) or ASKS_WHAT_WAS_SAID.search(question)):
        found = [source for source in found if _OF_YOU.search(source.text) or not _is_of_them(source)]
    titles = {title.casefold() for title in _TITLE.findall(question)} & KIN.keys()
    named = {name[0].casefold() for name in NAME.finditer(question)} & set(wanted) - titles
    topical = set(wanted) - named - titles - _NOT_ALONE
    exact = [(source, _shared(wanted, source)) for source in found]
    exact = [(source, words | titles if source.of_legacy and words & named else words) for source, words in exact]
    told = {word for _, words in exact for word in words}
    shared = [(source, words | _kinds(wanted.keys() - told - named, source)) for source, words in exact]
    shared = [(source, words) for source, words in shared if words and (words & named or not named)]
    shared = [(source, words) for source, words in shared if words & (topical | named) or not topical]
    own = [(source, words) for source, words in shared if _is_own(source, question)]
    if WHAT_I_DO.search(question) and shared and not own:
        return _remembered(question, [source for source, _ in shared])[:MOST_TOLD], "others"
    shared = own or shared
    most = max((len(words) for _, words in shared), default=0)
    fitting = [
        source
        for place, (source, words) in enumerate(shared)
        if len(words) == most or (not place and words - _NOT_ALONE)
    ]
    topic = topic_of(wanted) if OF_ME.search(question) and not named else ""
    telling = [source for source in found if topic and topic in topics_of(source.text)]
    of_topic = [source for source in found if topic and (source in fitting or source in telling)]
    if topic in _OF_ONE_VALUE and telling:
        of_topic = telling
    if of_me := OF_ME.search(question) is not None and not (named or asks_of_somebody(wanted)):
        fitting = _of_them_first(question, fitting)
        of_topic = of_topic if topic in _OF_OTHERS else _of_them_first(question, of_topic)
    if of_topic:
        of_others = of_me and topic not in _OF_OTHERS and all(map(_is_of_somebody_else, of_topic))
        fit: Fit = "others" if of_others else "answers" if telling or topic not in _OF_ONE_VALUE else "nearest"
        return _remembered(question, of_topic)[:MOST_TOLD_OF_ALL], fit
    if not fitting and not named:
        return [source for source in found if source.stands_out][:1], "nearest"
    sources = _remembered(question, fitting)
    about = topical or set(wanted) - named - titles
    answers = any(words & about for source, words in shared if source in sources) or not about
    asked = set(wanted) - named - titles
    if sources and asked and all(each.of_legacy for each in sources) and not any(words & asked for _, words in shared):
        return [source for source in found if source.stands_out][:1], "nearest"
    sources = sources[: MOST_TOLD if about else MOST_TOLD_OF_ALL]
    value = TIME if WANTS_A_TIME.search(question) else _FIGURE if HOW.search(question) else None
    if value:
        sources.sort(key=lambda source: not value.search(source.text))
        answers = answers and any(value.search(source.text) for source in sources)
    return sources, "answers" if answers else "nearest"


def up_to_date(sources: Sequence[Source], question: str) -> tuple[list[Source], bool]:
    """Drop sources that a later one replaces, put a later one before what it contradicts, and return whether any do.

    For a question about a time, two sources that differ only in the time conflict too.
    """
    sayings = {source: Saying(source.stored) for source in sources if source.stored and source.at is not None}
    in_order = sorted(sayings, key=lambda source: source.at or datetime.min.replace(tzinfo=UTC))
    pairs = list(combinations(in_order, 2))
    parse_pairs([(sayings[late], sayings[early]) for early, late in pairs if not (early.quoted or late.quoted)])
    left = list(sources)
    several = False
    for early, late in pairs:
        read = not (early.quoted or late.quoted)
        verdict = compare(sayings[early], sayings[late]) if read else "different"
        if early not in left:
            continue
        if verdict == "replaces":
            left.remove(early)
        elif verdict == "contradicts" or (WANTS_A_TIME.search(question) and _differ_in_time(early, late)):
            several = True
            if late in left and left.index(early) < left.index(late):
                left.remove(late)
                left.insert(left.index(early), late)
    return left, several


def is_over(source: Source) -> bool:
    """Whether a statement tells only what no longer holds."""
    return not source.quoted and _OVER.search(source.text) is not None


def _differ_in_time(one: Source, other: Source) -> bool:
    texts = one.stored, other.stored
    bare = [[word for word in spelt(TIME.sub(" ", text)) if word not in _TIME_WORDS] for text in texts]
    return bare[0] == bare[1] and texts[0] != texts[1] and all(map(TIME.search, texts))


def _remembered(question: str, found: Sequence[Source]) -> list[Source]:
    """Prefer memories to quotations, unless the question is about what was said: memories are up to date.

    What is over comes last.
    """
    kept = [source for source in found if not source.quoted]
    kept = list(found) if not kept or ASKS_WHAT_WAS_SAID.search(question) else kept
    return sorted(kept, key=is_over)


def _of_them_first(question: str, found: Sequence[Source]) -> list[Source]:
    """The sources about the person before others; those about somebody else only where there are no others."""
    if ASKS_WHAT_WAS_SAID.search(question):
        return list(found)
    kept = [source for source in found if not _is_of_somebody_else(source)]
    return sorted(kept or found, key=lambda source: subject_of(source.text) != "you")


def _is_of_them(source: Source) -> bool:
    return source.of_legacy or _THEY.match(source.text) is not None


def _is_of_somebody_else(source: Source) -> bool:
    return subject_of(source.text) == "somebody" or (source.of_legacy and not _OF_YOU.search(source.text))


def _shared(wanted: Iterable[str], source: Source) -> set[str]:
    """The words of the question that a source contains."""
    others = _words(source.text)
    return {word for word in wanted if any(_tells_of(word, other) for other in others)}


def _tells_of(word: str, other: str) -> bool:
    """Whether a word of a statement says what a word of a question asks for."""
    if (word in _GOES and relation(other, "travel") in _WAYS_TO_GO) or other in _ALSO_TELLS.get(word, ()):
        return True
    if (group := _GROUPS.get(word)) and _kin_named(other) in _MEMBERS[group]:
        return True
    return _is_same_word(word, other) or (word in _DERIVED_FROM and _is_same_word(_DERIVED_FROM[word], other))


def _kinds(wanted: Iterable[str], source: Source) -> set[str]:
    """The words of the question of which a source names a kind: the dog, where it tells of a greyhound.

    A name is none: the cat Biscuit is no bread.
    """
    others = _words(_GIVEN_NAME.sub(" ", source.text))
    return {word for word in wanted if any(is_kind_of(other, word) for other in others)}


def _is_own(source: Source, question: str) -> bool:
    """Whether a source is about the person's own habits, where the question asks for them ("do I swim?")."""
    done = WHAT_I_DO.search(question)
    if done is None or ASKS_WHAT_WAS_SAID.search(question):
        return True
    verb = done["verb"].casefold()
    theirs = {f"{verb}s", f"{verb}es", f"{verb.removesuffix('y')}ies"}
    of_others = source.text.startswith("Your ") or not theirs.isdisjoint(spelt(source.text))
    return _OF_YOU.search(source.text) is not None and not of_others


def _words(text: str) -> set[str]:
    """A text's words as they are, and as lemmas: "lives" may be of "live" or of "life"."""
    words = spelt(text)
    return {*words, *map(irregular, words)}


def _is_same_word(word: str, other: str) -> bool:
    """Whether two words are synonyms, or inflected forms of one: "keys" and "key", "worked" and "working"."""
    return _is_inflected(word, other) or form_of(word) == form_of(other) or _kin(word) == _kin(other) != ""


def _kin(word: str) -> str:
    """The relation of kin whose words are synonyms that a word names; empty for other words."""
    named = _kin_named(word)
    return named if named in _SAME_KIN else ""


def _kin_named(word: str) -> str:
    """The group in ``KIN`` that a word names, also in the plural; empty for other words."""
    return KIN.get(word, KIN.get(word.removesuffix("s"), ""))


def _is_inflected(word: str, other: str) -> bool:
    """Whether two words differ in endings only."""
    stem = "".join(one for one, _ in takewhile(lambda both: both[0] == both[1], zip(word, other, strict=False)))
    if len(stem) < 3:
        return word == other
    endings = _ENDINGS if len(stem) > 3 else _ENDINGS_OF_SHORT
    rests = (each.removeprefix(stem) for each in (word, other))
    return all(rest in endings or rest.removeprefix(stem[-1]) in endings for rest in rests)

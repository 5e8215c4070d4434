"""How two English words are related in WordNet: synonyms, hyponyms, antonyms, co-hyponyms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Literal

from .wordnet import Key, pointed_from, sense, senses_of
from .words import in_order

Relation = Literal["same", "synonym", "derived", "near", "kind", "loose", "opposite", "sibling", "class", ""]
ALIKE: Mapping[str, float] = {"same": 1.0, "synonym": 0.95, "derived": 0.93, "near": 0.8, "loose": 0.75, "kind": 0.7}
"""Relations of words that can have one meaning, with their similarity from 0 to 1."""
_CONVERSES = frozenset(
    frozenset(pair.split("/"))
    for pair in in_order(
        """teach/learn lend/borrow buy/sell give/receive give/get hire/fire hire/reject owe/own rent/own vet/veteran
        die/fall"""
    )
)
"""Converse verbs, and pairs that WordNet wrongly lists as synonyms."""

_CLASSES = frozenset({5, 6, 7, 8, 13, 14, 15, 18, 20, 21, 23, 28})
"""WordNet's lexicographer files of nouns: animals, artifacts, attributes, body, food, groups, places, people, plants,
possessions, measures, time.
"""
_PLACES, _PEOPLE = 15, 18
_SENSES, _MOST_SENSES = 4, 5
_MOST_HYPERNYMS = 6
_DERIVED = frozenset("+\\<")


def is_word(word: str) -> bool:
    """Whether WordNet has this word, in lower case, as more than a name. Phrasal verbs are written "give_up"."""
    return any(word in sense(key).words for key, _ in senses_of(word))


def is_adjective(word: str) -> bool:
    """Whether a word, in lower case, can be an adjective."""
    return any(key[0] == "a" for key, _ in senses_of(word))


def is_place(name: str) -> bool:
    """Whether WordNet has a place of this name among its most frequent senses: "Lyon", "New York"."""
    return any(sense(key).kind == _PLACES for key in _ranked(name.lower().replace(" ", "_")))


def is_person(word: str) -> bool:
    """Whether the most frequent sense of a noun, in lower case, is a person: "patient", "student"."""
    first = next((key for key, _ in sorted(senses_of(word), key=lambda each: each[1]) if key[0] == "n"), None)
    return first is not None and sense(first).kind == _PEOPLE


@lru_cache(maxsize=20_000)
def relation(one: str, other: str) -> Relation:
    """How two lemmas in lower case are related; empty if they are not."""
    if one == other:
        return "same"
    if frozenset({one, other}) in _CONVERSES:
        return "opposite"
    return next(_related(one, other), "") if senses_of(one) and senses_of(other) else ""


def _related(one: str, other: str) -> Iterator[Relation]:
    """The relations of two words, closest first."""
    if other in _opposites(one) or one in _opposites(other):
        yield "opposite"
    first, second = _ranked(one), _ranked(other)
    common = [first[key] + second[key] for key in first if key in second]
    if common and min(common) < _SENSES:
        yield "synonym"
    from_one, from_other = _derived(one), _derived(other)
    if other in from_one or one in from_other or from_one & from_other:
        yield "derived"
    for word, its in ((one, other), (other, one)):
        if any(its in _derived(synonym) for synonym in _synonyms(word)):
            yield "near"
    if any(to in second for key, rank in first.items() if rank < 3 for to in _pointed_senses(key, "&")):
        yield "near"
    over_one, over_other = _hypernyms(one), _hypernyms(other)
    if not _ranked(other, 2).keys().isdisjoint(over_one) or not _ranked(one, 2).keys().isdisjoint(over_other):
        yield "kind"
    if common:
        yield "loose"
    if any(steps <= 2 and over_other.get(key, 3) <= 2 for key, steps in over_one.items()):
        yield "sibling"
    of_one, of_other = _noun_class(one), _noun_class(other)
    if of_one == of_other and of_one in _CLASSES:
        yield "class"


def alike_words(word: str) -> Mapping[str, Relation]:
    """The words that can have one meaning with a word, each with its relation: synonyms, derived and near ones."""
    close = {*_synonyms(word), *_derived(word)}
    found = {each.lower() for key in _ranked(word) for each in sense(key).words} | close
    found |= {derived for synonym in close for derived in _derived(synonym)}
    found |= {each.lower() for key in _ranked(word, 3) for to in _pointed_senses(key, "&") for each in sense(to).words}
    told = {other: relation(word, other) for other in found - {word}}
    return {other: how for other, how in told.items() if how in {"synonym", "derived", "near"}}


def _ranked(word: str, most: int = _SENSES) -> dict[Key, int]:
    """The word's senses with a rank below ``most``, each with its rank."""
    return {key: rank for key, rank in senses_of(word) if rank < most}


@lru_cache(maxsize=10_000)
def _opposites(word: str) -> frozenset[str]:
    return frozenset(to for key, _ in senses_of(word) for sign, to in pointed_from(key, word) if sign == "!")


@lru_cache(maxsize=10_000)
def _derived(word: str) -> frozenset[str]:
    ranked = _ranked(word, _MOST_SENSES)
    return frozenset(to for key in ranked for sign, to in pointed_from(key, word) if sign in _DERIVED)


@lru_cache(maxsize=10_000)
def _synonyms(word: str) -> frozenset[str]:
    """Words that share a frequent sense with this one."""
    words = {each.lower() for key in _ranked(word, 2) for each in sense(key).words} - {word}
    return frozenset(each for each in words if not _ranked(each, 2).keys().isdisjoint(_ranked(word, 2)))


def _pointed_senses(key: Key, sign: str) -> list[Key]:
    return [pointer.to for pointer in sense(key).pointers if pointer.sign[0] == sign]


@lru_cache(maxsize=10_000)
def _hypernyms(word: str) -> Mapping[Key, int]:
    """The hypernyms of the two most frequent senses with their distance: up to two steps for nouns, one for verbs."""
    found: dict[Key, int] = {}
    for key in _ranked(word, 2):
        step = [key]
        for steps in range(1 + (2 if key[0] == "n" else 1)):
            for each in step:
                found[each] = min(steps, found.get(each, steps))
            step = [kind for each in step for kind in _pointed_senses(each, "@")]
    return found


def _noun_class(word: str) -> int:
    """The lexicographer file of a noun's most frequent sense; 0 for other words."""
    return next((sense(key).kind for key, rank in senses_of(word) if rank == 0 and key[0] == "n"), 0)


@lru_cache(maxsize=10_000)
def is_kind_of(noun: str, kind: str) -> bool:
    """Whether one noun is a hyponym of another, both in their most frequent sense: a greyhound is a dog."""
    over = {key for key, rank in senses_of(kind) if rank == 0 and key[0] == "n"}
    step = {key for key, rank in senses_of(noun) if rank == 0 and key[0] == "n"}
    for _ in range(_MOST_HYPERNYMS if over and _noun_class(noun) in _CLASSES else 0):
        step = {each for key in step for each in _pointed_senses(key, "@")}
        if not step.isdisjoint(over):
            return True
    return False


def siblings(noun: str) -> list[str]:
    """Co-hyponyms of a noun by its most frequent sense, where that sense is their most frequent too."""
    first = [key for key, rank in senses_of(noun) if rank == 0 and key[0] == "n"]
    found = {each for key in first for kind in _pointed_senses(key, "@") for each in _pointed_senses(kind, "~")} - {
        *first
    }
    words = {word for key in found for word in sense(key).words if word.islower() and word.isalpha()}
    return sorted(word for word in words - {noun} if any(key in found and not rank for key, rank in senses_of(word)))

"""Which thing an object "it" or "them" refers to: the object of the clause before, or nothing if it is not certain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from language.reading.clauses import DOUBT, SAY, is_finite, is_verb
from language.reading.lexicon import is_kind_of
from language.reading.normalise import MASK
from language.reading.parse import NOUN_SUBJECTS, Parsed, Word
from language.reading.persons import Person
from language.reading.words import listed

_OF_WHAT_WAS_SAID = (SAY - {"call"}) | DOUBT | listed(
    """do know mean mind matter understand regret talk speak forget remember manage deny accept help discuss realise
    realize notice"""
)  # fmt: skip
"""Verbs whose "it" mostly stands for what happened or was said: "didn't talk about it"."""
_OF_MANY_THINGS = listed("make get take have put keep bring see like love need want enjoy hate stand")
"""Verbs whose "it" does so, too, if the object before is nothing that can be touched."""
_CONCRETE = ("artifact", "food", "plant", "animal", "substance", "writing")
_OF_TOPICS = frozenset({"about", "of", "to"})
_NOT_OF_ONE = listed("no any every each what which another some this that enough much many more")
_INDEFINITE = frozenset({"a", "an"})
_PHRASE = frozenset({"det", "poss", "case", "amod", "compound", "nummod", "nmod"})
_TAGS: Mapping[str, frozenset[str]] = {"it": frozenset({"NN", "NNP"}), "them": frozenset({"NNS", "NNPS"})}
_NOUNS = frozenset().union(*_TAGS.values())
_ROLES = NOUN_SUBJECTS | {"dobj", "pobj"}
_OBJECTS = frozenset({"dobj", "pobj"})
_NO_THING = frozenset({"DATE", "TIME", "CARDINAL", "ORDINAL", "PERSON", "GPE", "NORP", "QUANTITY", "MONEY"})


def thing_meant(parsed: Parsed, word: Word, referents: Mapping[int, Person | None]) -> Sequence[Word]:
    """The noun phrase that an object "it" or "them" stands for, without what follows its noun; empty if unclear.

    It is the direct object of the clause before, or else the only noun of that clause that fits.
    """
    verb = _verb_of(parsed, word)
    is_object = word.dep == "dobj" or (word.dep == "pobj" and parsed.head(word).low in _OF_TOPICS)
    if word.dep not in _OBJECTS or word.low not in _TAGS or parsed.child(verb, "prt"):
        return ()
    before = next((each for each in reversed(parsed.words[: word.index]) if _heads_clause(parsed, each, verb)), None)
    if before is None or (is_object and verb.lemma in _OF_WHAT_WAS_SAID):
        return ()
    inner = [each for each in parsed.words[: word.index] if _clause_of(parsed, each) == before.index]
    same = next((each for each in inner if each.low == word.low), None)
    if same is not None:
        return thing_meant(parsed, same, referents)
    things = [each for each in inner if _is_thing(parsed, each, referents)]
    objects = [each for each in things if each.dep == "dobj"]
    fitting = [each for each in objects or things if each.tag in _TAGS[word.low]]
    if len(fitting) != 1 or not (objects or len(things) == 1 or fitting[0].dep in NOUN_SUBJECTS):
        return ()
    found = fitting[0]
    is_touched = bool(objects) and any(is_kind_of(found.lemma, each) for each in _CONCRETE)
    is_vague = is_object and verb.lemma in _OF_MANY_THINGS and not is_touched
    is_unreal = any(each.dep == "neg" for each in parsed.children(before)) and not _is_bare(parsed, found)
    if is_vague or is_unreal or not (found.dep != "pobj" or parsed.child(found, "det", "poss")):
        return ()
    return _phrase(parsed, found)


def _verb_of(parsed: Parsed, word: Word) -> Word:
    while not is_verb(word) and word.head != word.index:
        word = parsed.head(word)
    return word


def _heads_clause(parsed: Parsed, verb: Word, of: Word) -> bool:
    """Whether a verb before another heads a clause of its own, which tells something."""
    return is_verb(verb) and is_finite(parsed, verb) and verb.index < of.index and verb.dep not in {"aux", "auxpass"}


def _clause_of(parsed: Parsed, word: Word) -> int:
    """The index of the finite verb of a token's clause."""
    verb = _verb_of(parsed, word)
    while not is_finite(parsed, verb) and verb.head != verb.index:
        verb = _verb_of(parsed, parsed.head(verb))
    return verb.index


def _is_thing(parsed: Parsed, noun: Word, referents: Mapping[int, Person | None]) -> bool:
    """Whether a token is a noun for one thing or several of a kind, which a pronoun can stand for."""
    if noun.tag not in _NOUNS or noun.index in referents or noun.entity in _NO_THING or noun.text.startswith(MASK):
        return False
    is_one = _NOT_OF_ONE.isdisjoint(each.low for each in parsed.children(noun)) and parsed.child(noun, "conj") is None
    return is_one and noun.dep in _ROLES and not (noun.tag == "NN" and is_kind_of(noun.low, "person"))


def _is_bare(parsed: Parsed, noun: Word) -> bool:
    return all(each.low not in _INDEFINITE for each in parsed.children(noun))


def _phrase(parsed: Parsed, noun: Word) -> Sequence[Word]:
    own = [each for each in parsed.children(noun) if each.dep in _PHRASE and each.index < noun.index]
    words = sorted([noun, *(one for each in own for one in parsed.subtree(each))], key=lambda each: each.index)
    return words if words[-1].index - words[0].index == len(words) - 1 else ()

"""The broad topic that a question asks about ("my work?"), the topics of a statement, and whom it is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from typing import Literal

import regex

from language.brief_caches import cached_briefly

from .clauses import clauses
from .kinds import FAMILY_WORDS, kind_of
from .lexicon import is_kind_of, relation
from .parse import parse
from .persons import Person
from .words import ENGLISH, HOBBY_VERBS, KIN, KIN_PLURALS, NUMERALS, PETS, listed

TOPICS = {
    "work": listed("work job occupation profession career livelihood workplace employer"),
    "family": listed("family relatives relative kin"),
    "health": listed("health illness sickness disease medicine diet"),
    "home": listed("home house residence address live reside"),
    "hobbies": listed("hobby interest pastime leisure recreation sport spare"),
    "pets": listed("pet animal"),
    "name": listed("name nickname"),
    "age": listed("age old"),
    "marriage": listed("marry married marriage spouse divorced single"),
    "plans": listed("plan goal intention future"),
    "preferences": listed("preference"),
}
"""The words that name each topic; their WordNet synonyms count too."""
SEARCHED = {
    "work": "my job, where I work and as what, my boss and colleagues",
    "family": "my family, my wife or husband, children, parents, brothers and sisters",
    "health": "my health, what I am allergic to, illness and medicine",
    "home": "where I live, where I moved to, my house or flat",
    "hobbies": "what I like to do in my free time, sport and music",
    "pets": "my cat, my dog, my pets",
    "name": "what I am called, my name",
    "age": "how old I am, when I was born",
    "marriage": "my wife, my husband, that I am married, single or divorced",
    "plans": "what I plan and want to do, my goals",
    "preferences": "what I prefer, what I like and dislike",
}
"""The search query for each topic, added to the question's own words."""
_OF_KINDS = {"occupation": "work", "health": "health", "goal": "plans", "hobby": "hobbies", "preference": "preferences"}
_POSTS = listed("at with as for")
"""What follows where somebody started to work, or as what."""
_AT_WORK = listed("job boss manager supervisor colleague colleagues coworker coworkers employer shift shifts office")
_AT_HOME = listed("live move rent reside settle relocate")
_OWN_NAME = re.compile(
    r"^(?:you|i) (?:(?:asked|like|prefer|want) .*\bcalled|are called|go by)\b|^(?:your|my)(?: \w+)? name\b"
)
_AGED = (
    rf"(?:\d{{1,3}}|(?:{'|'.join(NUMERALS)})(?:-\w+)?)(?: years| now| today| (?:in|on|this|last) |\W*$|\W+and\b|[,;])"
)
_OWN_AGE = re.compile(
    r"(?i)\b(?:you|i)(?:['’]m| am| are|(?: have| will)? turn(?:ed)?)(?: (?:now|only|about|almost|nearly|already))? "
    rf"{_AGED}|\b(?:you were|i was) born\b|\b(?:your|my) (?:age\b|birthday\b.*\d{{4}}|date of birth\b)"
)
"""That the person is 58, turned 58, or when they were born; not that they are 58 inches tall."""
_OWN_MARRIAGE = re.compile(
    r"(?i)\b(?:your|my) (?:ex-|(?:former|late|second|future) )?(?:wife|husband|spouse|fianc[eé]e?|wedding)\b|"
    r"^\W*(?:you|i)(?:['’]\w+| \w+){0,3} (?:single|married|marry|divorced|engaged|separated|widow(?:ed|er)?)\b"
)
_YOURS = regex.compile(r"^“?(?:Your|My) (?P<noun>.+)")
_YOU = regex.compile(r"^“?(?:You|I)\b")
_MENTIONS_YOU = regex.compile(r"\b[Yy]ou(?:r(?:s(?:elf)?)?)?\b|^“(?:[^”]*\W)?(?:I|[Mm][ey]|[Mm]ine|[Mm]yself)\b")
_NAME = regex.compile(r"^“?(?P<name>\p{Lu}\p{Ll}+)\b")
_FINITE = listed("is are was were has have had will can isn't aren't wasn't")
_MEANS = frozenset({"same", "synonym", "derived"})
_USER = Person("user")


def topic_of(words: Iterable[str]) -> str:
    """The one topic that all words of a question name; empty if they name anything else, or several."""
    found = {next((topic for topic, names in TOPICS.items() if _names(word, names)), "") for word in words}
    return next(iter(found)) if len(found) == 1 else ""


@lru_cache(maxsize=1_000)
def _names(word: str, names: frozenset[str]) -> bool:
    forms = {word, word.removesuffix("s"), f"{word.removesuffix('ies')}y"}
    return any(relation(form, name) in _MEANS for form in forms for name in names)


@cached_briefly(maxsize=5_000)
def topics_of(statement: str) -> frozenset[str]:
    """The topics of a statement in the second person, as it is shown to its person."""
    parsed = parse(statement.strip("“”"))
    if parsed is None:
        return frozenset()
    found, mine = set(), False
    for first, last in parsed.sentences:
        for clause in clauses(parsed, first, last):
            lemma, lows = (
                clause.head.lemma.lower(),
                clause.lower_words() | {word.lemma.lower() for word in clause.words()},
            )
            mine = clause.subject.low in {"you", "i"} if clause.subject is not None else mine
            if mine:
                kind = kind_of(clause.with_main_verb(), " ".join(word.text for word in clause.words()), _USER)
                found.add(_OF_KINDS.get(kind, ""))
                found |= {"home"} if lemma in _AT_HOME else set()
                started = lemma in {"start", "begin"} and any(each.low in _POSTS for each in clause.children("prep"))
                found |= {"work"} if started else set()
                found |= {"hobbies"} if lemma in HOBBY_VERBS else set()
            found |= {"name"} if _OWN_NAME.search(" ".join(word.low for word in clause.words())) else set()
            found |= {"age"} if _OWN_AGE.search(statement) else set()
            found |= {"marriage"} if _OWN_MARRIAGE.search(statement) else set()
            found |= {"work"} if lows & _AT_WORK or "for a living" in statement else set()
            found |= {"pets"} if lows & PETS else set()
            small = {word.low for word in clause.words() if word.text.islower()}  # "Pop" may be a rabbit.
            found |= {"family"} if small & (FAMILY_WORDS | KIN_PLURALS) else set()
    return frozenset(found - {""})


def asks_of_somebody(words: Iterable[str]) -> bool:
    """Whether the words of a question name a person or a pet: "my daughter", "my boss", "my dog"."""
    return any(map(_is_somebody, words))


def subject_of(text: str) -> Literal["you", "somebody", "other"]:
    """Whom a statement is about: "you" also for "Your name is …", "somebody" for "Your daughter …" and "Lena …".

    "other" for things, and where the person is named too: "Alec is your boss."
    """
    if _YOU.match(text):
        return "you"
    if yours := _YOURS.match(text):
        nouns = takewhile(lambda word: word.islower() and word not in _FINITE, yours["noun"].split())
        return "somebody" if any(map(_is_somebody, map(_bare, nouns))) else "you"
    name = _NAME.match(text)
    return "somebody" if name and name["name"].lower() not in ENGLISH and not _MENTIONS_YOU.search(text) else "other"


def _bare(word: str) -> str:
    return regex.sub(r"['’]s?$", "", word.strip(",;:"))


def _is_somebody(word: str) -> bool:
    return word in KIN or word in KIN_PLURALS or word in PETS or is_kind_of(word.removesuffix("s"), "person")

"""States of a person's life, and what they say once these are over: "is single", and "I got engaged".

Such a message often shares no word with the memory that it ends, and sentence vectors see little in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .ending import ended
from .figures import normalise_figures
from .sentences import Sentence, split_sentences
from .words import KIN, NUMERALS, PETS, listed

_I = r"\b(?:I|we)(?:['’](?:m|ve|re)| am| are| have)?\b(?: \w+){0,2}?"
"""The speaker as a subject, with up to two adverbs."""
_PET = "|".join(sorted(PETS))
_MEAT = "meat|fish|chicken|beef|pork|steak|bacon|ham|lamb|turkey|sausages?|burgers?|everything"
_DIETS = r"vegetarian|vegan|pescatarian|flexitarian|teetotal"
_LOVED = r"(?:boyfriend|girlfriend|fianc[ée]e?)"
_PARTING = r"split\w*|broke|broken|breaking|separat\w+|part(?:ed|ing)|divorc\w+|end(?:ed|ing)|apart|no longer|called it"
_CHILD = r"(?:our|my) (?:(?:first|second|third|fourth|fifth|new|little) )?(?:baby|son|daughter|twins|boy|girl)"
_PARTED = (
    rf"{_I} (?:got |get |getting |been )?(?:divorced|separated)\b|{_I} (?:split up|broke up)\b"
    r"|\b(?:my|our|the) divorce (?:came through|is (?:final|through|done))\b"
    r"|\bI(?:['’]ve)? left my (?:wife|husband)\b|\bmy (?:wife|husband)(?: has)? left me\b"
)
_ROWS: tuple[tuple[str, ...], ...] = (
    (
        r"The user is ((?:an? )?(?:vegetarian|vegan|pescatarian|flexitarian))",
        rf"{_I} (?:eat|eating|ate)(?: \w+){{0,3}}? (?:{_MEAT})\b",
    ),
    (
        rf"The user is ((?:an? )?(?:{_DIETS}))",
        rf"{_I} (?P<now>(?:an? )?(?:{_DIETS}))(?: (?:now|today|these days)\b|[.!]*$)|"
        rf"{_I} (?:went|gone|turned|became|become|becoming|going) (?P<turned>(?:an? )?(?:{_DIETS}))\b",
        "{now}",
    ),
    (
        r"The user (?:works|is working) (?:as|at|for|in)",
        rf"{_I} (?:lost|quit|left|gave up) my job\b|{_I} (?:unemployed|out of work|jobless)\b"
        rf"|{_I} (?:got |been )?(?:laid off|fired|sacked|made redundant|let go)\b"
        rf"|{_I} (?:retired|stopped working|gave up work)\b(?! (?:the|my|as)\b)",
    ),
    (r"The user is married", _PARTED),
    (r"The user's (wife|husband) is", _PARTED, "former {was}"),
    (r"\w+ is the user's (wife|husband)", _PARTED, "former {was}"),
    (
        r"The user is single",
        rf"{_I} (?:got|met|found|a)\b[^.!?]*\b(?:boyfriend|girlfriend|partner)\b"
        rf"|{_I} (?:been )?(?:seeing|dating) some(?:one|body)\b"
        rf"|{_I} (?:got |get )?(?:engaged|married)\b"
        rf"|\bmy {_LOVED} and I\b(?!.*\b(?:{_PARTING})\b)"
        rf"|\b(?:asked me to be|I(?:['’]m| am)(?: now)?) (?:his|her|their) {_LOVED}\b",
    ),
    (
        r"The user is engaged",
        rf"{_I} (?:got |getting )?married\b(?! (?:next|in (?:the )?(?:spring|summer|autumn|winter)))"
        rf"|{_I} (?:broke|split|called it)\b",
    ),
    (
        r"The user is (?:\w+ (?:weeks|months) )?(?:pregnant|expecting)",
        rf"{_I} (?:gave birth|had (?:the|our|my) baby)\b"
        rf"|\b(?:the baby|{_CHILD}) (?:was born|arrived|came|is here|has arrived)\b",
    ),
    (
        r"The user is (?:unemployed|jobless|out of work|looking for (?:a |new )?(?:job|work))",
        rf"{_I} (?:got|found|start|started|starting|begin|landed)\b[^.!?]*\b(?:job|work|position)\b"
        rf"|{_I} (?:start|started|starting) (?:at|on \w+day|\w+day)\b",
    ),
    (
        r"The user is (?:looking|searching|hunting) for (?:an?|the)(?: [\w-]+)* (?:flat|apartment|house|room)",
        rf"{_I} (?:got|have|picked up|collected) (?:the|our|my) keys (?:to|for|of)\b"
        rf"|{_I} signed (?:for )?(?:the|a|our|my) (?:lease|tenancy|rental contract|flat|house)\b"
        rf"|{_I} (?:finally|at last) found (?:an?|the|our|my)\b[^.!?]*\b(?:flat|apartment|house|room|place)\b",
    ),
    (
        r"The user lives (?:alone|by (?:him|her|them)sel\w+|on (?:his|her|their) own)",
        r"\b(?:moved|moving) in with (?:me|us)\b",
    ),
    (
        r"The user (?:has no|does not have (?:any|a)) pets?",
        rf"{_I} (?:got|have|adopted|bought)\b[^.!?]*\b(?:{_PET}|puppy|kitten)s?\b",
    ),
    (
        r"The user is in (?:the )?hospital",
        rf"{_I} (?:(?:been )?discharged|(?:came|come|back|got) home (?:from|now|today|yesterday|again|at last))\b",
    ),
    (
        r"The user works (?:nights|night shifts|the night shift)",
        rf"{_I} (?:(?:work|working|on) )?(?:days|day shifts?)\b|\bput me on days\b",
    ),
    (
        r"The user is (?:learning to drive|studying for (?:a|the|\w+) driving \w+|preparing for \w+ driving test)",
        rf"{_I} passed\b[^.!?]*\b(?:driv\w+|test|licen[cs]e)\b|\b(?-i:PASSED)\b",
    ),
    (
        r"The user smokes(?: \w+)*",
        rf"{_I} (?:quit|stopped|gave up|given up|off) (?:smoking|cigarettes|the cigarettes|the fags|fags)\b",
    ),
)
"""What memories of a state begin with, what says that it is over, and what then stands for the state's words.

Without the third, the memory is denied. The first is a pattern of Python and of PostgreSQL.
"""
_STATES = tuple((re.compile(rf"{row[0]}\b"), re.compile(row[1], re.IGNORECASE), "".join(row[2:])) for row in _ROWS)
_YEARS = rf"\d{{1,3}}|(?:{'|'.join(NUMERALS)})(?:-\w+)?"
_AGE = re.compile(rf"((?:The user's [a-z]+(?: [A-Z]\w+)?|The user|[A-Z]\w+) is )({_YEARS})(?=\.| years old)")
_NEW_AGE = re.compile(
    rf"\b(?P<who>I|[Mm]y [a-z]+|[A-Z]\w+)(?:['’]ve|['’]s| have| has| just)* turn(?:ed|s)?(?: just)? (?P<age>{_YEARS})\b"
    rf"|\b(?P<whose>I|[Mm]y [a-z]+|[A-Z]\w+)(?:['’]m|['’]s| am| is) (?P<years>{_YEARS}) (?:now|today)\b"
)
_LEFT_OPEN = re.compile(
    r"(?i)\?|\b(?:if|might|could|would|maybe|perhaps|hopes?|hoping|want|wish|wanted|almost|nearly|not|never|was|were"
    r"|used to|when I|before|(?:1[89]|20)\d\d)\b|n['’]t\b"
)
_HAPPENED = re.compile(r"\bwas (?:born|laid off|fired|sacked|made redundant|let go)\b")
_PRONOUNS = listed("He She It They We You")
_MOST_YEARS = 30
"""By how many years a new age may exceed the old one."""
_OWN = listed("baby son daughter twins boy girl boyfriend girlfriend partner child kid wife husband")
"""Kinship words that are part of what ends a state."""
_WORD = re.compile(r"\w+")
_FROM = re.compile(r"\bfrom ([A-Z]\w+)")
_PLACE = re.compile(r" (?:at|with) (?:(?:an?|the|my|our) )?(?!(?:end|last|once|moment|start)\b)([^\W\d]\w*)")
_NAME = re.compile(r"\b(?!The\b)[A-Z]\w+")


@dataclass(frozen=True, slots=True)
class StateOver:
    """A memory of a state that is over: its position, the sentence that says so, and the memory's new wording.

    ``content`` is None if no correct sentence can be made.
    """

    place: int
    sentence: Sentence
    content: str | None


def states_over(said: str, memories: Sequence[str]) -> Iterator[StateOver]:
    """Yield the memories, statements about the user in the third person, whose state a message says to be over."""
    for sentence, held, found, becomes in _ended_in(said):
        for place, memory in enumerate(memories):
            if (was := held.match(memory)) is None:
                continue
            if held is _AGE:
                who, new = found["who"] or found["whose"], found["age"] or found["years"]
                if _is_called(who, was[1]) and 0 < _in_years(new) - _in_years(was[2]) <= _MOST_YEARS:
                    yield StateOver(place, sentence, f"{was[1]}{new}{memory[was.end() :]}")
            elif not becomes:
                is_of_it = _may_be_there(sentence.text[found.end() :], memory)
                yield StateOver(place, sentence, ended(memory) if is_of_it else None)
            elif _may_be_of(sentence.text, memory):
                now = becomes.format(was=was[1], now=found.groupdict().get("now") or found.groupdict().get("turned"))
                if now != was[1]:
                    yield StateOver(place, sentence, f"{memory[: was.start(1)]}{now}{memory[was.end(1) :]}")


def states_named(said: str) -> list[str]:
    """Return what the memories begin with whose state a message may say to be over: regular expressions of PostgreSQL.

    Such a memory often is not among the nearest of a person's many.
    """
    return list({rf"^{held.pattern}".replace(r"\b", r"\y") for _sentence, held, _found, _becomes in _ended_in(said)})


def _ended_in(said: str) -> Iterator[tuple[Sentence, re.Pattern[str], re.Match[str], str]]:
    for sentence in split_sentences(said):
        age = None if _LEFT_OPEN.search(sentence.text) else _NEW_AGE.search(sentence.text)
        if age is not None and (age["who"] or age["whose"]) not in _PRONOUNS:
            yield sentence, _AGE, age, ""
        for held, over, becomes in _STATES:
            if (found := over.search(sentence.text)) and _is_own(sentence.text, found):
                yield sentence, held, found, becomes


def _in_years(age: str) -> int:
    return int("".join(filter(str.isdigit, normalise_figures(age))) or 0)


def _is_called(who: str, subject: str) -> bool:
    """Whether "I", "my daughter" or a name of a message is the subject of a memory: "The user's daughter Mia is "."""
    words = subject.split()
    if who == "I":
        return words[:2] == ["The", "user"]
    return who.rsplit(maxsplit=1)[-1] in words and (who[0].isupper() or "user's" in words)


def _may_be_of(text: str, memory: str) -> bool:
    """Whether a sentence names nobody but whom the memory names: "divorced from Petra"."""
    named = _FROM.search(text)
    return named is None or named[1] in memory or _NAME.search(memory) is None


def _may_be_there(rest: str, memory: str) -> bool:
    """Whether what follows names no place but one that the memory names: "I quit my job at the hospital"."""
    there = _PLACE.match(rest)
    return there is None or re.search(rf"\b{there[1]}\b", memory, re.IGNORECASE) is not None


def _is_own(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence is of the speaker alone, and leaves nothing open beside what ends the state."""
    beside = f"{text[: found.start()]} {text[found.end() :]}"
    others = {word.lower() for word in _WORD.findall(beside)} & KIN.keys() - _OWN
    return not others and _LEFT_OPEN.search(_HAPPENED.sub("", text)) is None

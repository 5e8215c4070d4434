"""States of a person's life, and what they say once these are over: "is single", and "I got engaged".

Such a message often shares no word with the memory that it ends, and sentence vectors see little in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .ending import ended
from .sentences import Sentence, split_sentences
from .words import KIN, PETS, listed

_I = r"\b(?:I|we)(?:['’](?:m|ve|re)| am| are| have)?\b(?: \w+){0,2}?"
"""The speaker as a subject, with up to two adverbs."""
_PET = "|".join(sorted(PETS))
_MEAT = "meat|fish|chicken|beef|pork|steak|bacon|ham|lamb|turkey|sausages?|burgers?|everything"
_CHILD = r"(?:our|my) (?:(?:first|second|third|fourth|fifth|new|little) )?(?:baby|son|daughter|twins|boy|girl)"
_ROWS = (
    (r"is (?:an? )?(?:vegetarian|vegan|pescatarian)", rf"{_I} (?:eat|eating|ate)(?: \w+){{0,3}}? (?:{_MEAT})\b"),
    (
        r"is single",
        rf"{_I} (?:got|met|found|a)\b[^.!?]*\b(?:boyfriend|girlfriend|partner)\b"
        rf"|{_I} (?:been )?(?:seeing|dating) some(?:one|body)\b"
        rf"|{_I} (?:got |get )?(?:engaged|married)\b",
    ),
    (
        r"is engaged",
        rf"{_I} (?:got |getting )?married\b(?! (?:next|in (?:the )?(?:spring|summer|autumn|winter)))"
        rf"|{_I} (?:broke|split|called it)\b",
    ),
    (
        r"is (?:\w+ (?:weeks|months) )?(?:pregnant|expecting)",
        rf"{_I} (?:gave birth|had (?:the|our|my) baby)\b"
        rf"|\b(?:the baby|{_CHILD}) (?:was born|arrived|came|is here|has arrived)\b",
    ),
    (
        r"is (?:unemployed|jobless|out of work|looking for (?:a |new )?(?:job|work))",
        rf"{_I} (?:got|found|start|started|starting|begin|landed)\b[^.!?]*\b(?:job|work|position)\b"
        rf"|{_I} (?:start|started|starting) (?:at|on \w+day|\w+day)\b",
    ),
    (r"lives? (?:alone|by (?:him|her|them)sel\w+|on (?:his|her|their) own)", r"\b(?:moved|moving) in with (?:me|us)\b"),
    (
        r"has no pets?|does not have (?:any|a) pets?",
        rf"{_I} (?:got|have|adopted|bought)\b[^.!?]*\b(?:{_PET}|puppy|kitten)s?\b",
    ),
    (
        r"is in (?:the )?hospital",
        rf"{_I} (?:(?:been )?discharged|(?:came|come|back|got) home (?:from|now|today|yesterday|again|at last))\b",
    ),
    (
        r"works (?:nights|night shifts|the night shift)",
        rf"{_I} (?:(?:work|working|on) )?(?:days|day shifts?)\b|\bput me on days\b",
    ),
    (
        r"is (?:learning to drive|studying for (?:a|the|\w+) driving \w+|preparing for \w+ driving test)",
        rf"{_I} passed\b[^.!?]*\b(?:driv\w+|test|licen[cs]e)\b|\b(?-i:PASSED)\b",
    ),
    (
        r"smokes(?: \w+)*",
        rf"{_I} (?:quit|stopped|gave up|given up|off) (?:smoking|cigarettes|the cigarettes|the fags|fags)\b",
    ),
)
_STATES = tuple((re.compile(rf"The user {held}\b"), re.compile(over, re.IGNORECASE)) for held, over in _ROWS)
_AGE = re.compile(r"(The user is )(\d{1,3})\b(?=\.| years old)")
_NEW_AGE = re.compile(
    r"(?i)\bI(?:['’]ve| have| just)* (?:turned|turn)(?: just)? (\d{1,3})\b|\bI(?:['’]m| am) (\d{1,3}) (?:now|today)\b"
)
_LEFT_OPEN = re.compile(
    r"(?i)\?|\b(?:if|might|could|would|maybe|perhaps|hopes?|hoping|want|wish|wanted|almost|nearly|not|never|was|were"
    r"|used to|when I|before|1[89]\d\d)\b|n['’]t\b"
)
_MOST_YEARS = 30
"""By how many years a new age may exceed the old one."""
_OWN = listed("baby son daughter twins boy girl boyfriend girlfriend partner child kid")
"""Kinship words that are part of what ends a state."""
_WORD = re.compile(r"\w+")


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
    for sentence in split_sentences(said):
        text = sentence.text
        age = _NEW_AGE.search(text)
        over = [held for held, pattern in _STATES if (found := pattern.search(text)) and _is_own(text, found)]
        for place, memory in enumerate(memories) if age or over else ():
            years = _AGE.match(memory)
            if age and years and 0 < int(age[1] or age[2]) - int(years[2]) <= _MOST_YEARS:
                yield StateOver(place, sentence, f"{years[1]}{age[1] or age[2]}{memory[years.end() :]}")
            elif any(held.match(memory) for held in over):
                yield StateOver(place, sentence, ended(memory, is_over=True))


def _is_own(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence is of the speaker alone, and leaves nothing open beside what ends the state."""
    beside = f"{text[: found.start()]} {text[found.end() :]}"
    others = {word.lower() for word in _WORD.findall(beside)} & KIN.keys() - _OWN
    return not others and _LEFT_OPEN.search(text.replace("was born", "")) is None

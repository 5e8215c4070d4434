"""Join what loose sentences say of somebody new: "a dog, his name is Bello" gives "a dog called Bello"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from language.reading.lexicon import is_word
from language.reading.words import FEMALE_NAMES, KIN, MALE_NAMES, NOT_NAMES, PETS

if TYPE_CHECKING:
    from language.reading.normalise import Normalised

_NEW = "|".join(sorted(map(re.escape, {*KIN, *PETS}), key=len, reverse=True))
_IS_CALLED = re.compile(
    r"(?i)\b(?P<what>an? (?:[\w-]+ ){0,2}[\w-]+)[,.;]? (?:(?:and )?(?:s?he|it)(?:'s| is) |and )(?P<verb>called|named) "
    r"(?=(?-i:[A-Z]))"
)
# Left dislocation: "My father, he was a musician".
_DISLOCATION = re.compile(
    r"(?i)(?:(?<=[.!?;] )|^|(?<=and ))((?:my|his|her|our) (?:\w+ )?\w+(?: (?-i:[A-Z])\w+)?)"
    r",? (?:he|she)(?='s |'d | (?!who\b)\w)"
)
# "a puppy, his name is biscuit": of a name in lower case nothing may follow.
_NAME_IS = re.compile(
    r"(?i)\b(?P<what>an? (?:[\w-]+ ){0,2}[\w-]+)[,.;:]? (?:and )?(?:his|her|its|their) name(?:'s| is| was) "
    r"(?P<name>(?-i:[A-Z])[\w'-]+|[a-z][\w'-]+(?=[.,;!?]|$| and\b))"
)
# "My sister's name is Ana and she …": the pronoun means her whose name it is, not somebody called Ana beside her.
_WHOSE_NAME_IS = re.compile(
    rf"(?i)\b(?P<who>(?:my|our|his|her|their) (?:\w+ )?(?:{_NEW}))['’]s name(?P<verb> is|['’]s| was) "
    r"(?=(?-i:[A-Z])[\w'-]+(?: (?-i:[A-Z])[\w'-]+)?[.,;]? (?:and |but )?(?:s?he|it)\b)"
)
# "a toddler. Aanya, she's two", "a brother. Tom. He's a baker"
_NAME_NEXT = re.compile(
    rf"(?i)\b(?P<what>(?:an?|one) (?:[\w-]+ ){{0,2}}(?:{_NEW}))[.:;] (?P<name>[a-z][\w-]+)[.,;]? "
    r"(?P<who>s?he(?='s | is | was | has )|(?=(?:turning |aged? )?\d{1,2}(?:[.,;!]|$| and\b| on\b)))"
)
# "It was leukaemia, the fast sort."
_ILLNESS = re.compile(
    r"(?i)(?:(?<=[.!?] )|^)it was (?:the )?(?=(?:an? )?(?:\w+ )?(?:cancer|leuka?emia|stroke|heart attack|dementia"
    r"|alzheimer's|parkinson's|pneumonia|covid|tuberculosis|tb|polio|diabetes|tumou?r|emphysema|copd|sepsis"
    r"|motor neurone disease)\b(?! (?:that|who|which)\b))"
)


def introduce(mended: Normalised, about: str) -> None:
    """Join the names of new people and pets to what they are, and leave out what repeats a subject.

    ``about`` is "He" or "She", where the message is about one.
    """
    if about:
        mended.replace(_ILLNESS, f"{about} had ")
    mended.replace(_IS_CALLED, lambda match: f"{match['what']} {match['verb']} ")
    mended.replace(_NAME_IS, lambda match: _called(match, ""))
    mended.replace(_WHOSE_NAME_IS, lambda match: f"{match['who']} {'was' if 'was' in match['verb'] else 'is'} called ")
    mended.replace(_NAME_NEXT, lambda match: _called(match, f". {match['who'].capitalize()}" if match["who"] else ", "))
    mended.replace(_DISLOCATION, lambda match: match[1])


def _called(match: re.Match[str], then: str) -> str:
    """The noun with its name; unchanged if what stands there is no name."""
    name, low = match["name"], match["name"].lower()
    # What a name is said to be, with a capital, is one even if it is a word: "his name is Biscuit".
    is_common = low in NOT_NAMES and (bool(then) or name.islower())
    is_common = is_common or (bool(then) and is_word(low) and low not in FEMALE_NAMES | MALE_NAMES)
    return match.group() if is_common else f"{match['what']} called {name[:1].upper()}{name[1:]}{then}"

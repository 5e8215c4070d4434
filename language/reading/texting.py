"""Spell what is written without capitals or apostrophes, as in chats, for the parser."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING

from language.reading.lexicon import is_adjective, is_place, is_word
from language.reading.parse import irregular
from language.reading.words import CASUAL_SPELLINGS, ENGLISH, KIN, PETS, PROPER, listed

if TYPE_CHECKING:
    from language.reading.normalise import Normalised

_WORD = re.compile(r"(?<![\w'@/.])[^\W_]+/?(?:'s)?(?![\w'@/])")
_POSSESSIVE_KIN = re.compile(
    r"(?i)(?<![\w'])(mum|mom|dad|gran|nan|grandma|grandpa|grandad|sister|brother|auntie|uncle|wife|"
    r"husband|nonna|nonno)s"
    r"(?= (?!and\b|are\b|were\b|have\b|or\b|who\b|on\b|in\b|from\b|used\b|always\b|all\b)[a-z]+)"
)
_SAID = re.compile(
    r"(?i)\blike (?=(?:\d\S*|one|two|three|four|five|ten|half"
    r"|a(?= (?:few|couple|dozen|hundred|thousand|million|minute|hour|day|week|month|year|decade)\b)) )(?=\S+ )"
)
_ITS = re.compile(
    r"(?<![\w'])its(?= (?:a|an|the|my|his|her|not|so|just|been|on|in|like|because|fine|ok|really|about)\b)", re.I
)
# Not the shed in the garden: "she'd", at the start of a clause and before no verb or noun of its own.
_SHED = re.compile(
    r"(?i)(?:^|(?<=[.,;!?] )|(?<=\band )|(?<=\bbut )|(?<=\bso )|(?<=\bif )|(?<=\bthat )|(?<=\bme ))shed "
    r"(?!(?:is|was|has|are|stays|needs|a|the|some|her|his|my|no|tears|light|skin|keys?|doors?|roof)\b)(?=\w)"
)
_STRETCHED = re.compile(r"([a-z])\1{2,}", re.I)
_NAMED_KIN = re.compile(
    r"\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Dd]ad's|[Mm]um's|[Mm]om's) (?:(?:little|big|older|younger|"
    r"oldest|youngest|best|late|dear|"
    r"baby|twin|half|step|great|best) )*"
    r"(?:sister|brother|husband|wife|son|daughter|girlfriend|boyfriend|partner|cousin|friend|uncle|aunt|auntie|niece|"
    r"nephew|fiance|fiancee|mate|grandma|grandpa|gran|nan|grandad|dog|cat)(?: (?:is|was) (?:called|"
    r"named))?,? ([a-z]{3,})\b(?!')"
)
# "filip has epilepsy": the subject of an illness is a person even if no list has the name.
_SUBJECT_OF_ILLNESS = re.compile(
    r"(?:^|[.!?,] |\band )(?!\w+(?:body|one|thing)\b|family\b|everyone\b|which\b|cat\b|dog\b)([a-z]{3,}) "
    r"(?=(?:has|had) (?:epilepsy|asthma|diabetes|autism|adhd|dyslexia|coeliac|celiac|cancer|arthritis|migraines?|eczema"
    r"|depression|dementia|crohn|parkinson|alzheimer|type|ms\b)|(?:is|was) (?:deaf|blind|autistic|diabetic|dyslexic"
    r"|epileptic|asthmatic|coeliac|celiac|vegan|vegetarian|pregnant|allergic|lactose)\b)"
)
_NO_NAMES = listed(
    """and but who that the was has had can will would could for with from says said used always never just about
    when then because lives life house side died group got met goes does like told thinks loves also were did
    went came made took gave left drove ran wrote read sang spoke knew thought brought bought built caught
    taught kept slept lost won paid sold sent found held grew drew flew threw woke wore ate drank began rode
    rose fell felt hid hit hurt put quit are not now too all any his her our their she they you him its is as at
    in on or so to up by if of back down out off over still only even once there here really actually both each
    very much more most works comes gets takes calls makes plays knows wants keeps looks moved lived worked
    passed turned named called got's having being"""
)
# "were saving for a house", at the start of a sentence.
_WE_ARE = re.compile(r"(?i)(?:(?<=[.!?] )|^)(?:so |and |but )?were (?=\w+ing\b|trying\b)")
_I_WOULD = re.compile(
    r"(?i)(?<![\w'])(?<!\bmy )(?<!\byour )(?<!\ban )(?<!\bhis )(?<!\bher )(?<!\bthe )(?<!\bno )id "
    r"(?=(?:love|like|hate|rather|never|be|have|been|say|buy|go|do|give|always|only|just|probably)\b)"
)
_FOR = re.compile(r"(?<= )4(?= (?:an?|the|my|me|him|her|us)\b)")
_COUSIN = re.compile(r"(?i)(?:(?<=\bmy )|(?<=\bour )|(?<=\bhis )|(?<=\bher ))(?:cuz|coz)\b")
_CALLED = re.compile(r"\b(?:called|named) ([a-z]{3,})\b")
_PLACE = re.compile(r"\b(?:in|from|near|to|outside) ([a-z]{4,})\b(?!')")


def normalise_words(mended: Normalised, names: Collection[str]) -> None:
    """Spell the words of somebody who writes without capitals or apostrophes. ``names``: known ones, in lower case."""
    known = set(names)
    ailing = {match[1] for match in _SUBJECT_OF_ILLNESS.finditer(mended.text)}
    known |= ailing - ENGLISH - _NO_NAMES - {*KIN, *PETS}
    mended.replace(_STRETCHED, lambda match: match[1])
    mended.replace(_ITS, "it's")
    mended.replace(_SHED, "she'd ")
    mended.replace(_COUSIN, "cousin")
    mended.replace(_WORD, lambda match: CASUAL_SPELLINGS.get(match.group().lower(), match.group()))
    mended.replace(_SAID, "")
    mended.replace(_FOR, "for")
    mended.replace(_WE_ARE, "we're ")
    mended.replace(_I_WOULD, "I'd ")
    mended.replace(_POSSESSIVE_KIN, lambda match: f"{match[1]}'s")
    mended.replace(re.compile(r"(?<![\w'])i(?=\b)"), "I")
    for match in _NAMED_KIN.finditer(mended.text):
        is_verb = is_word(match[1]) and re.match(r" (?:an?|the|my|our|his|her|it)\b", mended.text[match.end() :])
        if (
            match[1] not in _NO_NAMES
            and not match[1].endswith(("ed", "ing", "ly"))
            and not (is_verb or is_adjective(match[1]))
        ):
            known.add(match[1])
    known |= {match[1] for match in _CALLED.finditer(mended.text) if not is_word(match[1])} - ENGLISH - _NO_NAMES
    known |= {match[1] for match in _PLACE.finditer(mended.text) if _may_be_place(match[1])}
    mended.replace(
        re.compile(r"(?<![\w'])[a-zà-ÿ]+(?![\w])"),
        lambda match: (
            PROPER.get(match.group()) or (match.group().capitalize() if match.group() in known else match.group())
        ),
    )


def _may_be_place(word: str) -> bool:
    """Whether a word in lower case after "in" or "from" is the name of a place, and no other word."""
    is_known = word in ENGLISH or word in CASUAL_SPELLINGS or is_word(irregular(word))
    return not is_known and (is_place(word) or not word.endswith(("ing", "ed", "s", "ly")))

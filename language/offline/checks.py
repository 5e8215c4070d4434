"""Conditions that a rule can put on a clause beyond its verb and the words right after it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from language.offline.lexicon import verbs
from language.offline.lexicon.topics import (
    BUSINESSES,
    HOBBY_NOUNS,
    HOBBY_VERBS,
    IDENTITIES,
    INSTRUMENTS,
    OCCUPATIONS,
    PERSON_NOUNS,
    TRAITS,
)
from language.offline.lexicon.words import (
    ADVERBS,
    HABIT_ADVERBS,
    KIN,
    KIN_PLURALS,
    NATIONALITIES,
    PREPOSITIONS,
    REGIONS,
    STOPWORDS,
    listed,
)
from language.offline.reader import Clause
from language.offline.times import is_dated, one_off

HABIT_CUE = re.compile(
    r"\b(?:(?:every|each) (?:single |other )?(?:day|morning|afternoon|evening|night|week|weekend|month|year|"
    r"spring|summer|autumn|"
    r"fall|winter|christmas|easter|birthday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|time|hour|meal|january|"
    r"may|june|july|"
    r"august|december|lent)|daily$|weekly$|nightly$|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:mornings|afternoons|evenings|nights)|on weekends|"
    r"in the (?:mornings|evenings)|"
    r"all the time|(?:once|twice|three times|times) a (?:day|week|month|year)|at night|whenever|first thing|"
    r"before bed|after dinner|"
    r"at dawn|at sunrise|by heart|(?:all|throughout) (?:his|her|my) (?:whole |entire )?life)\b"
)
# What is liked in answer to what somebody has just shown or said, which tells nothing lasting.
REACTION = re.compile(
    r"(?:it|this|that|these|those|them|him|her|hers|you|your|how|what|when|where|who|the way|the idea|the look|"
    r"the sound|the vibe|"
    r"to (?:hear|see|know|be able|help|talk|chat|share|check|try|read more)|hearing|seeing you|talking to|"
    r"the fact|everything|all|"
    r"both|so|some|any|an? (?:few|bit|lot)|the (?:colors|colours|energy|pic|picture|photo|view|design|passion|"
    r"dedication))\b"
)
_GENERIC = re.compile(
    r"the (?:beach|sea|ocean|mountains|outdoors|rain|snow|winter|summer|autumn|fall|spring|cold|heat|"
    r"countryside|city|night|"
    r"morning|desert|forest|(?:smell|taste|sound|feeling) of)\b"
)
_DEGREES = ADVERBS | listed("a bit little rather such extremely incredibly deeply fiercely too most super truly")
_AFTER_TRAIT = listed("and , . ! but or ; by")
_TRAIT_OBJECTS = listed("of in with about at as to even when until all")
# Said of oneself these tell of a mood, and of somebody else some of them are only praise.
_MOODS = listed(
    """happy calm nervous anxious relaxed angry proud lonely restless serious sweet bitter critical special great good
    wonderful amazing brilliant lovely remarkable extraordinary skilled talented gifted homesick cold warm
    strong understanding particular curious determined optimistic careful cautious jealous supportive quiet
    silly funny fair direct protective emotional confident""",
)
_PRAISE = listed("special great good wonderful amazing brilliant lovely remarkable extraordinary")
_AFTER_JOB = listed("as called named now for in at of who and with on by based until all from before during to")
_NOT_JOBS_OF = listed("model judge guide student owner coach minister driver volunteer veteran worker agent")
_NOT_TELLING = listed(
    """say think know mean tell ask believe guess see hear feel understand realize realise wonder expect imagine thank
    notice forget remember seem look sound appear suppose happen let need wish agree bet hope doubt assume be
    have do get want come love like smile help""",
)
_NOT_OWN_HABITS = listed("miss find try make use take give keep accept enjoy appreciate cherish treasure")
_LIFE_GOALS = listed(
    "become learn move quit retire lose run buy start travel visit write study improve save open adopt publish marry "
    "own graduate"
)
_SKILLS = listed("speak play eat drink swim drive tolerate sing ride ski")


def _words(clause: Clause, limit: int = 9) -> list[str]:
    return [token.low for token in clause.predicate.rest[:limit]]


def is_trait(clause: Clause) -> bool:
    """Read "was (so) stubborn (and kind)"."""
    words = _words(clause)
    while words and words[0] in _DEGREES:
        words.pop(0)
    if not words or words[0] not in TRAITS:
        return False
    following = words[1] if len(words) > 1 else "."
    if clause.subject.person.role == "user":
        return words[0] not in _MOODS and following in _AFTER_TRAIT
    return words[0] not in _PRAISE and following in _AFTER_TRAIT | _TRAIT_OBJECTS


def is_kind_of_person(clause: Clause) -> bool:
    """Read "was a very private man"."""
    words = _words(clause)
    if not words or words[0] not in {"a", "an", "the", "such"}:
        return False
    for position, word in enumerate(words[1:], start=1):
        if word in PERSON_NOUNS:
            described = words[1:position]
            return any(
                one in TRAITS or one.endswith(("est", "ful", "less")) or one in {"few", "morning", "people"}
                for one in described
            )
        if word in PREPOSITIONS or word in {",", "who", "."}:
            return False
    return False


def is_job(clause: Clause) -> bool:
    """Read "was a (primary school) teacher (in Braga)"."""
    words = _words(clause)
    while words and words[0] in {"also", "both", "now", "currently"}:
        words.pop(0)
    if not words or words[0] not in {"a", "an", "the"}:
        return False
    for position, word in enumerate(words[1:], start=1):
        if word in OCCUPATIONS or (len(word) > 6 and word.endswith(("man", "woman")) and word not in PERSON_NOUNS):
            following = words[position + 1] if position + 1 < len(words) else "."
            if following in OCCUPATIONS or following == "/":
                continue
            if following in _AFTER_JOB:
                return not (word in _NOT_JOBS_OF and following == "of")
            return not following.isalpha() and not (words[0] == "the" and position == 1)
        if word in PREPOSITIONS or word in {"who", "that", ",", "."}:
            return False
    return False


def is_identity(clause: Clause) -> bool:
    """Read "was Portuguese", "am a vegetarian"."""
    words = _words(clause)
    if words and words[0] in NATIONALITIES:
        return len(words) < 2 or words[1] in _AFTER_TRAIT | {"-"}
    if not words or words[0] not in {"a", "an"}:
        return False
    for word in words[1:5]:
        if word in IDENTITIES or word in NATIONALITIES:
            return True
        if word in PREPOSITIONS or word == ",":
            return False
    return False


def is_kin_of(clause: Clause) -> bool:
    """Read "was my grandmother", "is Tom's daughter"."""
    rest = clause.predicate.rest[:6]
    if len(rest) < 2 or not (rest[0].low in {"my", "our", "his", "her"} or rest[0].owner):
        return False
    return any(token.low in KIN and not token.owner for token in rest[1:5])


def loves_kin(clause: Clause) -> bool:
    """Read "loved me", "adored her brothers"."""
    words = _words(clause, 5)
    if not words or clause.subject.person.role == "user":
        return False
    if words[0] in {"me", "us"}:
        return True
    return words[0] in {"his", "her", "my", "all"} and any(word in KIN or word in KIN_PLURALS for word in words[1:4])


def is_activity(clause: Clause) -> bool:
    """Whether what is liked is a pastime: "fishing", "to dance", "jazz"."""
    words = _words(clause)
    if not words:
        return False
    if verbs.is_gerund(words[0]):
        lemma = verbs.base_of(words[0])
        return words[0] in HOBBY_NOUNS or lemma in HOBBY_VERBS | {"go", "travel", "play", "listen", "watch", "explore"}
    if words[0] == "to" and len(words) > 1:
        return words[1] in HOBBY_VERBS | {"travel", "go"}
    return words[0] not in {"my", "his", "her", "our"} and any(word in HOBBY_NOUNS for word in words[:4])


def is_likable(clause: Clause) -> bool:  # noqa: PLR0911
    """Whether what is liked or hated is named and lasting, no reaction to what somebody has just shown or said."""
    predicate = clause.predicate
    if not predicate.rest or REACTION.match(predicate.after) or one_off(predicate.after):
        return False
    if {"can", "could"} & set(predicate.auxiliaries):
        return False
    if clause.subject.person.role != "user":
        return True
    if predicate.tense == "past" and not predicate.auxiliaries:
        return False
    first = predicate.rest[0].low
    if first == "the":
        return bool(_GENERIC.match(predicate.after))
    if first == "to":
        return len(predicate.rest) > 1 and verbs.is_base(predicate.rest[1].low)
    return first not in {"a", "an", "that", "if", "with", "and", ","}


def is_played(clause: Clause) -> bool:
    """Whether an instrument, a sport or a game is named."""
    return any(word in INSTRUMENTS | HOBBY_NOUNS for word in _words(clause))


def is_business(clause: Clause) -> bool:
    """Whether a shop, a farm or the like is named."""
    return any(word in BUSINESSES for word in _words(clause))


def is_timed(clause: Clause) -> bool:
    """Whether a clause says when something comes round: "every Sunday", "at night"."""
    return bool(HABIT_CUE.search(" ".join(token.low for token in (*clause.lead, *clause.predicate.rest))))


def is_habit(clause: Clause) -> bool:
    """Whether a clause says of somebody else what was done again and again, or never."""
    return _repeats(clause)


def is_own_habit(clause: Clause) -> bool:
    """Whether a clause says what the user does again and again, or never."""
    predicate = clause.predicate
    if predicate.lemma in _NOT_OWN_HABITS or {"can", "could"} & set(predicate.auxiliaries):
        return False
    return _repeats(clause) and any(token.is_word and token.low not in STOPWORDS for token in predicate.rest)


def _repeats(clause: Clause) -> bool:
    predicate = clause.predicate
    low = " ".join(token.low for token in (*clause.lead, *predicate.rest))
    if predicate.lemma in _NOT_TELLING or one_off(low):
        return False
    if "used to" in predicate.auxiliaries or predicate.adverbs & HABIT_ADVERBS:
        return bool(predicate.rest) or "never" in predicate.adverbs
    return is_timed(clause)


def is_plain_habit(clause: Clause) -> bool:
    """Read "smoked a pipe", "drank black coffee": what somebody was known to do."""
    words = _words(clause)
    return (
        bool(words)
        and words[0] not in {"the", "it", "that", "this", "to", "up", "him"}
        and not is_dated(clause.predicate.after)
    )


def is_plain_pastime(clause: Clause) -> bool:
    """Read "painted", "played the violin", "baked the best bread": what somebody was known to do with their time."""
    words = _words(clause)
    if is_dated(clause.predicate.after) or clause.predicate.tense not in {"past", "present"}:
        return False
    if words[:1] == ["the"]:
        return any(word in INSTRUMENTS | {"best", "most"} for word in words[1:4])
    return not words or words[0] not in {
        "it",
        "that",
        "this",
        "to",
        "up",
        "him",
        "a",
        "me",
        "them",
        "one",
        "at",
        "out",
        "away",
    }


def is_life_goal(clause: Clause) -> bool:
    """Read "want to become a nurse": something larger than the task at hand."""
    words = _words(clause)
    return len(words) > 2 and words[0] == "to" and words[1] in _LIFE_GOALS and not REACTION.match(" ".join(words[2:]))


def is_able(clause: Clause) -> bool:
    """Read "could fix anything", "can't swim"."""
    predicate = clause.predicate
    if not {"can", "could"} & set(predicate.auxiliaries) or REACTION.match(predicate.after):
        return False
    return clause.subject.person.role != "user" or predicate.lemma in _SKILLS


def cannot(clause: Clause) -> bool:
    """Read "couldn't stand"."""
    return clause.predicate.negated and bool({"can", "could"} & set(clause.predicate.auxiliaries))


def avoids_food(clause: Clause) -> bool:
    """Read "don't eat pork", "can't have dairy"."""
    predicate = clause.predicate
    if not predicate.negated or predicate.tense != "present" or one_off(predicate.after):
        return False
    return predicate.lemma in {"eat", "drink"} or (
        predicate.lemma in {"have", "tolerate"} and "can" in predicate.auxiliaries
    )


def uses_always(clause: Clause) -> bool:
    """Whether a tool is used as a rule and not just for the task at hand."""
    lasting = r"\b(?:at work|for work|every|daily|for (?:all )?my (?:projects?|notes|work)|pronouns)\b"
    return bool(re.search(lasting, clause.predicate.after)) or "always" in clause.predicate.adverbs


def names_town(words: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether "in …" names a town: a capitalised word that is no country or region."""
    if len(words) < 2 or words[0] != "in" or not texts[1][:1].isupper():
        return False
    region_follows = len(words) > 2 and texts[2][:1].isupper() and words[2] in REGIONS
    return words[1] not in REGIONS and not region_follows

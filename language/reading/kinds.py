"""Classify a statement: its category, the profile field it fills, its importance and its subject."""

from __future__ import annotations

import re
from collections.abc import Sequence

from language.reading.clauses import Clause
from language.reading.lexicon import is_kind_of
from language.reading.parse import Word
from language.reading.persons import Person
from language.reading.words import (
    FAMILY,
    HOBBY_NOUNS,
    HOBBY_VERBS,
    IDENTITIES,
    INSTRUMENTS,
    KIN,
    KIN_PLURALS,
    LANGUAGES,
    NATIONALITIES,
    OCCUPATIONS,
    PERSON_NOUNS,
    PETS,
    REGIONS,
    TRAITS,
    listed,
)

FACT_CATEGORIES = {
    "preference": "preference", "hobby": "hobby", "habit": "habit", "personality": "personality",
    "relationship": "relationship", "occupation": "occupation", "event": "milestone", "death": "milestone",
    "birth": "milestone",
}  # fmt: skip
# In order of preference; a deployment may know only some of them.
MEMORY_CATEGORIES: dict[str, tuple[str, ...]] = {
    "preference": ("preference", "interests", "profile"),
    "hobby": ("interests", "preference", "profile"),
    "habit": ("activity", "context", "profile"),
    "occupation": ("context", "profile"),
    "relationship": ("person", "relationships", "profile"),
    "goal": ("goals", "context", "profile"),
    "project": ("project", "context"),
    "event": ("event", "history", "context"),
    "death": ("event", "history", "context"),
    "tone": ("tone", "style", "preference"),
    "health": ("constraints", "profile", "context"),
    "asked": ("context", "profile"),
}
_PERSON = ("person", "relationships", "context")
_PROFILE = ("profile", "context")
IMPORTANCE = {"health": 4, "death": 4, "relationship": 3, "name": 3}
"""From 1 to 5: health and safety first, then close people."""
DEFAULT_IMPORTANCE = 2

_HEALTH = re.compile(
    r"(?i)\b(?:allerg\w+|asthma\w*|diabet\w+|insulin|pacemaker|blood (?:thinners?|pressure)|"
    r"vegetarian|vegan|pescatarian|"
    r"co?eliac|epilep\w+|surgery|operation|cancer|tumou?r|chemo\w*|parkinson\S*|alzheimer\S*|dementia|"
    r"stroke|heart (?:attack|"
    r"disease|condition)|deaf|blind|wheelchair|dyslexi\w+|autis\w+|adhd|intoleran\w+|lactose|gluten|depress(?:ed|ion)|"
    r"anxiety|migraines?|arthritis|eczema|pneumonia|bipolar|pregnant|miscarriage|sober|recovering|medication|"
    r"tablets|inhaler|hearing aids?|disab\w+|sclerosis|kidney|liver|thyroid|anemi\w+|anaemi\w+|hiv|hepatitis|epipen|"
    r"antibiotics?|penicillin|(?:does not|cannot|never|doesn't|can't) (?:eat|drink|have|tolerate)s?|"
    r"leuka?emia|tuberculosis|copd|emphysema|sepsis"
    r"|(?:broke|broken|sprained|tore|fractured|dislocated) (?:[\w ]+'s|his|her|an?) (?:arm|leg|wrist|ankle|hip|knee"
    r"|foot|toe|finger|ribs?|nose|collarbone|shoulder|elbow|hand|back|neck|thumb|jaw)|"
    r"never drinks|teetotal\w*|polio|ill)\b"
)
_CHOSEN = re.compile(r"(?i)\b(?:vegetarian|vegan|pescatarian|teetotal\w*|alcohol|meat)\b")
_HAS_NOT = re.compile(r"(?i)\b(?:does not|doesn't) have\b")
_DEATH = re.compile(r"(?i)\b(?:died|passed away|passed on|was killed|was buried|was born|death)\b")
_KIN_WORD = re.compile(
    r"(?i)\b(?:married|divorced|widow(?:ed|er)?|engaged|fianc\w+|partner|husband|wife|(?:step|grand|"
    r"god)?(?:son|daughter|child|children)s?|"
    r"kids?|twins|baby|siblings?|(?:brother|sister|cousin|niece|nephew|aunt|uncle)s?)\b"
)
_EVENTS = listed(
    """graduate retire move emigrate immigrate flee survive win join adopt leave fight serve enlist buy sell lose
    meet become quit start found open publish finish receive land escape migrate bear marry divorce die pass
    settle earn arrive return lay hire fire promote diagnose"""
)
_LIKES = listed("""love like hate adore dislike prefer enjoy loathe detest fear abide stand favour favor swear fancy""")
_WORK = listed("work drive teach run train repair manage supervise employ serve own nurse farm")
_ALWAYS = listed("""always never often usually rarely sometimes every used seldom whenever sundays mondays weekends""")
_TRAIT_END = re.compile(r"(?:est|ful|less|ous|ish|ive|some|y)$")
_JOB = re.compile(
    r"(?i)(?:\w{2,}(?:er|or|ist|ian|man|woman|smith|wright|maid|ess|nurse|cook|chef|medic|clerk|judge|"
    r"pilot|priest|vet|wife)|apprentice|student|trainee|intern|surgeon|director)$"
)
_WORKERS = ("worker", "professional", "creator", "entertainer", "merchant", "clergyman", "official")
_NO_JOB = listed(
    """man woman person human mother father sister brother daughter lover eater sleeper reader singer dancer
    drinker dreamer talker listener member neighbour neighbor owner winner loner believer survivor better other
    older younger number water summer winter corner monster fighter gentleman character killer runner keeper
    sufferer gambler smoker beginner supporter"""
)
_PROJECT = re.compile(
    r"(?i)\b(?:project|repo|codebase|startup|company|team uses|deadline|sprint|release|framework|"
    r"database|server|python|django|rust|typescript|javascript|postgresql)\b"
)
_GOALS = listed("want hope plan learn train save study aim dream")
_FIELDS = (
    ("preferred_name", re.compile(r"^The user(?:'s (?:first |preferred |full )?name is| goes by| asked to be called| "
        r"is called| "
r"prefers to be called) ")),
    ("pronouns", re.compile(r"^The user's pronouns are |^The user uses (?:she/her|he/him|they/them)")),
    ("language", re.compile(r"^The user's (?:preferred|native|first|mother) (?:language|tongue) is |^The user "
        r"(?:asked to|"
r"prefers to) (?:answer|reply|speak|write|be answered)\b.* in [A-Z]")),
    ("tone", re.compile(r"(?i)^The user asked.*\b(?:short|brief|concise|formal|informal|casual|direct|friendly|polite|"
r"blunt|simple|detailed|emojis?|answers|replies|tone)\b")),
    ("goal", re.compile(r"^The user's (?:main |biggest )?goal is ")),
)  # fmt: skip
_INTRODUCED = re.compile(r"^The user is ([A-Z]\w+)(?:,.*| and .*)?\.$")
_LIVES = re.compile(
    r"^The user (?:now )?(?:lives|is (?:now )?living|has (?:just )?moved|is based) (?:in|to) "
    r"(?P<place>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)(?P<rest>, [A-Z][\w ]+)?(?: now|,? (?:which|because|"
    r"with|since|for|and) .*|\.|$)"
)


FAMILY_WORDS = frozenset(word for word, group in KIN.items() if group in FAMILY)
_LIKING = re.compile(
    r"(?i)\b(?:favou?rites?|(?:scared|afraid|terrified|fond) of|fear of|passionate about|obsessed "
    r"with|is into|allerg)\b"
)
_OFTEN = re.compile(
    r"(?i)\bevery (?:single |other )?(?:day|morning|afternoon|evening|night|week|weekend|month|year|"
    r"time|(?:mon|tues|wednes|thurs|fri|satur|sun)day|summer|winter|spring|christmas)\b|\bused to\b|"
    r"\b(?:sun|mon|tues|wednes|thurs|fri|satur)days\b"
)
_FACULTY = re.compile(
    r"(?i)\b(?:sense of humou?r|temper|heart|patience|work ethic|imagination|stubbornness|of few words)\b"
)
_ORDER_OF_BIRTH = re.compile(
    r"\b(?:oldest|eldest|youngest|only child|third|second|first) (?:child )?of (?:\w+ )?(?:children|"
    r"siblings|brothers|sisters|kids)|the eldest$|the youngest$|only child"
    r"|\b(?:oldest|eldest|youngest|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth"
    r"|\d+(?:th|st|nd|rd)) of (?:two|three|four|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|\d+)\b"
)
_CALLED = re.compile(
    r"The user's (?:[\w-]+ )?(?:[\w-]+)(?:'s name)? is (?:called |named )?((?:(?:Dr|Mr|Mrs|Ms)\. "
    r")?[A-Z][\w'-]+)\b[^,]*\.$|"
    r"((?:(?:Dr|Mr|Mrs|Ms)\. )?[A-Z][\w'-]+) is the user's [a-z]|The user has an? (?:[\w-]+ "
    r")*(?:named|called) ([A-Z][\w'-]+)"
)


def kind_of(clause: Clause, text: str, person: Person) -> str:  # noqa: PLR0911, PLR0912
    """The kind of a statement, or empty if none applies."""
    head, lemma, user = clause.head, clause.head.lemma.lower(), person.role == "user"
    complements, objects = clause.children("attr", "acomp", "oprd"), clause.children("dobj")
    lows = clause.lower_words()
    if _HEALTH.search(text):
        return "health"
    if (lemma == "bear" and head.tag == "VBN") or "birthday" in lows:
        return "birth"
    if lemma in {"die", "bury"} or (lemma == "pass" and lows & {"away", "on"}):
        return "death"
    if lemma in {"be", "become"} and any(_is_job(clause, each) for each in complements):
        return "occupation"
    if _of_kin(clause, complements, objects):
        return "relationship"
    if _LIKING.search(text):
        return "preference"
    if lemma in _LIKES or head.low == "hated":
        if user and lows & {"would", "'d"}:
            return "goal"
        liked = {word.lemma for each in clause.children("dobj", "xcomp") for word in clause.parsed.subtree(each)}
        pastime = liked & (HOBBY_VERBS | HOBBY_NOUNS | INSTRUMENTS)
        return "hobby" if pastime and not clause.children("neg") else "preference"
    if user and ((lemma in _GOALS and (clause.children("xcomp") or head.tag == "VBG")) or lows & {"goal", "dream"}):
        return "goal"
    if _PROJECT.search(text) and person.role != "legacy":
        return "project"
    if lemma in {"teach", "call"} and any(
        each.pos in {"PROPN", "PRON"} or each.low in KIN for each in clause.children("dobj", "dative")
    ):
        return "relationship"
    if lemma in {"work", "teach", "nurse"} or (lemma in _WORK and objects):
        return "occupation"
    if _is_trait(clause, text, complements):
        return "personality"
    if lemma in _EVENTS and head.tag in {"VBD", "VBN"}:
        return "event"
    if lows & (HOBBY_NOUNS | INSTRUMENTS) or lemma in HOBBY_VERBS - {"read", "write", "cook", "run", "draw", "swim"}:
        return "hobby"
    if _ALWAYS & lows or _OFTEN.search(text):
        return "habit"
    return "hobby" if lemma in HOBBY_VERBS - {"run", "draw"} else ""


def _is_trait(clause: Clause, text: str, complements: Sequence[Word]) -> bool:
    if _FACULTY.search(text) or (clause.head.lemma == "believe" and clause.children("prep")):
        return True
    if clause.head.lemma != "be":
        return False
    described = {
        one.low
        for each in complements
        if each.low in PERSON_NOUNS
        for one in clause.parsed.children(each)
        if one.dep == "amod"
    }
    traits = {each.low for each in complements if each.pos == "ADJ"}
    return bool(described) or any(low in TRAITS or _TRAIT_END.search(low) for low in traits)


def _of_kin(clause: Clause, complements: Sequence[Word], objects: Sequence[Word]) -> bool:
    lemma, subject = clause.head.lemma, clause.subject
    if lemma in {"marry", "divorce", "engage"} or _ORDER_OF_BIRTH.search(" ".join(each.low for each in clause.words())):
        return True
    if any(each.low in {"married", "engaged", "divorced", "widowed", "single"} for each in complements):
        return True
    owned = [*complements, *(objects if lemma in {"have", "get", "marry", "adopt", "raise", "lose"} else ())]
    if subject is not None and (
        subject.lemma.lower() in PETS or any(each.lemma.lower() in PETS for each in clause.parsed.children(subject))
    ):
        return True
    return any(
        each.low in FAMILY_WORDS
        or each.low in KIN_PLURALS
        or each.lemma.lower() in PETS
        or (each.low in KIN and clause.parsed.child(each, "poss") is not None)
        for each in owned
    )


def _is_job(clause: Clause, word: Word) -> bool:
    low = word.low
    if word.pos not in {"NOUN", "PROPN"} or low in FAMILY_WORDS or low in _NO_JOB or clause.parsed.child(word, "poss"):
        return False
    if any(each.dep == "amod" and each.low.endswith("est") for each in clause.parsed.children(word)):
        return False
    is_work = _JOB.search(low) is not None or any(is_kind_of(low, kind) for kind in _WORKERS)
    return low in OCCUPATIONS or (is_work and low not in IDENTITIES | NATIONALITIES)


def fact_category(kind: str, known: Sequence[str]) -> str | None:
    """The category of a fact if known, else "other" if known, else None."""
    category = FACT_CATEGORIES.get(kind, "other")
    return category if category in known else "other" if "other" in known else None


def memory_category(kind: str, *, about_user: bool, known: Sequence[str]) -> str | None:
    """The first category for the kind that is known; None if none is."""
    for category in MEMORY_CATEGORIES.get(kind, _PROFILE) if about_user else _PERSON:
        for spelling in (category, category.removesuffix("s"), category + "s"):
            if spelling in known:
                return spelling
    return None


def field_of(content: str) -> str:
    """The single-valued profile field that a statement fills, or empty."""
    for name, pattern in _FIELDS:
        if pattern.search(content):
            return name
    introduced = _INTRODUCED.match(content)
    if introduced and introduced[1].lower() not in NATIONALITIES and introduced[1].lower() not in LANGUAGES:
        return "preferred_name"
    lives = _LIVES.match(content)
    return "city" if lives and lives["place"].split()[0].lower() not in REGIONS | LANGUAGES else ""


_LONGEST_NAME = 4
"""The most words of a name that a subject takes over."""


def subject_of(content: str, person: Person) -> str:
    """The subject of a memory if it is not the user: a name or a kinship term; else empty."""
    if person.role == "other":
        return person.name or person.kin
    named = _CALLED.match(content)
    return next(filter(None, named.groups())) if named else ""


def subject_after(subject: str, old: str, new: str) -> str:
    """The subject of a statement in new words: where they have another name in the place of its name, that name."""
    was, now = old.split(), new.split()
    start = next((at for at, pair in enumerate(zip(was, now, strict=False)) if pair[0] != pair[1]), 0)
    while was[start:] and now[start:] and was[-1].rstrip(".") == now[-1].rstrip("."):
        was, now = was[:-1], now[:-1]
    gone, come = (" ".join(words[start:]).strip(".,;:!?") for words in (was, now))
    if not subject or not _has_words(old, subject) or _has_words(new, subject) or not gone or not come:
        return subject
    if _has_words(subject, gone) and len(come.split()) <= _LONGEST_NAME:
        return re.sub(rf"(?<!\w){re.escape(gone)}(?!\w)", lambda _: come, subject)
    named = _CALLED.match(new)
    return next(filter(None, named.groups())) if named is not None else subject


def _has_words(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", text) is not None


def is_health(content: str) -> bool:
    """Whether a statement is about somebody's health, or what they may not eat or take."""
    return _HEALTH.search(content) is not None


def is_health_to_guard(content: str) -> bool:
    """Whether a statement is about health, and could harm somebody if it was wrongly taken for over.

    What one chooses to eat or drink changes like any habit, and who does not have a licence or a car may get one.
    """
    return is_health(_HAS_NOT.sub("", content)) and _CHOSEN.search(content) is None


def importance_of(kind: str, content: str) -> int:
    """The importance of a statement, from 1 to 5."""
    if is_health(content):
        return IMPORTANCE["health"]
    if _DEATH.search(content) or _KIN_WORD.search(content):
        return IMPORTANCE["relationship"]
    return IMPORTANCE.get(kind, DEFAULT_IMPORTANCE)

"""Which statements about a person are worth keeping, and what kind each one is.

A rule names verbs by their base form and says what must follow them. Rules are tried in order; the first that fits
decides. Anything no rule fits is not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from language.offline.clauses import Clause, Predicate
from language.offline.lexicon import verbs
from language.offline.lexicon.topics import (
    BUSINESSES,
    CONDITIONS,
    FACULTIES,
    HEALTH_STATES,
    HOBBY_NOUNS,
    HOBBY_VERBS,
    IDENTITIES,
    INSTRUMENTS,
    LOOKS,
    OCCUPATIONS,
    PERSON_NOUNS,
    SCHOOLS,
    TRAITS,
)
from language.offline.lexicon.words import (
    ADVERBS,
    HABIT_ADVERBS,
    KIN,
    KIN_PLURALS,
    LANGUAGES,
    NATIONALITIES,
    NUMBERS,
    PETS,
    REGIONS,
    listed,
)
from language.offline.times import is_dated, one_off

_HABIT_CUE = re.compile(
    r"\b(?:every|each|daily|weekly|nightly|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|(?:mon|tues|wednes|thurs|fri|"
    r"satur|sun)day (?:mornings|afternoons|evenings|nights)|(?:mornings|evenings|weekends|nights)|all the time|twice a|"
    r"once a|at night|whenever|first thing|before bed|after dinner|at dawn|at sunrise|by heart|(?:all|throughout) (?:his|"
    r"her|my) (?:whole |entire )?life)\b"
)
_REACTION = re.compile(
    r"^(?:it|this|that|these|those|them|him|her|hers|you|your|how|what|when|where|who|the way|the idea|the look|the sound|"
    r"the vibe|to (?:hear|see|know|be able|help|talk|chat|share|check|try|learn|read more)|hearing|seeing you|talking to|"
    r"the fact|everything|all|both|so|the (?:colors|colours|energy|pic|picture|photo|view|design|passion|dedication))\b"
)
_NOT_TELLING = listed(
    "say think know mean tell ask believe guess see hear feel understand realize realise wonder expect imagine thank notice "
    "forget remember seem look sound appear suppose happen let need wish agree bet hope doubt assume"
)

Check = Callable[[Clause], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """``kind`` of statement for the verbs in ``lemmas`` when what follows them fits ``after``.

    ``who`` is "user", "third" or "any"; ``tense`` and ``negated`` restrict when not None. ``lasting`` rules hold for how
    someone is or was, so they don't fit a clause that tells of a single occasion.
    """

    kind: str
    lemmas: frozenset[str]
    after: re.Pattern[str]
    who: str = "any"
    tense: str | None = None
    negated: bool | None = None
    lasting: bool = False
    check: Check | None = None

    def fits(self, clause: Clause) -> bool:
        """Whether the rule fits a clause."""
        predicate = clause.predicate
        if predicate.lemma not in self.lemmas:
            return False
        if self.who != "any" and (clause.subject.person.role == "user") != (self.who == "user"):
            return False
        if self.tense is not None and predicate.tense not in self.tense:
            return False
        if self.negated is not None and predicate.negated != self.negated:
            return False
        after = predicate.after
        if not self.after.match(after):
            return False
        if self.lasting and one_off(after):
            return False
        return self.check is None or self.check(clause)


def _any_of(words: frozenset[str]) -> str:
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) + ")"


_SKIP = r"(?:(?:very|really|so|quite|pretty|such|always|extremely|incredibly|deeply|fiercely|a little|a bit|rather|too|most|super|truly) ){0,2}"
_WORD = r"[\w'’-]+"
_SOME = rf"(?:{_WORD} ){{0,3}}"
_ART = r"(?:an?|the|one of the|both an?) "
_COUNT = rf"(?:an?|no|{_any_of(NUMBERS)}|\d{{1,2}}|several|many|some|a few|a couple of|lots of|(?:his|her|my) own|my|his|her)"
_PLACE = r"(?:in|at|on|near|with|by|next to|outside|alone|abroad|just outside|across|around|between|off|not far|close to|together|a few|an hour|up|down|above|over)\b"


def _trait(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:8]]
    while words and (words[0] in ADVERBS or words[0] in {"a", "bit", "little", "rather", "such", "extremely", "incredibly", "deeply", "fiercely"}):  # fmt: skip
        words.pop(0)
    if not words or words[0] not in TRAITS - _OPINION_ONLY_NOUN:
        return False
    following = words[1] if len(words) > 1 else ""
    if clause.subject.person.role == "user":
        return words[0] not in _MOODS and following in _AFTER_TRAIT
    return words[0] not in _MOODS | _OPINIONS and (
        following in _AFTER_TRAIT
        or following in {"in", "with", "about", "at", "as", "to", "even", "when", "until", "all"}
    )


_AFTER_TRAIT = listed("and , . ! but or ; by") | {""}
_MOODS = listed(
    """happy calm nervous anxious relaxed angry proud lonely restless serious sweet bitter critical special great good
    wonderful amazing brilliant lovely remarkable extraordinary skilled talented gifted homesick cold warm strong
    relaxed understanding particular""",
)
_OPINIONS = listed("special great good wonderful amazing brilliant lovely remarkable extraordinary")
_OPINION_ONLY_NOUN: frozenset[str] = frozenset()


def _person_noun(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:9]]
    if not words or words[0] not in {"a", "an", "the", "such"}:
        return False
    for position, word in enumerate(words[1:], start=1):
        if word in PERSON_NOUNS:
            return position >= 2 and any(
                inner in TRAITS
                or inner.endswith(("est", "ful", "less"))
                or inner in {"private", "few", "morning", "people"}
                for inner in words[1:position]
            )
        if word in {"of", "in", ",", "who", "for", "."}:
            return False
    return False


def _occupation(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:9]]
    if not words or words[0] not in {"a", "an", "the", "also", "both", "now", "currently"}:
        return False
    for position, word in enumerate(words[1:], start=1):
        singular = word[:-1] if word.endswith("s") and word not in OCCUPATIONS else word
        if singular in OCCUPATIONS:
            following = words[position + 1] if position + 1 < len(words) else ""
            if following in OCCUPATIONS or following.isalpha() and following in {"for", "in", "at", "of", "who", "and", "with", "on", "by", "based", "until", "all", "from", "before", "during", "to"}:  # fmt: skip
                return not (word in _NOT_JOBS and following == "of")
            return following in {"", ".", ",", "!", "/", ";"} and not (words[0] == "the" and position == 1)
        if word in {"of", "for", "in", "with", "to", "who", "that", ",", ".", "as"}:
            return False
    return False


_NOT_JOBS = listed("model judge guide student owner coach minister driver volunteer veteran worker agent")


def _identity(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:8]]
    if not words:
        return False
    if words[0] in NATIONALITIES:
        return len(words) < 2 or words[1] in _AFTER_TRAIT | {"and", "-", "by"}
    if words[0] not in {"a", "an"}:
        return False
    for word in words[1:5]:
        if word in IDENTITIES or word in NATIONALITIES:
            return True
        if word in {"of", "for", "in", "with", "to", ","}:
            return False
    return False


def _kin_of(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:8]]
    if words and (words[0] in {"my", "our", "his", "her"} or (clause.predicate.rest[0].owner and len(words) > 1)):
        return any(word in KIN for word in words[1:5])
    return False


def _loved_activity(clause: Clause) -> bool:
    rest = clause.predicate.rest
    if not rest:
        return False
    words = [token.low for token in rest]
    if verbs.is_gerund(words[0]):
        return (
            verbs.base_of(words[0]) in HOBBY_VERBS | listed("go travel play listen watch explore")
            or words[0] in HOBBY_NOUNS
        )
    if words[0] == "to" and len(words) > 1:
        return words[1] in HOBBY_VERBS | {"travel", "go"}
    window = words[:4]
    return any(word in HOBBY_NOUNS for word in window) and not one_off(" ".join(words))


def _likable(clause: Clause) -> bool:
    """Whether what is liked or hated is named, and is not a reaction to what somebody has just shown or said."""
    after = clause.predicate.after
    if not clause.predicate.rest or _REACTION.match(after):
        return False
    if clause.subject.person.role != "user":
        return True
    if clause.predicate.tense == "past" and not clause.predicate.auxiliaries:
        return False
    first = clause.predicate.rest[0].low
    if first == "the":
        return bool(re.match(r"the (?:beach|sea|ocean|mountains|outdoors|rain|snow|winter|summer|autumn|fall|spring|cold|heat|"
                             r"countryside|city|night|morning|desert|forest|smell of|taste of|sound of|feeling of)\b", after))  # fmt: skip
    if first == "to":
        return len(clause.predicate.rest) > 1 and verbs.is_base(clause.predicate.rest[1].low)
    return first not in {"a", "an", "being", "that", "when", "if", "with", "and", ",", "what"} or first == "being"


def _loved_person(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:5]]
    if not words or clause.subject.person.role == "user":
        return False
    if words[0] in {"me", "us"}:
        return True
    return words[0] in {"his", "her", "my", "all"} and any(word in KIN or word in KIN_PLURALS for word in words[1:4])


def _instrument(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:8]]
    return any(word in INSTRUMENTS | HOBBY_NOUNS for word in words)


def _business(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:8]]
    return any(word in BUSINESSES for word in words)


def _habitual(clause: Clause) -> bool:
    """Whether a clause says that something was done again and again, or never."""
    predicate = clause.predicate
    if predicate.lemma in _NOT_TELLING | {"be", "have", "do", "get", "miss", "want", "come", "love", "like"}:
        return False
    low = " ".join(token.low for token in (*clause.lead, *predicate.rest))
    if one_off(low):
        return False
    if "used to" in predicate.auxiliaries or predicate.adverbs & HABIT_ADVERBS:
        return bool(predicate.rest) or "never" in predicate.adverbs
    return bool(_HABIT_CUE.search(low))


def _own_habit(clause: Clause) -> bool:
    predicate = clause.predicate
    if predicate.tense == "would" or predicate.lemma in {"find", "try", "make", "use", "get", "take", "give", "keep"}:
        return False
    return _habitual(clause) and bool(predicate.rest)


def _plain_past_habit(clause: Clause) -> bool:
    rest = clause.predicate.rest
    low = clause.predicate.after
    return bool(rest) and rest[0].low not in {"the", "it", "that", "this", "to", "up", "him"} and not is_dated(low)


def _plain_hobby(clause: Clause) -> bool:
    rest = clause.predicate.rest
    first = rest[0].low if rest else ""
    if first == "the":
        return any(token.low in INSTRUMENTS for token in rest[1:4]) or rest[1:2] and rest[1].low in {"best", "most"}  # type: ignore[return-value]
    return first not in {"it", "that", "this", "to", "up", "him", "a", "me", "them", "one", "at", "out", "away"}


def _user_goal(clause: Clause) -> bool:
    words = [token.low for token in clause.predicate.rest[:4]]
    return len(words) > 1 and words[0] == "to" and words[1] in _LIFE_GOALS and clause.predicate.after not in _LIFE_GOALS


_LIFE_GOALS = listed(
    "become learn move quit retire lose run buy start travel visit write study improve save open adopt publish marry own graduate"
)


def _city_like(clause: Clause) -> bool:
    return bool(clause.predicate.rest)


def rx(pattern: str) -> re.Pattern[str]:
    """Compile what must follow a verb."""
    return re.compile(pattern)


_ANYTHING = rx("")
_SOMETHING = rx(r"\S")
_LIKING = listed("love like enjoy adore hate dislike prefer despise loathe detest favour favor cherish")

RULES: tuple[Rule, ...] = (
    # -- beginnings and ends
    Rule("birth", listed("be"), rx(r"born (?:in|on|at|into|to|during|the|near|just|and|under|with)\b")),
    Rule("death", listed("die"), rx(r"(?:in|on|at|of|from|when|aged|before|after|during|two|three|suddenly|peacefully|\(date\)|last)\b|\w+ (?:days|weeks|months|years) (?:before|after)\b"), who="third"),
    Rule("death", listed("pass"), rx(r"(?:away|on)\b(?! (?:the|that|his|her|it))"), who="third"),
    Rule("name", listed("be"), rx(r"(?:called|named|nicknamed|known as|christened)\b(?! (?:in|back|for|to|up|a|an|out|off))")),
    # -- who somebody is to others
    Rule("relationship", listed("be"), _ANYTHING, who="third", check=_kin_of),
    Rule("relationship", listed("be"), rx(rf"(?:the |an? )?(?:only|oldest|youngest|eldest|middle|second|third|fourth|fifth|first)(?: (?:child|son|daughter|girl|boy|sister|brother))? ?(?:of\b|in (?:the|a|his|her|my) family|child\b)")),
    Rule("relationship", listed("be"), rx(rf"one of {_COUNT} (?:{_WORD} )?{_any_of(KIN_PLURALS)}\b")),
    Rule("relationship", listed("be"), rx(r"(?:married|engaged|divorced|widowed|separated)\b(?! with the)")),
    Rule("relationship", listed("be"), rx(rf"an? {_SOME}(?:mother|father|mom|mum|dad|grandmother|grandfather|parent) (?:of|to)\b")),
    Rule("relationship", listed("be"), rx(r"(?:very |really |so |extremely )?close (?:to|with)\b"), lasting=True),
    Rule("relationship", listed("have"), rx(rf"{_COUNT} (?:{_WORD} ){{0,2}}(?:{_any_of(KIN_PLURALS)}|{_any_of(frozenset(KIN) - {'lead', 'baby', 'doctor', 'dentist', 'vet', 'client', 'chef', 'ma', 'pa', 'mate', 'friend'})})\b")),
    Rule("relationship", listed("marry wed remarry divorce adopt raise outlive"), _SOMETHING, check=lambda clause: not _REACTION.match(clause.predicate.after) or clause.predicate.after.startswith("her ")),
    Rule("relationship", listed("get"), rx(r"(?:married|engaged|divorced|remarried)\b")),
    Rule("relationship", listed("call nickname name"), rx(r"me [A-Za-z]"), who="third", lasting=True),
    Rule("relationship", listed("teach"), rx(r"(?:me|us|my \w+|all) "), who="third"),
    Rule("relationship", _LIKING, _SOMETHING, who="third", check=_loved_person),
    Rule("relationship", listed("meet"), rx(r"(?:my|his|her) (?:\w+ ){0,2}(?:wife|husband|partner|girlfriend|boyfriend|best friend|grandmother|grandfather|mother|father|mom|dad|grandma|grandpa)\b"), tense="past"),
    Rule("relationship", listed("be"), rx(r"named after\b")),
    # -- where and what they come from
    Rule("origin", listed("be come"), rx(r"(?:originally |actually )?from (?!the (?:start|beginning|moment|day|heart)|day\b|now\b|here\b|work\b|what\b|my\b|all\b|scratch\b)")),
    Rule("origin", listed("be"), rx(r"(?:raised|brought up) (?:in|by|on|as|near)\b")),
    Rule("origin", listed("grow"), rx(r"up (?:in|on|near|with|at|as|poor|speaking|without|during|outside|just|by)\b")),
    Rule("residence", listed("live reside"), rx(_PLACE + r"(?! (?:the moment|my head|fear|the past|peace))"), check=_city_like),
    Rule("residence", listed("be"), rx(r"(?:based|living) (?:in|at|near|with|out of)\b"), tense="present"),
    Rule("milestone", listed("move relocate emigrate immigrate migrate"), rx(r"(?:to|from|back to|here from|in with|out of|into|away from|abroad|with)\b(?! (?:the next|it|that|this|on|tears|action|another (?:topic|question)))")),
    Rule("identity", listed("be"), rx(r"an? (?:native|citizen|resident) of\b")),
    # -- work
    Rule("occupation", listed("be become remain"), _ANYTHING, check=_occupation),
    Rule("occupation", listed("work train"), rx(r"(?:\w+ )?(?:as|at|for|in|on|with|from|part|full|nights|days|shifts|two|three|remotely|night|underground|freelance|there|down|hard|long|until|\d+)\b(?! (?:it|that|this|me|you|getting|my (?:\w+ )?(?:skills|english)))"), lasting=True),
    Rule("occupation", listed("be"), rx(r"(?:employed|apprenticed|self-employed|working (?:as|at|for|in|full|part))\b")),
    Rule("occupation", listed("run own manage open found start"), _SOMETHING, check=_business),
    Rule("occupation", listed("teach"), rx(r"(?!me\b|us\b|you\b|him\b|her\b|my\b|them\b|people\b|that\b)\w+"), lasting=True),
    Rule("occupation", listed("drive"), rx(r"(?:an? |the )?(?:\w+ )?(?:truck|trucks|bus|buses|taxi|taxis|cab|train|trains|tram|trams|lorry|lorries|ambulance|tractor)\b"), lasting=True),
    Rule("occupation", listed("make earn"), rx(r".{1,60}\bfor a living\b")),
    Rule("occupation", listed("have"), rx(rf"an? (?:{_WORD} ){{0,2}}(?:job|career|{_any_of(BUSINESSES - listed('team department plant market library theatre'))})\b")),
    Rule("occupation", listed("be"), rx(rf"(?:in charge of|the (?:{_WORD} ){{0,2}}(?:head|owner|founder|director|manager|captain|principal|lead|leader) (?:of|at)|a member of|on the \w+ team)\b")),
    # -- milestones
    Rule("milestone", listed("graduate"), rx(r"(?:from|with|in|at|as|top|last|high|college|\(date\))\b|$")),
    Rule("milestone", listed("retire"), rx(r"(?:in|at|from|as|after|when|early|last|to|\(date\))\b|$")),
    Rule("milestone", listed("be"), rx(r"(?:awarded|promoted|elected|drafted|wounded|baptized|baptised|hired|ordained|knighted|decorated|evacuated|deported|conscripted|widowed|laid off|fired|accepted (?:to|into|by|at))\b")),
    Rule("milestone", listed("get"), rx(rf"(?:promoted|laid off|fired|hired|accepted (?:to|into|by|at)|an? (?:{_WORD} ){{0,3}}(?:degree|diploma|promotion|scholarship|licen[cs]e|job|internship|phd)|(?:his|her|my) (?:{_WORD} ){{0,3}}(?:degree|diploma|citizenship|licen[cs]e|phd|first \w+))\b")),
    Rule("milestone", listed("enlist serve fight"), rx(r"(?:in|as|on|with|during|for|under|against|at)\b")),
    Rule("milestone", listed("join"), rx(r"(?:the|a|an) (?:\w+ ){0,2}(?:army|navy|air|police|resistance|union|party|church|choir|club|company|firm|team|band|group|circus|marines|merchant|fire|gym|community|support|lgbtq|class|program|programme)\b")),
    Rule("milestone", listed("win receive earn"), rx(r"(?:an?|the|first|second|his|her|my|two|three|several|many|gold|silver|bronze)\b.{0,40}\b(?:prize|award|medal|competition|tournament|scholarship|championship|lottery|contest|race|cup|trophy|election|degree|title|grant|certificate|place|game|match|letter)\b")),
    Rule("milestone", listed("buy build sell"), rx(r"(?:an?|the|his|her|my|their|our)\b.{0,30}\b(?:house|home|flat|apartment|farm|boat|car|cottage|cabin|land|shop|piano|bakery|truck|condo|barn|church|chapel|school|bike|motorbike|motorcycle)\b")),
    Rule("milestone", listed("survive escape flee"), _SOMETHING),
    Rule("milestone", listed("turn"), rx(r"\d{1,3}\b|(?:eighteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b")),
    Rule("milestone", listed("give"), rx(r"birth\b")),
    Rule("milestone", listed("lose"), rx(rf"(?:his|her|my) (?:{_WORD} ){{0,2}}(?:{_any_of(frozenset(KIN))}|job|sight|hearing|leg|arm|home|house|eyesight|parents)\b")),
    Rule("milestone", listed("leave quit"), rx(r"(?:school|college|university|home|portugal|the (?:army|navy|farm|village|country|church|company|island)|(?:his|her|my) (?:\w+ )?(?:job|village|country|home|husband|wife|hometown))\b")),
    Rule("milestone", listed("publish write"), rx(r"(?:an?|two|three|several|his|her|my|\d+)\b.{0,30}\b(?:books?|novels?|poems?|memoirs?|articles?|screenplays?|scripts?|plays?)\b"), tense="past"),
    Rule("milestone", listed("finish complete"), rx(r"(?:(?:his|her|my|high|secondary|primary|medical|law|the|a)\b.{0,30}\b)?(?:school|college|degree|thesis|training|apprenticeship|phd|studies|book|novel|marathon|masters|master's|screenplay|script|education|course|internship)\b"), tense="past"),
    Rule("milestone", listed("become"), rx(r"(?:an?|the|a us|a british) ")),
    Rule("milestone", listed("run"), rx(r"(?:an?|the|his|her|my|two|three|several|\d+|in the|in a)\b.{0,30}\b(?:marathons?|half|race|5k|10k|ultramarathon|for (?:mayor|office|council))\b")),
    Rule("milestone", listed("have suffer"), rx(r"(?:from )?an? (?:\w+ )?(?:stroke|heart attack|fall|miscarriage|accident|operation|surgery|transplant)\b")),
    Rule("milestone", listed("arrive land come sail"), rx(r"(?:over |back |here )?(?:in|at|to|from)\b.{0,60}\b(?:1[5-9]|20)\d\d\b"), who="third"),
    Rule("education", listed("study major train"), rx(r"(?!it\b|that\b|this\b|the\b|for\b|hard\b|how\b|up\b|with\b|them\b)\w+")),
    Rule("education", listed("attend go"), rx(rf"(?:to )?(?:.{{0,30}} )?{_any_of(SCHOOLS - listed('law medicine nursing engineering degree'))}\b(?! (?:fair|bus|run|trip|meeting|reunion|event))"), lasting=True, check=lambda clause: clause.predicate.tense != "present" or clause.predicate.lemma == "attend"),
    Rule("education", listed("have"), rx(rf"an? (?:{_WORD} ){{0,2}}(?:degree|phd|doctorate|masters|master's|diploma|bachelor's|licen[cs]e|certificate)\b")),
    # -- how they are
    Rule("health", listed("be"), rx(rf"(?:\w+ )?{_any_of(HEALTH_STATES)}\b(?! (?:date|spot|drunk|restaurant|option|option|recipe|dish|to (?:it|that)))")),
    Rule("health", listed("have"), rx(rf"(?:an? )?(?:{_WORD} ){{0,2}}{_any_of(CONDITIONS)}\b(?! (?:walk|run|event|research))")),
    Rule("health", listed("suffer"), rx(r"from\b")),
    Rule("health", listed("be"), rx(r"(?:allergic|intolerant) to\b")),
    Rule("preference", listed("be"), rx(rf"{_SKIP}(?:fond of|crazy about|mad about|keen on|passionate about|obsessed with|scared of|afraid of|terrified of|addicted to|partial to|interested in|an? (?:\w+ ){{0,2}}fan of|not a fan of)\b(?! (?:it|that|this|how|you|your|them|those|these)\b)")),
    Rule("preference", listed("be"), rx(rf"{_SKIP}(?:really |very |big )?into (?!it\b|that\b|this\b|the\b|a\b|an\b|my\b)\w+"), tense="present"),
    Rule("preference", listed("have"), rx(r"an? (?:\w+ )?(?:sweet tooth|soft spot for|weakness for|passion for|love of|love for|fear of|phobia of|thing for|aversion to)\b")),
    Rule("personality", listed("have"), rx(rf"(?:an?|the|such an?|no|incredible|endless|great|so much|infinite)\b (?:{_WORD} ){{0,4}}{_any_of(FACULTIES)}\b")),
    Rule("personality", listed("have"), rx(r"an? (?:\w+ )?(?:way with|gift for|talent for|knack for|eye for|ear for|heart of|memory for)\b")),
    Rule("looks", listed("have"), rx(rf"(?:the )?(?:{_WORD} ){{0,4}}(?:eyes|hair|hands|freckles|beard|moustache|mustache|tattoo|tattoos|scar|accent|dimples)\b"), who="third", lasting=True),
    Rule("looks", listed("be"), rx(rf"(?:\w+ )?{_any_of(LOOKS)}\b(?! (?:of|on|time|term|notice|story|cut|at|for|to|that))"), lasting=True),
    Rule("looks", listed("be stand"), rx(r"(?:\w+ )?\d (?:feet|foot|ft|' ?)\b|(?:five|six) (?:feet|foot)\b")),
    Rule("identity", listed("be become"), _ANYTHING, check=_identity),
    Rule("personality", listed("be"), _ANYTHING, check=_person_noun),
    Rule("personality", listed("be"), _ANYTHING, check=_trait, lasting=True),
    Rule("personality", listed("complain quit"), rx(r"$|about\b"), who="third", negated=True, check=lambda clause: "never" in clause.predicate.adverbs or "not" in clause.predicate.adverbs),
    Rule("personality", listed("raise lose hold give"), rx(r"(?:(?:his|her) (?:voice|temper|patience)|a grudge|grudges|up\b)"), who="third", check=lambda clause: bool(clause.predicate.adverbs & {"never", "rarely", "always"})),
    Rule("habit", listed("be"), rx(r"(?:late|early|on time|punctual|up (?:at|by|before)|the (?:first|last) (?:one )?to|\w+ing)\b"), who="third", check=lambda clause: bool(clause.predicate.adverbs & {"always", "never", "usually", "often", "constantly"}) and not one_off(clause.predicate.after)),
    # -- what they like and do
    Rule("hobby", _LIKING, _SOMETHING, negated=False, check=lambda clause: _likable(clause) and _loved_activity(clause)),
    Rule("preference", _LIKING, _SOMETHING, check=lambda clause: _likable(clause), lasting=True),
    Rule("preference", listed("stand bear"), rx(r"(?!it\b|that\b|this\b|to see\b|to hear\b|you\b|how\b|up\b|by\b|out\b|the idea\b)\w+"), negated=True, check=lambda clause: bool({"can", "could"} & set(clause.predicate.auxiliaries))),
    Rule("hobby", listed("play"), _SOMETHING, lasting=True, check=_instrument),
    Rule("hobby", listed("play"), rx(r"(?:for|on|professional|semi-professional)\b"), who="third", lasting=True),
    Rule("hobby", listed("collect grow keep breed restore tend"), rx(r"(?!it\b|that\b|this\b|track\b|me\b|us\b|up\b|on\b|in\b|going\b|trying\b|a secret\b|his\b|her\b|my\b|to\b|the\b|calm\b|quiet\b|you\b)(?:old |vintage |rare |her own |his own |racing |antique )?(?:\w+s|bees|chickens|stamps|sheep|hens)\b"), lasting=True),
    Rule("hobby", HOBBY_VERBS - listed("play run read write collect practice practise bowl golf"), _ANYTHING, who="third", lasting=True, check=lambda clause: _plain_hobby(clause) and not is_dated(clause.predicate.after) and clause.predicate.tense in {"past", "present"}),
    Rule("hobby", listed("do"), rx(r"(?:yoga|crosswords|the crossword|sudoku|puzzles|pottery|karate|judo|pilates|ballet|woodwork|embroidery|jigsaws|ceramics)\b")),
    Rule("hobby", HOBBY_VERBS | listed("go do"), rx(r"(?:.{0,50}\b)?(?:every|each|on (?:mon|tues|wednes|thurs|fri|satur|sun)days|twice a|once a|times a)\b"), who="user", check=_own_habit),
    Rule("language", listed("speak"), rx(rf"(?:{_WORD} ){{0,4}}(?:{_any_of(LANGUAGES)}|(?:two|three|four|five|six|seven|several|many|\d) languages)\b")),
    Rule("ability", listed("speak play cook fix repair sing dance make read write swim build recite whistle drive bake sew grow eat drink have tolerate ride ski"), _ANYTHING, check=lambda clause: bool({"can", "could"} & set(clause.predicate.auxiliaries)) and _likable_object(clause)),
    Rule("ability", listed("know"), rx(r"how to (?!do (?:it|that)|help|handle|say|respond|react|deal|start|proceed)\w+|(?:every|all) (?:the )?\w+|(?:\w+ ){1,4}by heart"), who="third"),
    Rule("ability", listed("learn"), rx(rf"(?:how )?to (?!be\b|do\b|deal\b|let\b|love\b|accept\b|live\b)\w+|(?:{_WORD} )?{_any_of(LANGUAGES)}\b"), tense="past"),
    Rule("learning", listed("learn study"), rx(rf"(?:how )?to (?:play|speak|cook|drive|swim|code|sew|knit|paint|dance|ski|surf|sail|read|write|ride|draw)\b|(?:{_WORD} )?{_any_of(LANGUAGES)}\b|the (?:{_any_of(INSTRUMENTS)})"), who="user"),
    Rule("learning", listed("be"), rx(rf"(?:learning|studying|training for|saving (?:up )?for|preparing for|writing an? \w*\s?(?:book|novel|thesis|memoir|screenplay))\b(?! (?:it|that|this|how to (?:handle|use|make)|about)\b)"), who="user", tense="present"),
    Rule("possession", listed("have own keep get adopt"), rx(rf"{_COUNT} (?:{_WORD} ){{0,3}}{_any_of(PETS)}\b(?! (?:food|person|lover|show))"), check=lambda clause: clause.predicate.lemma != "keep" or clause.predicate.tense != "would"),
    Rule("possession", listed("own"), rx(rf"{_COUNT} (?:{_WORD} ){{0,3}}\w+")),
    Rule("possession", listed("drive"), rx(r"an? (?:\w+ ){1,4}(?:car|beetle|ford|fiat|volkswagen|chevy|toyota|van|pickup|cadillac|mini|renault|peugeot|honda|volvo|mustang|buick|tesla)\b"), lasting=True),
    Rule("habit", listed("smoke drink pray attend vote volunteer coach support follow eat wear carry"), _SOMETHING, who="third", lasting=True, check=_plain_past_habit),
    Rule("belief", listed("believe"), rx(r"in (?!it\b|that\b|this\b|me\b|us\b|you\b|him\b|her\b)\w+"), who="third"),
    Rule("goal", listed("want hope plan dream aim intend"), rx(r"(?:to|of) \w+"), who="user", negated=False, tense="present", check=_user_goal),
    Rule("goal", listed("would"), _SOMETHING, who="user"),
    Rule("goal", listed("like love"), rx(r"to \w+"), who="user", tense="would", negated=False, check=lambda clause: clause.predicate.rest[1].low in _LIFE_GOALS),
    Rule("age", listed("be"), rx(r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]\w+)?)(?: years? old| years of age)?\s*(?:$|[.,!]|and\b)")),
    Rule("constraint", listed("eat drink have tolerate"), rx(r"(?!it\b|that\b|this\b|to\b|much\b|any of\b|time\b|access\b|enough\b|a\b|the\b|any (?:idea|experience|questions?|plans|time))\w+"), who="user", negated=True, tense="present", check=lambda clause: clause.predicate.lemma in {"eat", "drink"} and not one_off(clause.predicate.after)),
    Rule("tooling", listed("use"), rx(r"(?!it\b|that\b|this\b|to\b|the (?:following|same|code)|these|those|them|my\b)\w+"), who="user", tense="present", lasting=True, check=lambda clause: bool(re.search(r"\b(?:at work|for work|every|daily|for (?:all )?my (?:projects?|notes|work)|always|they/them|pronouns)\b", clause.predicate.after))),
    Rule("event", listed("go attend visit"), rx(r"(?:to |on )?(?:an?|the|my|our|two) (?:\w+ ){0,3}(?:concert|conference|museum|parade|festival|wedding|funeral|workshop|meetup|retreat|convention|show|exhibition|class|meeting|trip|game|tournament|ceremony|group|graduation|camp|interview)\b"), who="user", tense="past", negated=False, check=lambda clause: is_dated(clause.predicate.after)),
    # -- what they did again and again
    Rule("habit", frozenset(verbs.FORMS[form].lemma for form in verbs.FORMS), _ANYTHING, who="third", check=lambda clause: _habitual(clause)),
    Rule("habit", frozenset(verbs.FORMS[form].lemma for form in verbs.FORMS), _ANYTHING, who="user", check=lambda clause: _own_habit(clause)),
)  # fmt: skip


def _likable_object(clause: Clause) -> bool:
    if clause.subject.person.role == "user":
        return clause.predicate.lemma in {
            "speak",
            "play",
            "eat",
            "drink",
            "swim",
            "drive",
            "tolerate",
            "sing",
            "ride",
            "ski",
        } and not (_REACTION.match(clause.predicate.after))
    return not _REACTION.match(clause.predicate.after)


def classify(clause: Clause) -> str | None:
    """Return the kind of a clause about a person, or None when it is nothing to keep."""
    predicate = clause.predicate
    if predicate.tense == "future" or (predicate.tense == "would" and not _would_habitually(clause)):
        return None
    if predicate.lemma == "be" and _progressive(predicate):
        return _first(clause, only=frozenset({"habit", "learning", "occupation", "residence"}))
    return _first(clause)


def _first(clause: Clause, only: frozenset[str] | None = None) -> str | None:
    for rule in RULES:
        if (only is None or rule.kind in only) and rule.fits(clause):
            return rule.kind
    return None


def _would_habitually(clause: Clause) -> bool:
    """Whether "would" tells of a habit ("she would always bake") rather than of what might have been."""
    if clause.subject.person.role == "user":
        return clause.predicate.lemma in {"like", "love"}
    if set(clause.predicate.auxiliaries) != {"would"}:
        return False
    low = " ".join(token.low for token in (*clause.lead, *clause.predicate.rest))
    return bool(clause.predicate.adverbs & HABIT_ADVERBS) or bool(_HABIT_CUE.search(low))


def _progressive(predicate: Predicate) -> bool:
    return bool(predicate.rest) and verbs.is_gerund(predicate.rest[0].low) and predicate.rest[0].low not in TRAITS


def named_city(rest: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether "in …" names a town: a capitalised word that is no country or region."""
    if len(rest) < 2 or rest[0] != "in":
        return False
    return (
        texts[1][:1].isupper()
        and rest[1] not in REGIONS
        and not (len(rest) > 2 and texts[2][:1].isupper() and rest[2] in REGIONS)
    )

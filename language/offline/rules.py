"""Which statements about a person are worth keeping, and what kind each one is.

A rule names verbs by their base form and says what must follow them. Rules are tried in order; the first that fits
decides. Anything that no rule fits is not kept.
"""

# A pattern reads best in one piece, however long.
# ruff: noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass

from language.offline import checks
from language.offline.lexicon import verbs
from language.offline.lexicon.topics import (
    BUSINESSES,
    CONDITIONS,
    FACULTIES,
    HEALTH_STATES,
    HOBBY_VERBS,
    INSTRUMENTS,
    LOOKS,
    SCHOOLS,
    TRAITS,
)
from language.offline.lexicon.words import HABIT_ADVERBS, KIN, KIN_PLURALS, LANGUAGES, NUMBERS, PETS, listed
from language.offline.predicates import Predicate
from language.offline.reader import Clause
from language.offline.times import is_dated, one_off

Check = Callable[[Clause], bool]


@dataclass(frozen=True, slots=True)
class Rule:
    """``kind`` of statement for the verbs in ``lemmas`` (none: any verb) when what follows them matches ``after``.

    ``who`` is "user", "third" or "any". ``tense`` and ``negated`` restrict when not None. A ``lasting`` rule is for how
    someone is or was, so it doesn't fit a clause that tells of a single occasion.
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
        """Whether the rule fits a clause whose verb it names."""
        predicate = clause.predicate
        if self.who != "any" and (clause.subject.person.role == "user") != (self.who == "user"):
            return False
        if self.tense not in (None, predicate.tense) or self.negated not in (None, predicate.negated):
            return False
        if not self.after.match(predicate.after) or (self.lasting and _once(clause)):
            return False
        return self.check is None or self.check(clause)


def _once(clause: Clause) -> bool:
    lead = " ".join(token.low for token in clause.lead)
    return one_off(lead) or one_off(clause.predicate.after)


def _any_of(words: Collection[str]) -> str:
    return "(?:" + "|".join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word))) + ")"


def _rule(
    kind: str,
    lemmas: str | frozenset[str],
    after: str = "",
    *,
    who: str = "any",
    tense: str | None = None,
    negated: bool | None = None,
    lasting: bool = False,
    check: Check | None = None,
) -> Rule:
    verbs_named = listed(lemmas) if isinstance(lemmas, str) else lemmas
    return Rule(kind, verbs_named, re.compile(after), who, tense, negated, lasting, check)


def _adverbs(*words: str) -> Check:
    return lambda clause: bool(clause.predicate.adverbs & set(words))


def _all(*conditions: Check) -> Check:
    return lambda clause: all(condition(clause) for condition in conditions)


def _not(condition: Check) -> Check:
    return lambda clause: not condition(clause)


def _dated(clause: Clause) -> bool:
    return is_dated(clause.predicate.after)


_WORD = r"[\w'’-]+"
_NO_REFERENCE = r"(?!(?:it|this|that|these|those|them|you|how|me|us)\b)"
_COUNT = rf"(?:an?|no|{_any_of(NUMBERS)}|\d{{1,2}}|several|many|some|a few|a couple of|lots of|(?:his|her|my) own|my|his|her)"
_OWN = r"(?:his|her|my)"
_ONE_KIN = _any_of(
    KIN.keys() - {"lead", "baby", "doctor", "dentist", "vet", "client", "chef", "ma", "pa", "mate", "friend", "pal"}
)
_SPOUSE = r"(?:wife|husband|partner|girlfriend|boyfriend|best friend|grandmother|grandfather|mother|father|mom|mum|dad|grandma|grandpa)"
_LANGUAGE = _any_of(LANGUAGES)
_LIKING = listed("love like enjoy adore hate dislike prefer despise loathe detest favour favor cherish")
_DEGREE = r"(?:(?:really|very|so|quite|pretty|always|extremely|also|too|absolutely) ){0,2}"
_SCHOOL = _any_of(SCHOOLS - {"law", "medicine", "nursing", "engineering", "degree"})

RULES: tuple[Rule, ...] = (
    # -- beginning, end, name
    _rule("birth", "be", r"born (?:in|on|at|into|to|during|the|near|just|and|under|with|prematurely)\b"),
    _rule("death", "die", r"(?:in|on|at|of|from|when|aged|before|after|during|suddenly|peacefully|yesterday|last)\b|\w+ \w+ (?:before|ago)\b", who="third"),
    _rule("death", "pass", r"(?:away|on)\b(?! (?:the|that|his|her|it))", who="third"),
    _rule("name", "be", r"(?:called|named|nicknamed|known as|christened)\b(?! (?:in|back|for|to|up|a|an|out|off|after)\b)"),
    _rule("age", "be", rf"(?:\d{{1,3}}|{_any_of(NUMBERS - {'one', 'hundred', 'thousand'})}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]\w+)?)(?: years? old| years of age)?(?: (?:[.,!]|and\b)|$)"),
    # -- who somebody is to others
    _rule("relationship", "be", who="third", check=checks.is_kin_of),
    _rule("relationship", "be", r"(?:the |an? )?(?:only|oldest|youngest|eldest|middle|second|third|fourth|fifth|first)(?: (?:child|son|daughter|girl|boy|sister|brother))? ?(?:of\b|in (?:the|a|his|her|my) family|child\b)"),
    _rule("relationship", "be", rf"one of {_COUNT} (?:{_WORD} )?{_any_of(KIN_PLURALS)}\b"),
    _rule("relationship", "be", r"(?:married|engaged|divorced|widowed|separated)\b(?! with the)"),
    _rule("relationship", "be", rf"an? (?:{_WORD} ){{0,3}}(?:mother|father|mom|mum|dad|grandmother|grandfather|parent) (?:of|to)\b"),
    _rule("relationship", "be", rf"{_DEGREE}close (?:to|with)\b(?! (?:it|that|the)\b)", lasting=True),
    _rule("relationship", "be", r"named after\b"),
    _rule("relationship", "have", rf"(?:twins|triplets)\b|{_COUNT} (?:{_WORD} ){{0,2}}(?:{_any_of(KIN_PLURALS)}|{_ONE_KIN})\b"),
    _rule("personality", "raise lose hold give", r"(?:(?:his|her) (?:voice|temper|patience)|a grudge|grudges|up\b)", who="third", check=_adverbs("never", "rarely", "always")),
    _rule("personality", "complain", r"$|about\b", who="third", negated=True),
    _rule("relationship", "raise", rf"(?:me|us|{_OWN} (?:\w+ )?{_ONE_KIN}|(?:{_WORD} ){{0,3}}{_any_of(KIN_PLURALS)})\b"),
    _rule("relationship", "marry wed remarry divorce outlive", r"(?!(?:it|this|that|these|those|them|you|how|money|awareness|the)\b)\w"),
    _rule("relationship", "adopt", r"(?:an?|two|three|his|her|my|their)\b.{0,20}\b(?:child|boy|girl|son|daughter|baby|kids?|children)\b"),
    _rule("relationship", "get", r"(?:married|engaged|divorced|remarried)\b"),
    _rule("relationship", "call nickname name", r"me \w", who="third", lasting=True),
    _rule("relationship", "teach", r"(?:me|us|my \w+|all) (?!a lesson|that\b)\w", who="third"),
    _rule("relationship", _LIKING, r"\S", who="third", check=checks.loves_kin),
    _rule("relationship", "meet", rf"{_OWN} (?:\w+ ){{0,2}}{_SPOUSE}\b", tense="past"),
    # -- where somebody comes from and lives
    _rule("origin", "be come", r"(?:originally |actually )?from (?!the (?:start|beginning|moment|day|heart)|(?:day|now|here|work|what|my|all|scratch|home)\b)"),
    _rule("origin", "be", r"(?:raised|brought up) (?:in|by|on|as|near)\b"),
    _rule("origin", "grow", r"up (?:in|on|near|with|at|as|poor|speaking|without|during|outside|just|by)\b"),
    _rule("residence", "live reside", r"(?:in|at|on|near|with|by|next to|next door|outside|alone|abroad|just|across|around|between|off|not far|close to|together|a few|an hour|up|down|above|over)\b(?! (?:the (?:moment|past)|(?:my|our) (?:heads?|hearts?|minds?|dreams|memory|memories)|fear|peace))"),
    _rule("residence", "be", r"(?:based|living) (?:in|at|near|with|out of)\b(?! (?:the (?:moment|past)|(?:my|our) (?:heads?|hearts?|minds?|dreams|memory|memories)|fear|peace))", tense="present"),
    _rule("identity", "be", r"an? (?:native|citizen|resident|member) of\b"),
    _rule("milestone", "move relocate emigrate immigrate migrate", r"(?:to|from|back to|here from|in with|out of|into|away from|abroad|with)\b(?! (?:the next|it|that|this|on|tears|action|another (?:topic|question)))"),
    # -- work
    _rule("occupation", "be become remain", check=checks.is_job),
    _rule("occupation", "work train", r"(?:\w+ )?(?:as|at|for|in|on|with|from|part|full|nights|days|shifts|two|three|remotely|night|underground|freelance|down|until|\d+)\b(?! (?:it|that|this|me|you|getting|my (?:\w+ )?(?:skills|english)|(?:another|any|many)\b))", lasting=True),
    _rule("occupation", "be", r"(?:employed|apprenticed|self-employed|working (?:as|at|for|in|full|part))\b"),
    _rule("occupation", "run own manage open found start", r"\S", check=checks.is_business),
    _rule("occupation", "teach", r"(?!(?:me|myself|us|you|him|her|my|them|people|that|how|to)\b)\w", lasting=True),
    _rule("occupation", "drive", r"(?:an? |the )?(?:\w+ )?(?:truck|bus|taxi|cab|train|tram|lorry|ambulance|tractor|buse)s?\b", lasting=True),
    _rule("occupation", "make earn", r".{1,60}\bfor a living\b"),
    _rule("occupation", "have", rf"an? (?:{_WORD} ){{0,2}}(?:job|career|{_any_of(BUSINESSES - listed('team department plant market library theatre'))})\b"),
    _rule("occupation", "be", rf"(?:in charge of|the (?:{_WORD} ){{0,2}}(?:head|owner|founder|director|manager|captain|principal|lead|leader) (?:of|at)|on the {_WORD} team)\b"),
    # -- milestones
    _rule("milestone", "graduate", r"(?:from|with|in|at|as|top|last|high|college|\(date\))|$"),
    _rule("milestone", "retire", r"(?:in|at|from|as|after|when|early|last|to|\(date\))|$"),
    _rule("milestone", "be", r"(?:awarded|promoted|elected|drafted|wounded|baptized|baptised|hired|ordained|knighted|decorated|evacuated|deported|conscripted|laid off|fired|accepted (?:to|into|by|at))\b"),
    _rule("milestone", "get", rf"(?:promoted|laid off|fired|hired|accepted (?:to|into|by|at)|an? (?:{_WORD} ){{0,3}}(?:degree|diploma|promotion|scholarship|licen[cs]e|job|internship|phd)|{_OWN} (?:{_WORD} ){{0,3}}(?:degree|diploma|citizenship|licen[cs]e|phd|first \w+))\b"),
    _rule("milestone", "enlist serve fight", r"(?:in|as|on|with|during|for|under|against|at)\b"),
    _rule("milestone", "join", rf"(?:the|an?) (?:{_WORD} ){{0,3}}(?:army|navy|force|police|resistance|union|party|church|choir|club|company|firm|team|band|group|circus|marines|fire brigade|gym|community|class|program|programme)\b"),
    _rule("milestone", "win receive earn", rf"(?:an?|the|first|second|{_OWN}|two|three|several|many|gold|silver|bronze)\b.{{0,40}}\b(?:prize|award|medal|competition|tournament|scholarship|championship|lottery|contest|race|cup|trophy|election|degree|title|grant|certificate|place|game|match)\b"),
    _rule("milestone", "buy build sell", rf"(?:an?|the|{_OWN}|their|our)\b.{{0,30}}\b(?:house|home|flat|apartment|farm|boat|car|cottage|cabin|land|shop|piano|bakery|truck|condo|barn|church|chapel|school|motorbike|motorcycle)\b"),
    _rule("milestone", "survive escape flee", rf"{_NO_REFERENCE}\w"),
    _rule("milestone", "turn", r"(?:\d{1,3}|eighteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b"),
    _rule("milestone", "give", r"birth\b"),
    _rule("milestone", "lose", rf"{_OWN} (?:{_WORD} ){{0,2}}(?:{_any_of(KIN)}|job|sight|hearing|leg|arm|home|house|eyesight|parents)\b"),
    _rule("milestone", "leave quit", rf"(?:school|college|university|home|the (?:army|navy|farm|village|country|church|company|island)|{_OWN} (?:\w+ )?(?:job|village|country|home|husband|wife|hometown))\b"),
    _rule("milestone", "publish write", rf"(?:an?|two|three|several|{_OWN}|\d+)\b.{{0,30}}\b(?:books?|novels?|poems?|memoirs?|articles?|screenplays?|scripts?|plays?)\b", tense="past"),
    _rule("milestone", "finish complete", rf"(?:(?:{_OWN}|high|secondary|primary|medical|law|the|a)\b.{{0,30}}\b)?(?:school|college|degree|thesis|training|apprenticeship|phd|studies|book|novel|marathon|master'?s|screenplay|script|education|course|internship)\b", tense="past"),
    _rule("milestone", "become", r"(?:an?|the) "),
    _rule("milestone", "run", rf"(?:an?|the|{_OWN}|two|three|several|\d+|in the|in a)\b.{{0,30}}\b(?:marathons?|race|5k|10k|ultramarathon|for (?:mayor|office|council))\b"),
    _rule("milestone", "have suffer", r"(?:from )?an? (?:\w+ )?(?:stroke|heart attack|miscarriage|accident|operation|surgery|transplant)\b"),
    _rule("milestone", "arrive land come sail", r"(?:over |back )?(?:in|at|to|from)\b.{0,60}\b(?:1[5-9]|20)\d\d\b", who="third"),
    _rule("education", "study major", rf"{_NO_REFERENCE}(?!(?:the|for|hard|real|really|up|with|a|all|more|my)\b)\w"),
    _rule("education", "attend", rf"(?:.{{0,30}} )?{_SCHOOL}\b(?! (?:fair|bus|run|trip|meeting|reunion|event))", lasting=True),
    _rule("education", "go", rf"to (?:.{{0,30}} )?{_SCHOOL}\b(?! (?:fair|bus|run|trip|meeting|reunion|event))", tense="past", lasting=True),
    _rule("education", "have", rf"an? (?:{_WORD} ){{0,2}}(?:degree|phd|doctorate|master'?s|diploma|bachelor's|licen[cs]e|certificate)\b"),
    # -- health and what somebody avoids
    _rule("health", "be", rf"(?:\w+ )?{_any_of(HEALTH_STATES)}\b(?! (?:date|spot|drunk|restaurant|option|recipe|dish|to (?:it|that)))"),
    _rule("health", "have", rf"(?:an? )?(?:{_WORD} ){{0,2}}{_any_of(CONDITIONS)}\b(?! (?:walk|run|event|research))"),
    _rule("health", "suffer", r"from (?!it\b|that\b|this\b)\w"),
    _rule("constraint", "eat drink have tolerate", rf"{_NO_REFERENCE}(?!(?:to|and|much|time|access|enough|a|an|the|any|anything|so|my|well)\b)\w", who="user", check=checks.avoids_food),
    # -- how somebody is
    _rule("preference", "be", rf"{_DEGREE}(?:fond of|crazy about|mad about|keen on|passionate about|obsessed with|scared of|afraid of|terrified of|addicted to|partial to|interested in|an? (?:\w+ ){{0,2}}fan of)\b (?!(?:it|that|this|how|you|your|them|those|these)\b)\w"),
    _rule("preference", "be", rf"{_DEGREE}(?:big )?into (?!(?:it|that|this|the|a|an|my|them)\b)\w", tense="present"),
    _rule("preference", "have", r"an? (?:\w+ )?(?:sweet tooth|soft spot for|weakness for|passion for|love of|love for|fear of|phobia of|aversion to)\b(?! (?:it|that|this|them)\b)"),
    _rule("personality", "have", rf"(?:an?|the|such an?|no|incredible|endless|great|so much|infinite)\b (?:{_WORD} ){{0,4}}{_any_of(FACULTIES)}\b", who="third"),
    _rule("personality", "have", r"an? (?:\w+ )?(?:way with|gift for|talent for|knack for|eye for|ear for|heart of|memory for)\b"),
    _rule("looks", "have", rf"(?:the )?(?:{_WORD} ){{0,4}}(?:eyes|hair|hands|freckles|beard|moustache|mustache|tattoos?|scar|accent|dimples)\b", who="third", lasting=True),
    _rule("looks", "be", rf"(?:\w+ )?{_any_of(LOOKS)}\b(?! (?:of|on|time|term|notice|story|cut|at|for|to|that)\b)", lasting=True),
    _rule("looks", "be stand", r"(?:\w+ )?\d (?:feet|foot|ft|')|(?:five|six) (?:feet|foot)\b"),
    _rule("identity", "be become", check=checks.is_identity),
    _rule("personality", "be", check=checks.is_kind_of_person),
    _rule("personality", "be", check=checks.is_trait, lasting=True),
    _rule("habit", "be", r"(?:late|early|on time|punctual|up (?:at|by|before)|the (?:first|last) (?:one )?to|\w+ing)\b", who="third", lasting=True, check=_adverbs(*HABIT_ADVERBS)),
    # -- what somebody likes and does
    _rule("ability", "speak play cook fix repair sing dance make read write swim build recite whistle drive bake sew grow eat drink ride ski", check=checks.is_able),
    _rule("hobby", _LIKING, r"\S", negated=False, check=_all(checks.is_likable, checks.is_activity)),
    _rule("preference", _LIKING, r"\S", check=checks.is_likable),
    _rule("preference", "stand bear", rf"{_NO_REFERENCE}(?!(?:to see|to hear|up|by|out|the idea)\b)\w", check=checks.cannot),
    _rule("hobby", "play", r"\S", lasting=True, check=checks.is_played),
    _rule("hobby", "play", r"(?:for|professional|semi-professional)\b", who="third", lasting=True),
    _rule("hobby", "collect grow keep breed restore tend", r"(?:(?:old|vintage|rare|her own|his own|racing|antique|model) )?(?!(?:this|his|us|details|things|tabs|notes)\b)(?:\w{3,}s|sheep)\b", lasting=True),
    _rule("hobby", HOBBY_VERBS - listed("play run read write collect practice practise bowl golf"), who="third", lasting=True, check=_all(checks.is_plain_pastime, _not(checks.is_timed))),
    _rule("hobby", "do", r"(?:yoga|crosswords|the crossword|sudoku|puzzles|pottery|karate|judo|pilates|ballet|woodwork|embroidery|jigsaws|ceramics)\b", lasting=True),
    _rule("hobby", HOBBY_VERBS | {"go", "do"}, who="user", check=_all(checks.is_own_habit, checks.is_timed)),
    _rule("language", "speak", rf"(?:{_WORD} ){{0,4}}(?:{_LANGUAGE}|(?:two|three|four|five|six|seven|several|many|\d) languages)\b"),
    _rule("ability", "know", r"how to (?!(?:do (?:it|that)|help|handle|say|respond|react|deal|start|proceed)\b)\w|(?:every|all) (?:the )?\w+|(?:\w+ ){1,4}by heart", who="third"),
    _rule("ability", "learn", rf"(?:how )?to (?!(?:be|do|deal|let|love|accept|live)\b)\w|(?:{_WORD} )?{_LANGUAGE}\b", tense="past"),
    _rule("learning", "learn study", rf"(?:how )?to (?:play|speak|cook|drive|swim|code|sew|knit|paint|dance|ski|surf|sail|read|write|ride|draw)\b|(?:{_WORD} )?{_LANGUAGE}\b|the {_any_of(INSTRUMENTS)}\b", who="user"),
    _rule("learning", "be", rf"(?:learning|studying|training for|saving (?:up )?for|preparing for|writing an? (?:{_WORD} )?(?:book|novel|thesis|memoir|screenplay))\b (?!(?:it|that|this|hard|real|really|a lot|about|how to (?:handle|use|make|balance))\b)\w", who="user", tense="present"),
    _rule("possession", "have own get adopt keep", rf"{_COUNT} (?:{_WORD} ){{0,3}}{_any_of(PETS)}\b(?! (?:food|person|lover|show))"),
    _rule("possession", "be", rf"my (?:{_WORD} ){{0,3}}{_any_of(PETS)}(?: [.!,]|$)", who="third"),
    _rule("possession", "own", rf"{_COUNT} (?:{_WORD} ){{0,3}}\w"),
    _rule("possession", "drive", r"an? (?:\w+ ){1,4}(?:car|beetle|ford|fiat|volkswagen|chevy|toyota|van|pickup|cadillac|mini|renault|peugeot|honda|volvo|mustang|buick|tesla)\b", lasting=True),
    _rule("habit", "smoke drink pray attend vote volunteer coach support follow eat wear carry", r"\S", who="third", lasting=True, check=checks.is_plain_habit),
    _rule("belief", "believe", rf"in {_NO_REFERENCE}(?!(?:him|her)\b)\w", who="third"),
    _rule("goal", "want hope plan dream aim intend like love", r"(?:to|of) \w", who="user", negated=False, check=checks.is_life_goal),
    _rule("tooling", "use", rf"{_NO_REFERENCE}(?!(?:to|the (?:following|same|code)|my)\b)\w", who="user", tense="present", check=checks.uses_always),
    _rule("event", "go attend visit", r"(?:to |on )?(?:an?|the|my|our|two) (?:\S+ ){0,4}(?:concert|conference|museum|parade|festival|wedding|funeral|workshop|meetup|retreat|convention|show|exhibition|class|meeting|trip|game|tournament|ceremony|group|graduation|camp|interview|event)\b", who="user", tense="past", negated=False, check=_dated),
    # -- what somebody did again and again
    _rule("habit", frozenset(), who="third", check=checks.is_habit),
    _rule("habit", frozenset(), who="user", check=checks.is_own_habit),
)  # fmt: skip

_BY_VERB: dict[str, tuple[Rule, ...]] = {
    lemma: tuple(rule for rule in RULES if not rule.lemmas or lemma in rule.lemmas)
    for lemma in {form.lemma for form in verbs.FORMS.values()}
}
_OF_WHAT_GOES_ON = listed("habit learning occupation residence")
_GOALS = listed("goal")


def classify(clause: Clause) -> str | None:
    """Return the kind of a clause about a person, or None when it is nothing to keep."""
    predicate = clause.predicate
    if predicate.tense == "future":
        return None
    if predicate.tense == "would":
        if clause.subject.person.role == "user":
            return _first(clause, _GOALS)
        if not _habitual_would(clause):
            return None
    if predicate.lemma == "be" and _progressive(predicate):
        return _first(clause, _OF_WHAT_GOES_ON)
    return _first(clause)


def _first(clause: Clause, kinds: frozenset[str] | None = None) -> str | None:
    for rule in _BY_VERB.get(clause.predicate.lemma, ()):
        if (kinds is None or rule.kind in kinds) and rule.fits(clause):
            return rule.kind
    return None


def _habitual_would(clause: Clause) -> bool:
    """Whether "would" tells of a habit ("she would always bake") rather than of what might have been."""
    if set(clause.predicate.auxiliaries) != {"would"}:
        return False
    return bool(clause.predicate.adverbs & HABIT_ADVERBS) or checks.is_timed(clause)


def _progressive(predicate: Predicate) -> bool:
    return bool(predicate.rest) and verbs.is_gerund(predicate.rest[0].low) and predicate.rest[0].low not in TRAITS

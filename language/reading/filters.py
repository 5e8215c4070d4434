"""Which clauses assert something: no questions, imperatives, hedges, conditions, hearsay, jokes or transient states."""

from __future__ import annotations

import re
from collections.abc import Sequence

from language.reading.clauses import DOUBT, SAY, Clause, is_finite, subject_of
from language.reading.kinds import is_health
from language.reading.normalise import MASK
from language.reading.parse import Parsed, Word
from language.reading.persons import Person
from language.reading.words import KIN, KIN_PLURALS, PETS, listed

_RELATIVES = KIN_PLURALS | KIN.keys()
_HEDGES = listed(
    """maybe perhaps probably possibly presumably supposedly apparently allegedly rumour rumor rumours rumors
    hopefully purportedly reportedly hypothetically"""
)
_MODALS = frozenset({"might", "may", "must", "should", "shall", "ought"})
_CONDITIONS = frozenset({"if", "unless", "whether", "suppose", "supposing", "provided"})
_JOKES = re.compile(
    r"(?i)\b(?:jok(?:e|es|ed|ing)|kidding|just messing|pulling (?:your|my) leg|lied|lying|made (?:that|it) up|i wish|"
    r"in (?:the|that|a|this|my) (?:book|movie|film|novel|story|game|show|play|series|dream)|the "
    r"character|i dreamed|i dreamt|"
    r"legend has it|according to|as far as i know|to my knowledge|for instance|e\.g|yeah right|pretend|imagine|"
    r"not (?:too |so |entirely |really |completely |quite |100 ?% )?(?:sure|certain)|unsure|no idea|or something|or so|"
    r"in theory|i(?: have|'ve)? heard|i was told|they say|people say|word is|don't quote me|if memory serves|"
    r"i (?:think|guess|reckon|suppose)(?=[.!]*$)|"
    r"if i remember (?:rightly|right|correctly)|(?:can't|cannot|don't) (?:quite |really |even "
    r")?(?:remember|recall))\b|/s\b"
)
_DOUBTS = re.compile(
    r"(?i)^(?:(?:but|or|and|though|well|no|lol|haha)[, ]+)*(?:jk\b|maybe|perhaps|or was it|was it|not sure|"
    r"i(?:'m| am) not (?:so |quite |really )?sure|i could be wrong|"
    r"i might be wrong|i may be wrong|something like that|don't quote me|just kidding|(?:i(?:'m| am|"
    r"'m only) )?(?:just |only )?(?:joking|kidding)|"
    r"that's not true|no, that's wrong|if i remember|(?:at least )?i (?:think|guess|suppose)(?: so)?[.!]*$|"
    r"dont believe (?:it|him|"
    r"her|them)|don't believe (?:it|him|her|them))\b"
)
_TALK = listed("talk speak tell share write chat discuss")
_KEEPING = listed("save record put keep note store get")
_STEERING = listed("imagine pretend according what how why whatever let suppose")
_PASSING = re.compile(
    r"(?i)\b(?:right now|at the moment|in a (?:minute|bit|second|moment)|for now|just now|last night|"
    r"soon|tonight|today|"
    r"this (?:morning|afternoon|evening|time|week)|currently|earlier|the other day|later|meanwhile|on my way|again)\b"
)
_SPAN = re.compile(
    r"spring|summer|autumn|winter|year|month|(?:january|february|march|april|may|june|july|august|september|october|"
    r"november|december)|20\d\d"
)
_HABITUAL = re.compile(
    r"(?i)\b(?:always|usually|never|every|each|(?:once|twice|\w+ times) an? (?:day|week|fortnight|month|year)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days)\b"
)
_OF_THE_MOMENT = DOUBT | listed(
    """want try thank tell say talk ask see look need start begin go get sorry understand agree picture mind let
    cry smile laugh miss mention recall appreciate sleep know seem remember forget mean come find add check
    finish make think sound call email test use"""
)
_UNWILLED = listed(
    "cry sob laugh giggle smile think wonder worry feel notice stare shake shiver cough sneeze yawn talk"
)
_STATES = listed(
    """sorry sure glad happy sad afraid tired ready fine ok okay good here there proud nervous back home thankful
    grateful upset worried curious able right wrong interested done lost busy hungry late excited bored confused
    fascinated surprised shocked amazed lucky aware free welcome stuck certain due about confident pleased
    honest serious off young small little kidding joking guilty close angry mad ashamed asleep awake alone idiot mess
    fool member terrible awful hopeless useless rubbish dreadful better worse"""
)
_OCCASIONS = listed(
    """idea question problem look chat lunch dinner meeting hearing minute request doubt feeling point clue time"""
)
_UNDERTAKINGS = listed(
    """job work school university college course degree training apprenticeship studies business company family
    therapy treatment medication chemo diet relationship career phd retirement class lesson"""
)
_LASTING = listed(
    """learn train study work marry live teach build move retire expect save volunteer raise write plan practise
    practice apply recover run"""
)
_COMPLETE_VERBS = listed(
    """die smoke drink snore paint hunt marry sing swear knit pray cook garden cycle sew drown emigrate
    remarry retire swim dance drive ski graduate divorce separate ride surf write climb fly eat bake mumble whistle
    juggle stammer stutter limp gamble fish hike sail"""
)
_MOVES = listed("leave start begin go come get")
"""Verbs that say too little with only a time: "She left at 14"."""
_TIMES = frozenset({"DATE", "TIME", "CARDINAL"})
_TRANSITIVE = frozenset({"inherit", "rescue", "try"})
_LIGHT_VERBS = listed("do try be have get go come happen seem let mean manage know think make take")
_OBJECTS = listed("dobj attr acomp prep xcomp prt npadvmod ccomp agent advmod advcl dative oprd pcomp")


_STEERS_A_MODEL = re.compile(
    r"\b(?:ignore|disregard|override|bypass|forget)\b.{0,30}\b(?:previous|prior|above|earlier|all|your|these|"
    r"those|any)\b.{0,30}"
    r"\b(?:instructions?|rules?|prompts?|guidelines?|directions?|messages?|constraints?|polic(?:y|ies))\b|"
    r"\bsystem prompt\b|\byou are now\b|\bdeveloper mode\b|\bjailbreak|<\|[a-z_]+\|>|\bact as (?:an?|if|my|the)\b|"
    r"\bpretend (?:to be|you are|that you)\b|\broleplay\b|\bnew instructions?\s*:|\[/?inst\]|\breveal (?:your|"
    r"the) (?:prompt|instructions)\b",
    re.IGNORECASE,
)


def is_prompt_injection(message: str) -> bool:
    """Whether a message is a prompt injection."""
    return bool(_STEERS_A_MODEL.search(message))


def doubts_previous(sentence: str) -> bool:
    """Whether a sentence only casts doubt on the one before: "Or maybe 1932"."""
    return bool(_DOUBTS.match(sentence)) and len(sentence.split()) <= 9


def unasserted_reason(clause: Clause, person: Person, *, elided: bool = False) -> str:
    """Why a clause asserts nothing, in a few words; empty if it does."""
    first = clause.words()[0]
    lows = clause.lower_words()
    head = clause.head
    text = clause.parsed.text[first.start : clause.words()[-1].end]
    if "?" in clause.parsed.text[first.start : clause.words()[-1].end + 2]:
        return "question"
    if first.low in _STEERING:
        return "order"
    if _JOKES.search(text):
        return "joke or hearsay"
    if not is_finite(clause.parsed, head) and not (elided and head.tag in {"VBN", "VBG"}):
        return "no statement"
    return _hedge(clause, person, lows) or _hearsay(clause, person)


def _hedge(clause: Clause, person: Person, lows: set[str]) -> str:  # noqa: PLR0911
    head, auxiliaries = clause.head, clause.children("aux", "auxpass")
    if not _HEDGES.isdisjoint(lows) or lows >= {"'d", "better"}:
        return "hedge"
    perfect = any(each.lemma == "have" and each.low != "'d" for each in auxiliaries)
    # "'d" is "had" in "she'd been a nurse", "would" in "she'd have been one".
    inverted = clause.subject is not None and any(
        each.low in {"had", "were", "should"} and each.index < clause.subject.index for each in auxiliaries
    )
    if inverted:
        return "condition"  # "Had she been a boy".
    had = not perfect and head.tag == "VBN"
    if any(each.low == "could" for each in auxiliaries) and "so" in {each.low for each in clause.words()[:2]}:
        return "condition"  # "So I could drive him" tells what for.
    modals = {each.low for each in auxiliaries if each.tag == "MD" and not (each.low == "'d" and had)}
    plans = modals <= {"will", "'ll"} and person.role == "user" and _is_dated_plan(clause)
    if modals & _MODALS or (perfect and modals) or (modals & {"will", "'ll", "wo"} and not plans):
        return "hedge"
    if modals & {"would", "'d"}:
        wishes = head.lemma in {"love", "like", "hate"} and any(
            each.lemma not in {"know", "hear", "see", "say", "ask", "make", "be", "thank"}
            for each in clause.children("xcomp")
        )
        if person.role == "user" and not wishes:
            return "hedge"
        if (
            person.role != "user"
            and head.lemma in {"love", "like", "be", "mind", "hate", "adore", "want", "know", "think"}
            and not lows & {"always", "often", "never", "every"}
        ):
            return "hedge"
    conditions = [
        mark
        for word in clause.words()
        if word.dep in {"advcl", "ccomp"} or word.index == head.index
        for mark in clause.parsed.children(word)
        if mark.dep == "mark" and mark.low in _CONDITIONS and mark.index in clause.indices
    ]
    if any(mark.head == head.index or clause.parsed.head(mark).head == head.index for mark in conditions):
        return "condition"
    if (
        head.lemma in DOUBT
        and (head.lemma not in {"believe", "hope", "wonder", "imagine"} or clause.children("ccomp"))
        and not (person.role != "user" and head.lemma in {"believe", "think"})
        and not (head.lemma == "guess" and person.role != "user" and clause.children("dobj"))
    ):
        return "hedge"
    if head.lemma in {"seem", "appear"}:
        return "hedge"
    return ""


def _is_dated_plan(clause: Clause) -> bool:
    """Whether a clause tells what the speaker will do in a month, season or year: "Next summer I will sail to Faro"."""
    is_own = clause.subject is not None and clause.subject.low == "i" and not clause.children("neg", "advcl")
    return is_own and any(each.entity == "DATE" and _SPAN.fullmatch(each.low) for each in clause.words())


def _hearsay(clause: Clause, person: Person) -> str:
    head = clause.head
    # "…, she said" and "so he says": the reported words precede the verb.
    quoted = any(is_masked(word) for word in clause.words())
    if quoted and person.role == "other":
        return "joke or hearsay"
    if head.lemma in SAY | DOUBT and not quoted:
        told = clause.children("ccomp", "parataxis", "dobj", "dative", "oprd", "prep", "xcomp", "advmod", "neg")
        if head.lemma in {"say", "tell", "ask", "answer", "reply", "claim", "explain", "announce", "mention"}:
            told = [each for each in told if each.dep not in {"advmod", "neg"}]
        ordered = head.lemma in {"tell", "say", "ask", "order"} and clause.children("xcomp")
        if not told or ordered or (person.role == "other" and clause.children("ccomp")):
            return "joke or hearsay"
    return ""


def is_transient(clause: Clause) -> bool:  # noqa: PLR0911
    """Whether a statement about the user holds only at the moment, or says nothing about them."""
    head, lemma = clause.head, clause.head.lemma.lower()
    words = clause.words()
    text = clause.parsed.text[words[0].start : words[-1].end]
    if _PASSING.search(text):
        return True
    if re.search(r"(?i)\b(?:password|passphrase|passcode|pin (?:code|number)?)\b", text):
        return True
    if head.low == "got" and any(each.lemma in {"have", "'ve"} for each in clause.children("aux")):
        return any(each.dep == "xcomp" for each in clause.children())
    complements = clause.children("xcomp")
    progressive = head.tag == "VBG" and any(each.lemma == "be" for each in clause.children("aux"))
    if progressive and any(each.entity == "DATE" and not re.fullmatch(r"1\d{3}", each.low) for each in words):
        return False  # A dated plan: "getting married in May", not "visiting my gran, born in 1932".
    if lemma in {"stop", "help"} and clause.children("neg") and any(each.lemma in _UNWILLED for each in complements):
        return True  # "I can't stop crying.", unlike "I can't stop smoking."
    if lemma in _OF_THE_MOMENT and not _is_lasting(clause, complements):
        return True
    if lemma in {"like", "love", "want", "keep", "hate", "prefer", "enjoy"} and any(
        each.lemma in _OF_THE_MOMENT - {"go", "get", "talk", "cry", "laugh", "sleep", "make", "start", "begin", "find"}
        for each in complements
    ):
        return True
    if lemma in {"have", "get"} and complements:
        return not (lemma == "have" and is_health(text) and is_habitual(clause))
    liked = clause.children("dobj") if lemma in {"love", "like", "hate", "enjoy"} else []
    if "much" not in clause.lower_words() and any(
        [one.low for one in clause.parsed.children(each)] == ["the"] for each in liked
    ):
        return True
    if progressive and lemma not in _LASTING:
        return True
    if lemma == "be" and any(
        each.tag != "JJS" and each.lemma.lower() in _STATES
        for each in clause.children("acomp", "attr", "advmod", "prep")
    ):
        # Who is afraid of something stays so.
        return not any(each.low == "afraid" and clause.parsed.child(each, "prep") for each in clause.children("acomp"))
    if (
        lemma in {"have", "do"}
        and not is_habitual(clause)
        and any(each.lemma in _OCCASIONS for each in clause.children("dobj"))
    ):
        return True
    return not clause.children(*_OBJECTS) and lemma not in _COMPLETE_VERBS


def _is_lasting(clause: Clause, complements: Sequence[Word]) -> bool:  # noqa: PLR0911
    lemma, past = clause.head.lemma.lower(), clause.head.tag in {"VBD", "VBN"}
    lows = clause.lower_words()
    if lemma == "make" and not past:
        made = clause.children("dobj")
        return any(each.pos == "NOUN" and not clause.parsed.child(each, "det", "poss") for each in made)
    if lemma in {"want", "hope", "need", "plan"}:
        return any(
            each.lemma not in (_OF_THE_MOMENT - {"find", "start"}) | {"be", "have", "do", "know"}
            for each in complements
        ) and not lows & {"this", "that", "you"}
    if lemma in {"start", "begin", "finish"}:
        at = any(each.low in {"at", "as"} for each in clause.children("prep"))
        undertaken = any(each.lemma in _UNDERTAKINGS for each in clause.children("dobj"))
        return undertaken or (lemma != "finish" and (at or bool(complements) or is_habitual(clause)))
    if lemma == "come" and any(each.low == "from" for each in clause.children("prep")):
        return True
    if lemma == "go":
        return past or "often" in lows or is_habitual(clause)
    if lemma == "get":
        text = " ".join(each.text for each in clause.words())
        is_lasting = past or is_habitual(clause) or (bool(clause.children("dobj")) and is_health(text))
        return is_lasting and not lows & {"it", "this", "that"}
    if lemma == "use" and clause.head.tag == "VBP" and not lows & {"the", "this", "that", "it", "you", "your"}:
        return bool(clause.children("dobj"))
    if lemma in {"use", "make", "come", "call", "find", "look", "see", "talk", "sleep", "try"}:
        return (
            is_habitual(clause)
            or (lemma in {"make", "come"} and past and bool(clause.children("dobj", "prep")))
            or (lemma == "look" and any(each.low == "after" for each in clause.children("prep")))
        )
    if lemma == "miss":
        missed = (part for each in clause.children("dobj") for part in clause.parsed.subtree(each))
        return any(each.dep == "poss" for each in missed)
    if lemma in {"know", "remember", "forget", "mind"}:
        return bool(lows & {"never", "always"})
    return False


def says_too_little(clause: Clause, person: Person, content: Sequence[Word]) -> bool:  # noqa: PLR0911
    """Whether too little content is left. ``content`` are the content words without the subject."""
    head = clause.head
    if head.lemma in _COMPLETE_VERBS or (head.lemma == "be" and clause.children("acomp", "attr", "xcomp")):
        return not content
    whole = clause.children("dobj", "nsubjpass", "xcomp", "prt")
    if head.lemma in _TRANSITIVE and all(each.entity in _TIMES for each in whole):
        return True
    if head.lemma in {"do", "have"} and not clause.children("dobj", "ccomp", "xcomp", "acomp", "prep", "nsubjpass"):
        return True
    if head.lemma in {"raise", "adopt", "foster", "marry", "divorce"} and clause.children("dobj"):
        return False
    if head.lemma == "meet" and person.role == "user" and not clause.children("dobj", "conj", "prt"):
        return all(each.low != "with" for each in clause.children("prep"))
    said = clause.children(*_OBJECTS - {"prt"}) if head.lemma in _MOVES and head.tag == "VBD" else []
    if said and all(_is_when(clause.parsed, each) for each in said):
        return True
    least = 1 if head.lemma in _LIGHT_VERBS else 2
    told = [each for each in content if each.index != head.index or head.lemma not in _LIGHT_VERBS]
    if any(is_masked(each) for each in content):
        return False
    counted = clause.children("dobj") if head.lemma != "turn" else []
    if any(each.pos == "NUM" and not clause.parsed.children(each) for each in counted):
        return True
    if any(each.low == "lot" and not clause.parsed.child(each, "prep") for each in clause.children("dobj")):
        return True
    hollow = [
        each
        for each in clause.children("xcomp")
        if each.lemma in {"become", "be", "have", "get", "do"}
        and not [one for one in clause.parsed.children(each) if one.dep not in {"aux", "mark"}]
    ]
    # What was said stands elsewhere: "In the kitchen, he said."
    says = head.lemma == "say" and not clause.children("dobj", "ccomp", "xcomp", "oprd", "attr", "nsubjpass")
    if (
        hollow
        or says
        or not any(
            each.pos not in {"VERB", "AUX"} or (each.dep not in {"conj", "advcl"} and each.index != head.index)
            for each in told
        )
    ):
        return True
    return len(told) < least or (head.lemma == "go" and not clause.children("prep", "prt", "xcomp", "advcl", "advmod"))


def _is_when(parsed: Parsed, word: Word) -> bool:
    """Whether a dependent of a verb only tells when or how long: "at 14", "for six months"."""
    time = parsed.child(word, "pobj") if word.dep == "prep" else word if word.dep == "npadvmod" else None
    return time is not None and time.entity in _TIMES


def is_habitual(clause: Clause) -> bool:
    """Whether a clause says how often something is done: "every Monday", "usually"."""
    words = clause.words()
    return bool(_HABITUAL.search(clause.parsed.text[words[0].start : words[-1].end]))


def holds_for_speaker(clause: Clause, *, reciprocal: bool) -> bool:
    """Whether what is said of "we" is true of the speaker alone, too; it is not of "we are a family of five"."""
    head = clause.head
    if head.lemma == "be":
        nouns = (each for each in clause.children("attr") if each.pos in {"NOUN", "PROPN", "PRON", "NUM"})
        return head.tag == "VBP" and next(nouns, None) is None
    wed = head.lemma == "get" and any(each.low in {"married", "divorced", "engaged"} for each in clause.children())
    if wed or head.lemma in {"marry", "divorce"}:
        return True
    return not reciprocal


def is_imperative(clause: Clause) -> bool:
    """Whether a clause is imperative."""
    return (
        clause.head.tag in {"VB", "VBP"}
        and not clause.children("aux")
        and subject_of(clause.parsed, clause.head) is None
    )


def announces_topic(clause: Clause) -> bool:
    """Whether the user only announces a topic: "I want to tell you about …"."""
    wanted = clause.head.lemma in {"want", "like", "love", "need"} and not clause.children("neg")
    about = "about" in clause.lower_words()
    return wanted and any(
        each.lemma in _TALK or (about and each.lemma in _KEEPING) for each in clause.children("xcomp")
    )


def is_masked(word: Word) -> bool:
    """Whether a token is a masked quotation."""
    return word.text.startswith(MASK)


def is_permanent(clause: Clause) -> bool:
    """Whether a statement about a thing of the user's is more than its state at the moment."""
    head = clause.head
    if head.lemma == "be" and head.tag != "VBG":
        return not is_transient(clause)
    if clause.subject is not None and clause.subject.low in _RELATIVES:
        return is_finite(clause.parsed, head)
    if clause.subject is not None and clause.subject.lemma in PETS:
        return head.tag in {"VBZ", "VBP"} or head.lemma in {"die", "call", "name", "pass"}
    return head.lemma in {"call", "name"} or (
        head.tag in {"VBZ", "VBP"} and bool(clause.children("prep", "dobj", "xcomp", "acomp"))
    )

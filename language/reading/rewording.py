"""How a memory reads after a message that makes it outdated."""

from __future__ import annotations

import re

from .beside import is_back, is_endured, is_got, is_step
from .ending import denied, ended, never_so, over, tells_name, tells_of_another
from .figures import MONTHS, normalise_figures
from .lexicon import is_kind_of, relation
from .parse import Parsed, Word, parse
from .predicates import CHANGES, ENDS
from .second_tries import SecondTry
from .stems import LIGHT, content_prefixes, prefix, stem_of
from .values import are_alike, new_wording
from .words import DIAGNOSING, KIN, NUMERALS, listed

_WHO_DECIDES = DIAGNOSING | {"boss"}
"""Whose word is the person's own change: "the doctor says 40 mg now"."""
_POINTING, _PERSONS, _HE_OR_SHE = listed("it that this"), listed("he she it they"), listed("he she")
_SPEAKERS, _THEIRS = listed("i me my mine we us our ours"), listed("him his her their them its")
_OPEN = listed("NOUN PROPN VERB ADJ NUM")
_HOLDING = listed("be have keep hold")
_ENDING = ENDS | CHANGES | listed("cease die dead gone over past break fail skip miss")
_DENIALS = listed("no not never without nobody nothing neither nor hardly n't longer anymore")
_CHANGES = listed("stop start begin move leave retire finish end join switch give change marry")
_MEASURES, _TELLS = listed("scale scales thermometer tape monitor"), listed("say show read tell")
_MOVES, _DWELLS = listed("move relocate"), listed("live be reside stay move")
_OF_IT = re.compile(
    r"(?i)(?<![^,;:.!–—-] )\b(?:it|he|she|they)(?:['’](?:s|re)| is| are) (?P<how>[^,;.!?–—]+?)(?= now\b|[,;.!–—]|$)"
)
"""A clause that says of a thing just named how it is: "…, it's in the shed now"."""
_WHERE = re.compile(r"(?i)(?P<prep>in|on|at|under|behind|with|by|near|inside|beside|above|below|over) \S")

_OF_THE_DEAD = re.compile(r"(?i)\b(?:late|deceased|great-\w+)\b|\bwas born\b")
_MISTAKE = re.compile(
    r"(?i)\b(?:wrong(?:ly)?|mistake[ns]?|(?:mix|muddl|confus)\w*|correct(?:ion|ed|ing)?|mis(?:read|remember|heard|count|calc)\w*"
    r"|err(?:ed|or)|turns? out|never|put me right|set me straight|silly me|no,? wait|wait,? no)\b"
)
_SINCE = re.compile(r"(?i)\b(?:now|any ?more|no longer|since|again|these days|meanwhile)\b")


_LONG_AGO = re.compile(
    r"(?i)\b(?:in (?:my|his|her) (?:teens|twenties|thirties|forties|childhood|youth)|back then"
    r"|as a (?:child|kid|boy|girl|teenager)|when I was (?:young|little|small|a (?:child|kid|boy|girl)))\b"
    rf"|\b(?:until|till|before) (?:I|he|she) (?:was|turned) (?:\d\d?|(?:{'|'.join(NUMERALS)})(?:-\w+)?)\b"
)
_ONE_MORE = re.compile(r"(?i)\b(?:a (?:second|third|fourth)|one more)\b(?! (?:time|thought|chance))(?: (?P<what>\w+))?")

_IS_CALLED = re.compile(r"The user is (?!(?:[A-Z]{2,}|[IVX]+)\b)[A-Z][a-zà-ÿ]+(?:,? \d{1,3})?(?:,? (?:a|and)\b.*)?\.?$")
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?"
_TO_A_DAY = re.compile(
    rf"(?i)\b(?:mov|shift|switch|reschedul|chang|postpon)\w*(?: (?:back|forward|over|now))? (?:to|on ?to|until|till)"
    rf" (?:\w+ ){{0,2}}(?:{_DAY})\b"
)
_TO_COME = re.compile(
    rf"(?i)\b(?:(?:on|from|starting|by|in) (?:(?:the|next|this) )?(?:{_DAY}|(?<!in )\d|20\d\d|(?:{'|'.join(MONTHS)})\b)"
    r"|tomorrow\b|next \w|in (?:\w+ )?(?:years|months|weeks|days)\b)"
)
_IS_NAMED = re.compile(
    r"\b(?i:it|he|she|that|name)(?:['’]s| is)(?: (?:really|actually|called|spelt|spelled|written))* "
    r"(?P<now>[A-Z][\w-]+)\b(?!['’]s\b| [A-Z])"
)
_CALLS = re.compile(r"(?i)\b(?:called|named?)\b")
_FOR_NOW = re.compile(
    rf"(?i)\b(?:until|til|till) (?:(?:the|next|this|after) )?"
    rf"(?:{_DAY}|\d|tomorrow|{'|'.join(MONTHS)}|\w+ (?:week|month)\b)"
    r"|\bover (?:Easter|Christmas|the (?:holidays?|weekend|summer))\b"
    r"|\bfor (?:the time being|the (?:week|weekend|day)|a (?:few|couple of) (?:days|weeks))\b|\btemporar(?:y|ily)\b"
)
"""What holds for a while only: "the car's in the garage until Friday"."""
_FOR_GOOD = re.compile(r"(?i)\b(?:for good|for ever|forever|permanent(?:ly)?|any ?more|no longer|never again)\b")
_WHEN = re.compile(rf"(?i)\b(?:{_DAY}|\w*days?|mornings?|afternoons?|evenings?|nights?|noon|o['’]clock|\d\S*)(?!\w)")


def leaves_it(memory: str, passage: str) -> bool:
    """Whether a passage names another subject than a memory, tells something else of what that names, says its figures
    again, tells of long ago, of one more or of a while, or moves something to a day where the memory says no time.
    """
    if _TO_A_DAY.search(passage) and not _WHEN.search(memory):
        return True
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    if parsed is None or known is None:
        return tells_of_another(passage, memory)
    if _IS_CALLED.match(memory) and "name" not in passage.lower() and "call" not in passage.lower():
        return True  # Who somebody is does not end: "I quit smoking" made it "The user is no longer Tom, 44."
    is_beside = _LONG_AGO.search(passage) is not None and _SINCE.search(passage) is None
    if (more := _ONE_MORE.search(passage)) is not None:
        is_same_kind = prefix((more["what"] or "").lower()) in content_prefixes(memory)
        is_beside = is_beside or is_same_kind or _root(known).lemma == "have"
    is_beside = is_beside or _says_figures_again(memory, parsed) or _is_planned(parsed) or _is_for_now(parsed)
    is_beside = is_beside or is_back(known, passage) or is_got(parsed, known)
    is_beside = is_beside or is_step(parsed, known) or is_endured(parsed, known)
    is_beside = is_beside or _names_another(parsed, known) or tells_of_another(passage, memory)
    return is_beside and not _is_denied_in(memory, passage)


def _is_denied_in(memory: str, passage: str) -> bool:
    """Whether a passage sets another value against that of a memory: "it's not Olive, it's Oliver"."""
    wording = new_wording(memory, passage)
    return wording is not None and wording.contrasts


def _says_figures_again(memory: str, parsed: Parsed) -> bool:
    """Whether a passage says the figures of a memory again: not of a thing that has them: "the 7:12 is cancelled"."""
    figures = _figures(memory)
    if not figures or figures != _figures(parsed.text) or any(word.low in _DENIALS for word in parsed.words):
        return False
    return not any(_figures(word.text) for each in _subjects(parsed) for word in parsed.subtree(each))


def _is_planned(parsed: Parsed) -> bool:
    """Whether a passage tells a change at a day to come: "On 1 January I stop smoking", "from May I'll no longer …"."""
    if _TO_COME.search(parsed.text) is None:
        return False
    verbs = [word for word in parsed.words if word.dep in {"ROOT", "conj", "ccomp"} and word.pos in {"VERB", "AUX"}]
    begins = any(word.lemma in _CHANGES and word.tag in {"VBP", "VBZ"} for word in verbs)
    return begins or (
        bool(verbs) and all(any(each.lemma == "will" for each in parsed.children(word)) for word in verbs)
    )


def _is_for_now(parsed: Parsed) -> bool:
    """Whether a passage tells in the present tense of what holds for a while."""
    found = _FOR_NOW.search(parsed.text)
    if found is None or _FOR_GOOD.search(parsed.text) is not None:
        return False
    verb = _verb_at(parsed, found.start())
    return verb is not None and (verb.tag in {"VBZ", "VBP"} or parsed.child(verb, "aux") is not None)


def _figures(text: str) -> set[str]:
    """Return the numbers of a text, as digits: "4200", of "4,200"."""
    return set(re.findall(r"\d+(?:\.\d+)?", normalise_figures(text).replace(",", "")))


def reworded(memory: str, passage: str, *, is_plain: bool = False, is_certain: bool = False) -> str | None:
    """Return a memory that a passage makes outdated as it reads then: with the passage's value, or as ended.

    ``is_plain``: it is so clearly outdated that it is told as no longer true where the grammar makes no sentence.
    ``is_certain``: it is surely outdated, so that one of the past may have been told wrongly; it is then denied.

    None if no correct sentence can be made, or the passage may only touch the memory: a move, of a job in the town that
    was left, or a state that comes and goes.
    """
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    if parsed is None or known is None or _moves_house(parsed, known) or _is_other_half(parsed, known):
        return None
    whose, _ = _parts(known)
    if any(_is_namesake(parsed, each, whose) for each in _subjects(parsed)):
        return None
    wording = new_wording(memory, passage)
    if wording is not None:
        is_others = _is_about_others(parsed, known)
        is_another = _is_said_of_another(parsed, known, wording.at)
        if not (is_others or is_another):
            return wording.content
        if is_others or not is_plain:
            return None
    is_name = tells_name(known) and _CALLS.search(passage) is None
    clauses = () if is_name else _OF_IT.finditer(passage)
    instead = (_put_elsewhere(memory, each["how"]) or SecondTry(passage, each[0]).apply_to(memory) for each in clauses)
    listed_ones = [word for word in known.words if word.dep == "conj"]
    # Of several days only one may be meant.
    is_part = _WHEN.search(passage) is not None and any(_WHEN.match(word.text) for word in listed_ones)
    if is_part or _says_again(known, parsed):
        return None
    made = never_so(memory, passage) or _respelt(known, passage) or next(filter(None, instead), None) or ended(memory)
    if made is None and is_certain and _was_mistaken(memory, passage):
        made = denied(memory)
    return made or (over(memory) if is_plain else None)


def _says_again(known: Parsed, parsed: Parsed) -> bool:
    """Whether a passage of what is now says all words of a memory with an own meaning, and no denial or end."""
    said = {word.lemma.lower() for word in parsed.words}
    denies = any(word.low in _DENIALS or word.dep == "neg" for word in parsed.words) or not said.isdisjoint(_ENDING)
    words = {word.lemma.lower() for word in known.words if word.pos in _OPEN} - _HOLDING - {"user"}
    return not denies and _root(parsed).tag in {"VBZ", "VBP"} and len(words) > 1 and words <= said


def _respelt(known: Parsed, passage: str) -> str | None:
    """Return a memory that tells a name with the name that a passage gives in its place: "It's Myra with a y"."""
    name = known.words[-1] if known.words[-1].pos != "PUNCT" else known.words[-2]
    now = _IS_NAMED.search(passage)
    if now is None or not tells_name(known) or name.pos != "PROPN" or now["now"] == name.text:
        return None
    denies = re.search(rf"(?i)\byou (?:\w+ ){{1,3}}{re.escape(name.text)}\b", passage) is not None
    is_so = denies or are_alike(name.text, now["now"])
    return f"{known.text[: name.start]}{now['now']}{known.text[name.end :]}" if is_so else None


def _was_mistaken(memory: str, passage: str) -> bool:
    """Whether a memory of the past was wrong, and nothing happened since: it is of the dead, or the passage says so."""
    return _OF_THE_DEAD.search(memory) is not None or (
        _MISTAKE.search(passage) is not None and _SINCE.search(passage) is None
    )


def _is_said_of_another(parsed: Parsed, known: Parsed, at: int) -> bool:
    """Whether the clause at a position of a passage has another subject than the memory."""
    verb = _verb_at(parsed, at)
    subject = parsed.child(verb, "nsubj", "nsubjpass") if verb is not None else None
    if verb is None or (subject is not None and _counts(parsed, subject, at, verb)):
        return False
    whose, value = _parts(known)
    return _is_of_another(parsed, verb, whose, value) or _is_of_another_thing(parsed, verb, whose | value)


def _counts(parsed: Parsed, subject: Word, at: int, verb: Word) -> bool:
    """Whether a subject has the value at a position as a number of things, or measures it: "the scales say 84"."""
    words = parsed.subtree(subject)
    is_count = any(word.low == "number" for word in words) and words[0].start <= at < words[-1].end
    return is_count or (subject.lemma.lower() in _MEASURES and verb.lemma in _TELLS)


def _is_about_others(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage has relatives or named persons as subjects, and not the user, whom a memory is about."""
    whose, value = _parts(known)
    subjects = [each for each in _subjects(parsed) if _beginning(each) not in value | whose]
    persons = [each for each in subjects if each.pos == "PROPN" or each.low in KIN]
    persons = [each for each in persons if not _does_to_own(parsed, parsed.head(each), whose | value)]
    own = any(word.low in _SPEAKERS for each in subjects for word in parsed.subtree(each) if each not in persons)
    root = parsed.root
    is_elided = root is not None and root.pos == "VERB" and parsed.child(root, "nsubj", "nsubjpass") is None
    of_person = any(word.pos == "PROPN" or _is_person(word) for word in known.words if _beginning(word) in whose)
    return bool(persons) and not own and not is_elided and not of_person


def _moves_house(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells of a move to or from a name, and a memory of something else than a dwelling."""
    moving = {word.index for word in parsed.words if word.lemma in _MOVES}
    places = (
        each for each in parsed.words if each.pos == "PROPN" and each.dep == "pobj" and not _WHEN.match(each.text)
    )
    dwells = known.root is not None and known.root.lemma in _DWELLS
    return not dwells and any(parsed.head(parsed.head(word)).index in moving for word in places)


def _is_other_half(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells a state that alternates with what a memory tells: "is closed", of a shop that opens."""
    root, told = _root(known), _root(parsed)
    is_state = told.tag == "VBN" and parsed.child(told, "auxpass") is not None and parsed.child(told, "prep") is None
    return is_state and root.pos == "VERB" and relation(root.lemma, told.lemma) == "opposite"


def _names_another(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage is about a named subject, and not about that which the memory names, or the user."""
    names, spoken = _named_subjects(known), set(map(_beginning, parsed.words))
    if not names and any(word.low in _HE_OR_SHE and word.dep == "nsubj" for word in parsed.words):
        own = not any(word.low in _SPEAKERS for word in parsed.words)
        is_user = any(word.low == "user" and word.dep == "nsubj" for word in known.words)
        return (
            own and is_user and any(word.text[:1].isupper() for word in _subjects(parsed) if word.low not in _PERSONS)
        )
    if not names or not names.isdisjoint(spoken) or any(word.low in _PERSONS | _THEIRS for word in parsed.words):
        return False
    return bool(_named_subjects(parsed))


def _named_subjects(parsed: Parsed) -> set[str]:
    """Return the beginnings of the names in subjects: an apposition may stand as a second subject."""
    return {_beginning(word) for each in _subjects(parsed) for word in parsed.subtree(each) if word.pos == "PROPN"}


def _subjects(parsed: Parsed) -> list[Word]:
    return [word for word in parsed.words if word.dep in {"nsubj", "nsubjpass"}]


def _put_elsewhere(memory: str, where: str) -> str | None:
    """Return a memory of where something is, with another place; None for other memories, and for other words."""
    found, parsed = _WHERE.match(where), parse(memory, names=False)
    if found is None or parsed is None or parsed.root is None:
        return None
    place = parsed.child(parsed.root, "prep")
    is_alike = place is not None and (parsed.root.lemma == "be" or place.low == found["prep"].lower())
    return f"{memory[: place.start]}{where}." if place is not None and is_alike else None


def _is_of_another_thing(parsed: Parsed, verb: Word, told: set[str]) -> bool:
    """Whether a new value is said of a thing that the memory does not have: "the rent is 900", of a debt."""
    subject = parsed.child(verb, "nsubj", "nsubjpass")
    return subject is not None and subject.pos == "NOUN" and not _is_person(subject) and _beginning(subject) not in told


def _root(parsed: Parsed) -> Word:
    return parsed.root or parsed.words[0]


def _verb_at(parsed: Parsed, at: int) -> Word | None:
    """Return the verb of the clause at a position of the text."""
    word = next((each for each in parsed.words if each.end > at), None)
    while word is not None and word.pos not in {"VERB", "AUX"} and word.head != word.index:
        word = parsed.head(word)
    return word


def _is_of_another(parsed: Parsed, verb: Word, whose: set[str], value: set[str]) -> bool:
    """Whether a clause has a subject that is neither the memory's, nor what it tells of, nor left out."""
    subject = parsed.child(verb, "nsubj", "nsubjpass")
    while subject is None and verb.dep in {"conj", "xcomp", "advcl", "ccomp"}:
        verb = parsed.head(verb)
        subject = parsed.child(verb, "nsubj", "nsubjpass")
    if subject is None or subject.low in _POINTING:
        return False
    is_other = any(each.low in {"other", "another"} for each in parsed.children(subject))
    if is_other or (not whose and subject.low in _HE_OR_SHE):
        return True
    told, holder = {_beginning(word) for word in parsed.subtree(subject)}, parsed.child(subject, "poss")
    if holder is not None and _is_person(holder) and _beginning(holder) not in whose:
        return True
    if _beginning(subject) in value or not told.isdisjoint(whose):
        return _is_held_by_another(parsed, subject, whose, value)
    if (whose and subject.pos == "PROPN") or _does_to_own(parsed, verb, whose | value):
        return False  # It may be their name, or "the landlord put it up", "they put me on nights".
    return subject.low not in _WHO_DECIDES and _is_person(subject)


def _does_to_own(parsed: Parsed, verb: Word, told: set[str]) -> bool:
    """Whether somebody does something to the user or their things: "put me on nights", "the landlord put the rent up".

    ``told`` are the beginnings of the words of the memory that "the" alone may refer to.
    """
    thing, whom = parsed.child(verb, "dobj"), parsed.child(verb, "dative")
    if thing is None:
        return False
    if verb.lemma in {"give", "send", "assign", "issue"} and whom is not None and whom.low in {"me", "us"}:
        return True
    is_the = _beginning(thing) in told and [each.low for each in parsed.children(thing)] == ["the"]
    return is_the or _is_own(parsed, thing)


def _is_own(parsed: Parsed, thing: Word) -> bool:
    holder = parsed.child(thing, "poss")
    return thing.low in {"it", "me", "us"} or (holder is not None and holder.low in {"my", "our"})


def _is_held_by_another(parsed: Parsed, subject: Word, whose: set[str], value: set[str]) -> bool:
    """Whether a subject that has words of a memory is of another: "Noah's friend", "her car", "the cat of Tom"."""
    holder = parsed.child(subject, "poss")
    if holder is not None and _is_person(subject) and _beginning(subject) not in whose | value:
        return holder.pos == "PROPN" or _beginning(holder) in whose
    has_words = not whose.isdisjoint(map(_beginning, parsed.subtree(subject)))
    theirs = holder is not None and holder.low not in {"my", "our"} and not has_words
    return theirs or (not whose and parsed.child(subject, "prep") is not None)


def _is_person(word: Word) -> bool:
    return word.low in KIN or (word.pos == "NOUN" and is_kind_of(word.lemma, "person"))


def _is_namesake(parsed: Parsed, subject: Word, whose: set[str]) -> bool:
    """Whether a subject has a name of the memory's subject, and one more that is not theirs."""
    names = {_beginning(word) for word in (subject, *parsed.children(subject)) if word.pos == "PROPN"}
    return not names.isdisjoint(whose) and not names <= whose


def _beginning(word: Word) -> str:
    return prefix(stem_of(word)) if stem_of(word) not in LIGHT else ""


def _parts(known: Parsed) -> tuple[set[str], set[str]]:
    """Return the beginnings of the words of a memory's subject, without "user", and of what it tells of them."""
    subject = known.child(_root(known), "nsubj", "nsubjpass")
    whose = {_beginning(word) for word in (known.subtree(subject) if subject is not None else ())} - {"user", ""}
    return whose, content_prefixes(known.text) - whose - {"user"}

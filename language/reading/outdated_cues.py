"""What the grammar of a message says about a memory that it may make outdated."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from language.base import Vectors

from .ending import ended, never_so, tells_of_another
from .lexicon import is_kind_of, relation
from .parse import Parsed, Word, parse
from .predicates import CHANGES, ENDS, PARTINGS
from .second_tries import SecondTry
from .sentences import split_sentences
from .stems import LIGHT, content_prefixes, prefix, stem_of
from .values import NewWording, new_wording
from .words import DIAGNOSING, KIN, listed

CUES = 10
"""The number of cues."""

_SAID = listed("say write type mean")
_WHO_DECIDES = DIAGNOSING | {"boss"}
"""Whose word is the person's own change: "the doctor says 40 mg now"."""
_POINTING, _PERSONS, _HE_OR_SHE = listed("it that this"), listed("he she it they"), listed("he she")
_SPEAKERS, _THEIRS = listed("i me my mine we us our ours"), listed("him his her their them its")
_CLAUSES = frozenset({"conj", "advcl", "relcl", "ccomp", "parataxis"})
_NOWADAYS = re.compile(
    r"\b(?:now|nowadays|these days|instead|since|from (?:now|here) on|for good|any ?(?:more|longer)|no (?:more|longer)"
    r"|after all|as of)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:if|might|could|would|(?<!\d )may|should|maybe|perhaps|thinking of|(?<!n['’]t )(?<!nt )wants? to|one day"
    r"|hopes?|nearly|almost|asked|suggest\w*|propos\w*|thought|consider\w*"
    r"|we['’]ll see|saying|today|tonight|yesterday|(?<!as of )this (?:morning|week|\w+day)|all week"
    r"|for a (?:\w+ )?(?:days?|weeks?|months?|whiles?|bit))\b"
    r"|\?|['’]d\b",
    re.IGNORECASE,
)
"""What did not happen, or only for a time."""
_ASIDE = re.compile(
    r"\bdid I (?:say|write)\b[^.!?]*\?|\bwould you (?:believe|look)"
    r"|\bif (?:you can believe|(?:you|anyone)['’]?s? (?:ask|need|want))|\bmay have (?:mentioned|said|told)\b",
    re.IGNORECASE,
)
"""Phrases that leave nothing open, whatever their words."""
_NEVER_AGAIN = re.compile(r"\b(?:any ?(?:more|longer)|no (?:more|longer))\b", re.IGNORECASE)
_ENDING = (
    (ENDS | CHANGES | PARTINGS) - listed("bring push extend delay")
    | listed(
        """abandon bin chuck cure die ditch drown dump emigrate exchange fail fold pack part pass replace scrap shut
        split steal swap trade"""
    )
    | listed("be_over be_gone be_off be_done be_finished be_dead be_history")
    | {"put away", "put aside", "go off", "move out", "hand over", "let go", "pack in", "call off", "throw out"}
    | {"do with", "cut out", "fall through", "step down", "come off"}
)
_DENIES = listed("no not never without nobody nothing neither nor hardly n't longer anymore")
_OF_IT = re.compile(
    r"(?i)(?<![^,;:.!–—-] )\b(?:it|he|she|they)(?:['’](?:s|re)| is| are) (?P<how>[^,;.!?–—]+?)(?= now\b|[,;.!–—]|$)"
)
"""A clause that says of a thing just named how it is: "…, it's in the shed now"."""
_WHERE = re.compile(r"(?i)(?P<prep>in|on|at|under|behind|with|by|near|inside|beside|above|below|over) \S")
_MOVES, _DWELLS = listed("move relocate"), listed("live be reside stay move")


@dataclass(frozen=True, slots=True)
class Cues:
    """What the grammar of a passage says about a memory: ``values``, of shape (CUES,), are 1 where a cue is there.

    ``wording`` is the memory with the passage's value, if there is one. ``is_doubtful``: the passage tells what did not
    happen or only for a time, or it speaks of the memory's words only for others, or its value may be another's, or it
    says or does what the memory tells: "hides coins in the chimney", of somebody who keeps his coins hidden; or nothing
    ends in it, and it has no word of the memory but its verb and kin. ``may_end``: nothing says that the memory still
    holds, so that a high score may overrule the doubt.
    """

    values: Vectors
    wording: NewWording | None
    is_doubtful: bool
    passage: str = ""
    may_end: bool = True

    def content_of(self, memory: str) -> str | None:
        """Return the new wording of the memory; None if no correct sentence can be made."""
        if self.wording is not None:
            return self.wording.content
        clauses = _OF_IT.finditer(self.passage)
        instead = (
            _put_elsewhere(memory, each["how"]) or SecondTry(self.passage, each[0]).apply_to(memory) for each in clauses
        )
        said = never_so(memory, self.passage) or next(filter(None, instead), None)
        return said or ended(memory, is_over=bool(self.values[:2].any()))


def _put_elsewhere(memory: str, where: str) -> str | None:
    """Return a memory of where something is, with another place; None for other memories, and for other words."""
    found, parsed = _WHERE.match(where), parse(memory, names=False)
    if found is None or parsed is None or parsed.root is None:
        return None
    place = parsed.child(parsed.root, "prep")
    is_alike = place is not None and (parsed.root.lemma == "be" or place.low == found["prep"].lower())
    return f"{memory[: place.start]}{where}." if place is not None and is_alike else None


def cues_of(passage: str, memory: str) -> Cues | None:
    """Return the cues of a passage for a memory; None if one can't be parsed, or if it tells of somebody or something
    else: each names its own person, or no word of the memory but its verb is said, and no value is set against its own.
    """
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    if parsed is None or known is None:
        return None
    spoken = {_beginning(word) for word in parsed.words}
    if names_another(parsed, known):
        return None
    whose, value = _parts(known)
    is_own = is_others = is_ended = False
    subjects: list[Word | None] = []
    for verb in parsed.words:
        words = _clause(parsed, verb) if verb.pos in {"VERB", "AUX"} and verb.dep not in {"aux", "auxpass"} else []
        told = [word for word in words if _beginning(word) in value]
        subject = parsed.child(verb, "nsubj", "nsubjpass")
        subjects += [subject] if words and (subject is None or _beginning(subject) not in value) else []
        if not told:
            named = subject is not None and not whose.isdisjoint(map(_beginning, parsed.subtree(subject)))
            is_ended = is_ended or (named and _ends(parsed, verb, words))
        elif _is_of_another(parsed, verb, whose, value) or (not whose and _are_of_another(parsed, told)):
            is_others = True
        else:
            is_own = is_own or subject is None or not (subject.low in _POINTING or _beginning(subject) in value)
            is_ended = is_ended or (
                _ends(parsed, verb, words) and not any(_is_said_to_be(parsed, word) for word in told)
            )
    wording, said = new_wording(memory, passage), content_prefixes(passage)
    around = _verb_at(parsed, wording.at) if wording is not None else None
    is_of_another = around is not None and _is_of_another(parsed, around, whose, value)
    is_open = _OPEN.search(_ASIDE.sub("", passage)) is not None
    contrasts = wording is not None and wording.contrasts
    is_news = is_ended or _NOWADAYS.search(passage) is not None
    says_verb = _says_verb(parsed, known, whose) and (is_news or not _more_than_verb(known))
    is_other = wording is None and tells_of_another(passage, memory)
    if is_other or not (contrasts or _mentions(known, said) or says_verb):
        return None  # Of all memories of a person, some one always looks likely beside any message.
    is_unspoken = wording is None and not is_news and not _mentions(known, said, but=KIN)
    told_of = is_others, said & value, said & whose, _affirms(passage, memory)
    cues = _NOWADAYS.search(passage), is_ended, wording, contrasts, is_of_another, is_open, *told_of
    values = np.array([bool(each) for each in cues], dtype=np.float32)
    is_about_others = is_others or _is_about_others(parsed, subjects, whose if _is_of_person(known) else set())
    is_unnamed = wording is not None and not contrasts and bool(whose) and whose.isdisjoint(spoken)
    is_unnamed = is_unnamed and not any(word.low in _PERSONS for word in parsed.words)
    is_repeated = wording is None and (bool(values[-1]) or _repeats(parsed, known))
    is_unsettled = is_open and _is_open_where_told(passage, wording, value)
    is_of_another = is_of_another or (around is not None and _is_of_another_thing(parsed, around, whose | value))
    holds = is_unsettled or is_repeated or _moves_house(parsed, known)
    holds = holds or (wording is None and _is_other_half(parsed, known))
    is_doubtful = is_of_another or is_unnamed or (is_about_others and not is_own) or is_unspoken
    return Cues(values, wording, holds or is_doubtful, passage, may_end=wording is None and not holds)


def _moves_house(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells of a move to or from a name, and a memory of something else than a dwelling."""
    moving = {word.index for word in parsed.words if word.lemma in _MOVES}
    places = (word for word in parsed.words if word.pos == "PROPN" and word.dep == "pobj")
    dwells = known.root is not None and known.root.lemma in _DWELLS
    return not dwells and any(parsed.head(parsed.head(word)).index in moving for word in places)


def names_another(parsed: Parsed, known: Parsed) -> bool:
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


def _is_of_another_thing(parsed: Parsed, verb: Word, told: set[str]) -> bool:
    """Whether a new value is said of a thing that the memory does not have: "the rent is 900", of a debt."""
    subject = parsed.child(verb, "nsubj", "nsubjpass")
    return subject is not None and subject.pos == "NOUN" and not _is_person(subject) and _beginning(subject) not in told


def _is_open_where_told(passage: str, wording: NewWording | None, value: set[str]) -> bool:
    """Whether the sentences that give the new value, or have the memory's words, leave it open; others may ask on.

    Where none does, whether all leave it open.
    """
    sentences = list(split_sentences(passage))
    told = [
        each
        for each in sentences
        if (wording is not None and each.start <= wording.at < each.end)
        or not value.isdisjoint(content_prefixes(each.text))
    ]
    opens = [_OPEN.search(_ASIDE.sub("", each.text)) is not None for each in told or sentences]
    return any(opens) if told else all(opens)


def _repeats(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage asserts a verb with its object, both of which the memory has."""
    stems = {stem_of(word) for word in known.words if word.tag[:1] in {"V", "N"}}
    for verb in parsed.words:
        thing = parsed.child(verb, "dobj") if verb.pos == "VERB" and not _is_change(parsed, verb) else None
        if thing is not None and {stem_of(verb), stem_of(thing)} <= stems:
            return not any(word.low in _DENIES for word in parsed.subtree(verb))
    return False


def _mentions(known: Parsed, said: set[str], but: Collection[str] = ()) -> bool:
    """Whether a passage has a word of a memory, beside its verb and the words ``but``."""
    left_out = {_beginning(word) for word in known.words if word.low in but}
    return not (_more_than_verb(known) - left_out).isdisjoint(said)


def _more_than_verb(known: Parsed) -> set[str]:
    """Return the beginnings of the words of a memory beside its verbs."""
    return content_prefixes(known.text) - {*map(_beginning, _verbs(known)), "user"}


def _verbs(known: Parsed) -> list[Word]:
    """Return the verb of a memory, and those joined to it: "lives in Porto and works in a bank"."""
    root = _root(known)
    return [root, *(each for each in known.children(root) if each.dep == "conj" and each.pos == "VERB")]


def _says_verb(parsed: Parsed, known: Parsed, whose: set[str]) -> bool:
    """Whether a passage has the verb of a memory, and not only of the speaker where the memory is of somebody else."""
    stems = set(map(stem_of, _verbs(known)))
    subjects = [parsed.child(word, "nsubj", "nsubjpass") for word in parsed.words if stem_of(word) in stems]
    return any(each is None or not whose or each.low not in _SPEAKERS for each in subjects)


def _is_other_half(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells a state that alternates with what a memory tells: "is closed", of a shop that opens."""
    root, told = _root(known), _root(parsed)
    is_state = told.tag == "VBN" and parsed.child(told, "auxpass") is not None and parsed.child(told, "prep") is None
    return is_state and root.pos == "VERB" and relation(root.lemma, told.lemma) == "opposite"


def _root(parsed: Parsed) -> Word:
    return parsed.root or parsed.words[0]


def _verb_at(parsed: Parsed, at: int) -> Word | None:
    """Return the verb of the clause at a position of the text."""
    word = next((each for each in parsed.words if each.end > at), None)
    while word is not None and word.pos not in {"VERB", "AUX"} and word.head != word.index:
        word = parsed.head(word)
    return word


def _clause(parsed: Parsed, verb: Word) -> list[Word]:
    """Return the words of a verb's clause, without clauses within it."""
    inner = (each for each in parsed.children(verb) if each.dep in _CLAUSES and each.pos in {"VERB", "AUX"})
    gone = {word.index for each in inner for word in parsed.subtree(each)}
    return [word for word in parsed.subtree(verb) if word.index not in gone]


def _is_of_another(parsed: Parsed, verb: Word, whose: set[str], value: set[str]) -> bool:
    """Whether a clause has a subject that is neither the memory's, nor what it tells of, nor left out."""
    subject = parsed.child(verb, "nsubj", "nsubjpass")
    while subject is None and verb.dep in {"conj", "xcomp", "advcl", "ccomp"}:
        verb = parsed.head(verb)
        subject = parsed.child(verb, "nsubj", "nsubjpass")
    if subject is None or subject.low in _POINTING:
        return False
    is_other = any(each.low in {"other", "another"} for each in parsed.children(subject))
    if is_other or (not whose and subject.low in _HE_OR_SHE) or _is_namesake(parsed, subject, whose):
        return True
    told, holder = {_beginning(word) for word in parsed.subtree(subject)}, parsed.child(subject, "poss")
    if holder is not None and _is_person(holder) and _beginning(holder) not in whose:
        return True
    if _beginning(subject) in value or not told.isdisjoint(whose):
        return _is_held_by_another(parsed, subject, whose, value)
    thing = parsed.child(verb, "dobj")
    if (whose and subject.pos == "PROPN") or (thing is not None and _is_own(parsed, thing)):
        return False  # It may be their name, or "the landlord put it up", "they put me on nights".
    return subject.low not in _WHO_DECIDES and _is_person(subject)


def _is_own(parsed: Parsed, thing: Word) -> bool:
    holder = parsed.child(thing, "poss")
    return thing.low in {"it", "me", "us"} or (holder is not None and holder.low in {"my", "our"})


def _are_of_another(parsed: Parsed, told: Sequence[Word]) -> bool:
    """Whether a word of what a memory tells of the user is said to be somebody else's: "her tablets"."""
    holders = (parsed.child(word, "poss") for word in told)
    return any(holder is not None and holder.low in {"his", "her", "their"} for holder in holders)


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


def _is_about_others(parsed: Parsed, subjects: Sequence[Word | None], whose: set[str]) -> bool:
    """Whether a passage has only others as its persons: "my son", of the user; "Ali Hassan", of a brother Ali."""
    persons = [each for each in subjects if each is not None and (each.pos == "PROPN" or each.low in KIN)]
    if whose:
        return any(_is_namesake(parsed, each, whose) for each in persons)
    own = (each is None or any(word.low in {"i", "we"} for word in parsed.subtree(each)) for each in subjects)
    return bool(persons) and not any(own)


def _is_of_person(known: Parsed) -> bool:
    """Whether the subject of a memory is somebody else than the user: "The user's sister", not "The user's car"."""
    subject = known.child(_root(known), "nsubj", "nsubjpass")
    words = known.subtree(subject) if subject is not None else ()
    return any(word.low != "user" and (word.pos == "PROPN" or _is_person(word)) for word in words)


def _is_namesake(parsed: Parsed, subject: Word, whose: set[str]) -> bool:
    """Whether a subject has a name of the memory's subject, and one more that is not theirs."""
    names = {_beginning(word) for word in (subject, *parsed.children(subject)) if word.pos == "PROPN"}
    return not names.isdisjoint(whose) and not names <= whose


def _ends(parsed: Parsed, verb: Word, words: Sequence[Word]) -> bool:
    """Whether a clause tells the end or the change of something."""
    if _NEVER_AGAIN.search(" ".join(word.low for word in words)):
        return True
    return _is_change(parsed, verb) and not any(word.low in _DENIES for word in words)


def _beginning(word: Word) -> str:
    return prefix(stem_of(word)) if stem_of(word) not in LIGHT else ""


def _parts(known: Parsed) -> tuple[set[str], set[str]]:
    """Return the beginnings of the words of a memory's subject, without "user", and of what it tells of them."""
    subject = known.child(_root(known), "nsubj", "nsubjpass")
    whose = {_beginning(word) for word in (known.subtree(subject) if subject is not None else ())} - {"user", ""}
    return whose, content_prefixes(known.text) - whose - {"user"}


def _affirms(said: str, memory: str) -> bool:
    """Whether a message asserts all of the memory's values as the new state: "turned vegan", of somebody who is."""
    parsed, known = parse(said, names=False), parse(memory, names=False)
    if parsed is None or known is None:
        return True
    _, value = _parts(known)
    value -= {_beginning(word) for word in known.words if word.head == word.index and word.pos in {"VERB", "AUX"}}
    asserted = {_beginning(word) for word in parsed.words if _is_said_to_be(parsed, word)}
    return bool(value) and value <= asserted


def _is_said_to_be(parsed: Parsed, word: Word) -> bool:
    """Whether a word is part of what its clause asserts as the present state."""
    chain = [word]
    while chain[-1].pos not in {"VERB", "AUX"} and chain[-1].head != chain[-1].index:
        chain.append(parsed.head(chain[-1]))
    verb, first = chain[-1], chain[-2] if len(chain) > 1 else chain[-1]
    if verb.pos not in {"VERB", "AUX"} or (verb.dep == "xcomp" and parsed.head(verb).low == "used"):
        return False
    if any(each.dep in {"nsubj", "nsubjpass"} for each in chain[:-1]) and verb.lemma != "be":
        return False
    beside = [verb, *parsed.children(verb), *(each for one in chain[:-1] for each in parsed.subtree(one))]
    if any(each.low in _DENIES for each in beside) or (verb.lemma == "be" and verb.tag == "VBD"):
        return False
    if verb.lemma in _SAID or (verb.dep == "xcomp" and _is_change(parsed, parsed.head(verb))):
        return False
    if _is_change(parsed, verb):
        return first.dep == "prep" and first.low in {"to", "for", "into"}
    return not any(each.low in {"from", "off", "than", "of"} and each.dep == "prep" for each in chain)


def _is_change(parsed: Parsed, verb: Word) -> bool:
    """Whether a verb, with what belongs to it, means the end or the change of something."""
    beside = (each for each in parsed.children(verb) if each.dep in {"prt", "prep", "advmod", "acomp", "attr", "dobj"})
    called = {verb.lemma, *(f"{verb.lemma} {each.low}" for each in beside)}
    return not called.isdisjoint(_ENDING)

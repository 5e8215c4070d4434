"""Find the memory that a message makes outdated, whatever its words, and return its new wording.

A linear model over the bundled embedder's output for the message and the memory; ``benchmarks.gates.outdated`` fits
it. With another embedder nothing is found, and only ``compare`` detects changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from language.backends import get_embedder
from language.base import EmbedderUnavailable, Vectors
from language.embedders.e5.embedder import BundledEmbedder

from .lexicon import is_kind_of
from .parse import Parsed, Word, parse
from .predicates import CHANGES, ENDS, PARTINGS
from .sentences import Sentence, split_sentences
from .stems import LIGHT, stem_of, words_of
from .values import new_wording, repeats_value
from .words import KIN, listed

WEIGHTS = Path(__file__).with_name("outdated.npz")
LEAST, SURE, SURE_ALONE = -0.35, -0.3, -0.15
"""Minimum scores: for asking the person whether a memory still holds, and for rewording it, with cues and without."""
_NOW, _ENDED, _CONTRASTS, _NOT_SO, _OF_OTHERS = 0.28, 0.3, 0.2, -0.06, -0.13
"""What is added to the score if a passage says that something holds now, ends it, sets another value against it, tells
of what did not happen or only for a time, or tells only of other people."""
_AS_NEAR, _MOST_NEAR = 0.02, 3
"""Memories whose cosine to a passage is that close to the nearest one's are considered too, and how many at most."""
_MOST_SENTENCES, _MOST_WORDS = 3, 40
"""Maximum length of the passages that are scored: a change often takes two sentences."""

_BEGINNING, _LEAST_LETTERS = 4, 3
_SAID = listed("say write type mean")
_WHO_DECIDES = listed("doctor doc gp nurse consultant specialist boss")
"""Whose doing is the person's own change: "the doctor put it up to 40 mg"."""
_POINTING, _PERSONS = listed("it that this"), listed("he she it they")
_CLAUSES = frozenset({"conj", "advcl", "relcl", "ccomp", "parataxis"})
_NAMING = listed("name call title know")
_NOWADAYS = re.compile(
    r"\b(?:now|nowadays|these days|instead|since|from (?:now|here) on|for good|any ?(?:more|longer)|no (?:more|longer)"
    r"|after all|as of)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:if|might|could|would|may|should|maybe|perhaps|thinking of|wants? to|one day|hopes?|nearly|almost|never|asked"
    r"|suggest\w*|propos\w*|we['’]ll see|saying|today|tonight|yesterday|this (?:morning|week|\w+day)|all week|for a)\b"
    r"|\?|['’]d\b",
    re.IGNORECASE,
)
"""What did not happen, or only for a time."""
_MOVES = re.compile(
    r"\b(?:moved|changed|switched|shifted|rescheduled|postponed|pushed|brought|delayed|slipped|turned|raised|cut|rose"
    r"|up to|down to)\b",
    re.IGNORECASE,
)
_TURNS = re.compile(r"\bturn(?:s|ed)\b")
_DID_I_SAY = re.compile(r"\bdid I (?:say|write)\b[^.!?]*\?", re.IGNORECASE)
_NEVER_AGAIN = re.compile(r"\b(?:any ?(?:more|longer)|no (?:more|longer))\b", re.IGNORECASE)
_OVER = re.compile(rf"{_NEVER_AGAIN.pattern}|\b(?:over|g[ai]ven? up|quit)\b", re.IGNORECASE)
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


@dataclass(frozen=True, slots=True)
class Outdated:
    """The position of the outdated memory, and the passage of the message as evidence.

    ``sure``: to be reworded as ``content``; that is None if no correct sentence can be made.
    """

    place: int
    quote: str
    sure: bool
    content: str | None


def outdated(said: str, memories: Sequence[str], vectors: Sequence[Vectors | None] = ()) -> Outdated | None:
    """Return the memory that a message makes outdated: the one with the highest score, if that is at least ``LEAST``.

    ``memories`` are statements in the third person, ``vectors`` those of them that are stored, of shape (384,). Those
    without a content word of the message are not considered. None with another embedder, or while it is unavailable.
    """
    embedder = get_embedder()
    words = _matters(said)
    linked = [place for place, memory in enumerate(memories) if not words.isdisjoint(_matters(memory))]
    if not linked or not isinstance(embedder, BundledEmbedder):
        return None
    weights, passages = _weights(), list(_passages(said))
    stored = ((place, vectors[place]) for place in linked if place < len(vectors))
    by_place = {place: vector for place, vector in stored if vector is not None}
    missing = [place for place in linked if place not in by_place]
    try:
        told, traits = embedder.read_passages(passages)
        if missing:
            embedded = embedder.embed_passages([memories[place] for place in missing])
            by_place |= dict(zip(missing, embedded, strict=True))
    except EmbedderUnavailable:
        return None
    known = np.stack([by_place[place] for place in linked])
    alone = told @ weights["vector"] + traits @ weights["traits"] + weights["bias"]
    near = told @ known.T
    best, highest = None, -np.inf
    for number, passage in enumerate(passages):
        for which in np.flatnonzero(near[number] >= near[number].max() - _AS_NEAR)[:_MOST_NEAR]:
            score = float(alone[number] + (told[number] * weights["both"]) @ known[which])
            memory = memories[linked[which]]
            cues = _cues(passage, memory, at_least=LEAST - score)
            if cues is None or score + cues.score <= highest:
                continue
            if cues.content != "":
                highest = score + cues.score
                is_sure = not cues.is_doubtful and highest >= (SURE if cues.are_plain else SURE_ALONE)
                best = Outdated(linked[which], passage, is_sure, cues.content)
    return best


@dataclass(frozen=True, slots=True)
class _Cues:
    """What the grammar of a passage adds to its score, and what the memory reads then, as ``after`` returns it.

    ``are_plain``: they tell of a change that has happened. ``is_doubtful``: the passage speaks of the memory's words
    only for others, or has a value that may be another's.
    """

    score: float
    are_plain: bool
    is_doubtful: bool
    content: str | None


def _cues(passage: str, memory: str, at_least: float) -> _Cues | None:
    """Return the cues of a passage for a memory; None if their score is below ``at_least`` or one can't be parsed."""
    score = _NOW if _NOWADAYS.search(passage) else 0.0
    if score + _ENDED + _CONTRASTS < at_least:
        return None
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    if parsed is None or known is None:
        return None
    whose, value = _parts(known)
    is_own = is_others = ended = False
    subjects: list[Word | None] = []
    for verb in parsed.words:
        words = _clause(parsed, verb) if verb.pos in {"VERB", "AUX"} and verb.dep not in {"aux", "auxpass"} else []
        told = [word for word in words if _beginning(word) in value]
        subject = parsed.child(verb, "nsubj", "nsubjpass")
        subjects += [subject] if words and (subject is None or _beginning(subject) not in value) else []
        if not told:
            named = subject is not None and not whose.isdisjoint(map(_beginning, parsed.subtree(subject)))
            ended = ended or (named and _ends(parsed, verb, words))
        elif _is_of_another(parsed, verb, whose, value) or (not whose and _are_of_another(parsed, told)):
            is_others = True
        else:
            is_own = is_own or subject is None or not (subject.low in _POINTING or _beginning(subject) in value)
            ended = ended or (_ends(parsed, verb, words) and not any(_is_said_to_be(parsed, word) for word in told))
    who = whose if _is_of_person(known) else set()
    of_others = not is_own and (is_others or _is_about_others(parsed, subjects, who))
    wording = new_wording(memory, passage)
    moves = wording is not None and _MOVES.search(passage) is not None
    is_open = _OPEN.search(_DID_I_SAY.sub("", passage)) is not None and not (moves and _TURNS.search(passage))
    if of_others:
        score = _OF_OTHERS
    elif is_open:
        score += _NOT_SO
    else:
        score += _ENDED * (ended or moves) + _CONTRASTS * (wording is not None and wording.contrasts)
    if score < at_least:
        return None
    is_doubtful = False
    if wording is not None and not wording.contrasts and whose:
        spoken = {_beginning(word) for word in parsed.words}
        is_doubtful = whose.isdisjoint(spoken) and not any(word.low in _PERSONS for word in parsed.words)
    if wording is not None and not is_doubtful:
        around = _verb_at(parsed, wording.at)
        is_doubtful = around is not None and _is_of_another(parsed, around, whose, value)
    content = wording.content if wording is not None else _ended(memory, passage)
    return _Cues(score, score > 0 and not is_open, is_doubtful or of_others, content)


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
    if (not whose and subject.low in {"he", "she"}) or _is_namesake(parsed, subject, whose):
        return True
    told, holder = {_beginning(word) for word in parsed.subtree(subject)}, parsed.child(subject, "poss")
    if holder is not None and _is_person(holder) and _beginning(holder) not in whose:
        return True
    if _beginning(subject) in value or not told.isdisjoint(whose):
        return _is_held_by_another(parsed, subject, whose, value)
    if whose and subject.pos == "PROPN":
        return False  # It may be their name.
    return subject.low not in _WHO_DECIDES and _is_person(subject)


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
    root = next((word for word in known.words if word.head == word.index), known.words[0])
    subject = known.child(root, "nsubj", "nsubjpass")
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
    return _prefix(stem_of(word)) if stem_of(word) not in LIGHT else ""


def _prefix(word: str) -> str:
    """The beginning of a word without a plural's "s": "cat" and "cats" have the same."""
    return word if word.endswith("-in-law") else word[:_BEGINNING].removesuffix("s")


def _parts(known: Parsed) -> tuple[set[str], set[str]]:
    """Return the beginnings of the words of a memory's subject, without "user", and of what it tells of them."""
    root = next((word for word in known.words if word.head == word.index), known.words[0])
    subject = known.child(root, "nsubj", "nsubjpass")
    whose = {_beginning(word) for word in (known.subtree(subject) if subject is not None else ())} - {"user", ""}
    return whose, _matters(known.text) - whose - {"user"}


def _passages(said: str) -> Iterator[str]:
    """Yield the passages of a message to score: a few sentences each."""
    run: list[Sentence] = []
    for each in split_sentences(said):
        length = len(said[run[0].start : each.end].split()) if run else 0
        if run and (len(run) == _MOST_SENTENCES or length > _MOST_WORDS):
            yield said[run[0].start : run[-1].end]
            run = []
        run.append(each)
    if run:
        yield said[run[0].start : run[-1].end]


def after(memory: str, said: str) -> str | None:
    """Return the new wording of a memory that a message makes outdated; None if no correct sentence can be made.

    An empty one if the message may only tell how the memory's state began. With the message's value if it gives one,
    otherwise "no longer" is inserted into a present-tense memory.
    """
    wording = new_wording(memory, said)
    return wording.content if wording is not None else _ended(memory, said)


def _ended(memory: str, said: str) -> str | None:
    is_same = repeats_value(memory, said) and not _OVER.search(said)
    return "" if is_same or _affirms(said, memory) else _no_longer(memory)


def _matters(text: str) -> set[str]:
    """Return the prefixes of the content words, also of parts of compounds."""
    words = {part for word in words_of(text) for part in (word, *(() if "-in-" in word else word.split("-")))}
    return {_prefix(word) for word in words if word not in LIGHT and len(word) >= _LEAST_LETTERS}


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


def _no_longer(memory: str) -> str | None:
    parsed = parse(memory, names=False)
    root = next((word for word in parsed.words if word.head == word.index), None) if parsed is not None else None
    if parsed is None or root is None or len(parsed.sentences) > 1 or root.lemma in _NAMING:
        return None
    if parsed.child(root, "nsubj", "nsubjpass") is None or any(word.low in _DENIES for word in parsed.words):
        return None
    if any(word.head == root.index and word.dep == "conj" and word.pos in {"VERB", "AUX"} for word in parsed.words):
        return None
    helper = parsed.child(root, "aux", "auxpass")
    finite = helper or root
    if finite.tag not in {"VBZ", "VBP"} and finite.low != "can":
        return None
    if helper is not None and helper.lemma not in {"be", "can"}:
        return None
    at = finite.end if finite.lemma == "be" or helper is not None else finite.start
    return f"{memory[:at].rstrip()} no longer {memory[at:].lstrip()}"


@cache
def _weights() -> dict[str, Vectors]:
    with np.load(WEIGHTS, allow_pickle=False) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}

"""What a message tells beside a memory of the user: of somebody else, of long ago, of a gift, or only denied.

Such a passage leaves the memory as it is, however near to it the networks read it.
"""

from __future__ import annotations

import re

from .figures import ORDINALS
from .lexicon import is_kind_of
from .parse import Parsed, Word, parse
from .sentences import split_sentences
from .stems import LIGHT, content_prefixes, prefix, stem_of
from .words import KIN, KIN_PLURALS, listed

_ONESELF = listed("i me mine myself we us ours ourselves you")
_OWNED, _ANYBODY = listed("my our"), listed("he she they who that which")
_NEAREST = listed(
    """baby son daughter twin child kid boy girl boyfriend girlfriend partner wife husband fiancé fiancée spouse dog cat
    landlord landlady boss doctor"""
)
"""Relatives and others whose doings are a change of the user's own life: "our daughter was born"."""
_EXTENT = r"(?:(?:complete|utter|total|absolute|pure|sheer|all|just|what|such|of course|a load of)(?: and \w+)? )*"
_UNTRUE = (
    rf"{_EXTENT}(?:rubbish|nonsense|bollocks|bull(?:shit|crap)?|tosh|hogwash|poppycock|balderdash|lies|a lie|made up"
    r"|untrue|not true|a rumou?r)(?= ?(?:[.,;!…–—]|$))"
)
_DENIES_BEFORE = re.compile(
    rf"\W*(?:(?:(?:that|it|which)(?:['’]s| is)|but|well) )*(?:{_UNTRUE}|none of (?:it|that)(?:['’]s| is| was) true"
    r"|not a word of (?:it|that) is true|there(?:['’]s| is) nothing in (?:it|that))",
    re.IGNORECASE,
)
_DENIES_ITSELF = re.compile(rf", which(?:['’]s| is) {_UNTRUE}", re.IGNORECASE)
_REPORTS = re.compile(
    r"(?<!\bI )(?<!\bwe )\b(?:say(?:s|ing)?|said|tells?|telling|told|wr(?:ites?|ote|itten)|claim\w*|reckon\w*"
    r"|think(?:s|ing)?|thought|believes?|believed)\b|\b(?:hears?|heard|apparently|supposedly|gossip\w*|rumou?r\w*)\b",
    re.IGNORECASE,
)
"""What others say, and may be wrong in: without it, "It's rubbish" is an opinion on what was left."""
_BACK_THERE = re.compile(
    r"(?:['’](?:s|m|re)|\b(?:is|am|are|was|were|went|go(?:es)?|c[ao]mes?|got|again)) back"
    r" (?:up |down |home )?(?:on|in|at|with|to|under|by) (?:(?:the|my|his|her|their|our) )?(?P<where>\w+)",
    re.IGNORECASE,
)
_FEARS = re.compile(
    r"\b(?:afraid|scared|frightened|terrified|nervous|anxious|fears?|phobia|dreads?|panic\w*)\b", re.IGNORECASE
)
_ENDURES = re.compile(
    r"\b(?:survived?|endured?|braved?|(?:got|made it|came|sat|managed to get) (?:all the way )?through)\b",
    re.IGNORECASE,
)
_DONE = listed("finish complete do be end")
_PARTS = frozenset(ORDINALS) | {"half"}
_NO_MORE = re.compile(r"\b(?:no longer|any ?more|never|not|cured|over it|gone)\b|n['’]t\b", re.IGNORECASE)
_GETS = listed("give get buy receive own have win inherit")
_ABLE = re.compile(r"\b(?:learn\w*|learnt|teach\w*|taught|can|could|able|manage[ds]?|lessons?|first)\b", re.IGNORECASE)


def after_denials(said: str) -> str:
    """Return the end of a message, from its last denial of what others say: "He says I quit. Nonsense, I love it." """
    start = 0
    for place, sentence in enumerate(split_sentences(said)):
        if place and _DENIES_BEFORE.match(sentence.text) and _REPORTS.search(said[start : sentence.start]):
            start = sentence.start
        itself = _DENIES_ITSELF.search(sentence.text)
        if itself is not None and _REPORTS.search(said[start : sentence.start + itself.start()]):
            start = sentence.end
    return said[start:]


def without_others(memory: str, passage: str) -> str:
    """Return the sentences of a passage but for those about somebody else than the user, whom a memory is about."""
    known = parse(memory, names=False)
    if known is None or not _is_of_user(known):
        return passage
    own = [each.text for each in split_sentences(passage) if not _is_of_others(each.text, known)]
    return " ".join(own)


def is_back(known: Parsed, passage: str) -> bool:
    """Whether somebody is where a memory says that they are: "she's back on the boiler"."""
    places = {prefix(each["where"].lower()) for each in _BACK_THERE.finditer(passage)}
    if any(word.dep == "neg" for word in known.words):
        return False  # "I'm back on meat."
    return not places.isdisjoint(content_prefixes(known.text))


def is_got(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells that somebody gets a thing, and a memory that they can't use one."""
    root = known.root
    is_ability = root is not None and any(each.lemma in {"can", "ca"} for each in known.children(root))
    if root is None or not is_ability or _ABLE.search(parsed.text) or any(w.lemma == root.lemma for w in parsed.words):
        return False
    things = content_prefixes(known.text)
    gotten = (each for each in parsed.words if each.dep == "dobj" and parsed.head(each).lemma in _GETS)
    return any(prefix(stem_of(each)) in things for each in gotten)


def is_step(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells of numbered parts alone, and a memory what is being done: "chapter nine is done"."""
    root = known.root
    if root is None or root.tag != "VBG" or not content_prefixes(parsed.text).isdisjoint(content_prefixes(known.text)):
        return False
    subjects = [word for word in parsed.words if word.dep in {"nsubj", "nsubjpass"}]
    done = _DONE | {root.lemma}
    return bool(subjects) and all(
        parsed.head(each).lemma in done and _is_numbered(parsed, _thing_told(parsed, each)) for each in subjects
    )


def is_endured(parsed: Parsed, known: Parsed) -> bool:
    """Whether a passage tells that somebody got through something, and a memory that they fear it."""
    is_fear = _FEARS.search(known.text) is not None and _ENDURES.search(parsed.text) is not None
    return is_fear and _FEARS.search(parsed.text) is None and _NO_MORE.search(parsed.text) is None


def _thing_told(parsed: Parsed, subject: Word) -> Word:
    thing = parsed.child(parsed.head(subject), "dobj", "npadvmod") if subject.low in _ONESELF else None
    return thing or subject


def _is_numbered(parsed: Parsed, thing: Word) -> bool:
    """Whether something is one of several, and not the last: "chapter nine", "the first coat", "half the roof"."""
    marks = parsed.children(thing)
    return any(each.low in _PARTS or (each.dep == "nummod" and each.index > thing.index) for each in marks)


def _is_of_user(known: Parsed) -> bool:
    subject = known.child(known.root, "nsubj", "nsubjpass") if known.root is not None else None
    return subject is not None and subject.low == "user"


def _is_of_others(text: str, known: Parsed) -> bool:
    """Whether all clauses of a sentence have others for subjects, and it names nothing of the user's."""
    parsed = parse(text, names=False)
    root = parsed.root if parsed is not None else None
    if parsed is None or root is None or any(word.low in _ONESELF or word.lemma == "move" for word in parsed.words):
        return False
    subjects = [word for word in parsed.words if word.dep in {"nsubj", "nsubjpass"}]
    told = content_prefixes(known.text)
    holders = [parsed.head(word) for word in parsed.words if word.low in _OWNED]
    is_own = any(not _is_other(holder, told) for holder in holders)
    named = [word for word in subjects if word.low not in _ANYBODY]
    of_others = all(_is_somebody(parsed, word, told) or _is_held(parsed, word, told) for word in named)
    return not is_own and bool(named) and of_others and parsed.child(root, "nsubj", "nsubjpass") is not None


def _is_other(word: Word, told: set[str]) -> bool:
    """Whether a word is a relative or person that a memory, whose words are ``told``, does not mention."""
    is_person = word.low in KIN or word.low in KIN_PLURALS or (word.pos == "NOUN" and is_kind_of(word.lemma, "person"))
    is_mentioned = stem_of(word) not in LIGHT and prefix(stem_of(word)) in told
    return is_person and not is_mentioned and {word.low, word.lemma.lower()}.isdisjoint(_NEAREST)


def _is_somebody(parsed: Parsed, word: Word, told: set[str]) -> bool:
    """Whether a subject is such a person: "my neighbour", "someone"; not "the inspector", who may act on the user."""
    marks = [each.low for each in parsed.children(word) if each.dep in {"poss", "det"}]
    is_marked = any(mark in _OWNED or mark in {"a", "an", "some", "another"} for mark in marks)
    return _is_other(word, told) and (is_marked or word.low in KIN or word.low in KIN_PLURALS)


def _is_held(parsed: Parsed, word: Word, told: set[str]) -> bool:
    """Whether something is of such a person: "my brother's twins"."""
    holder = parsed.child(word, "poss")
    return holder is not None and _is_other(holder, told)

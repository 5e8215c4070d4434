"""Corrections that name only the new value, right after the statement: "Actually, he is called Bagel."

Whom a pronoun means, and which value is another now, follows from the statement that was made just before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from language.base import Utterance

from .compare import Saying, compare
from .corrections import corrections_in
from .figures import MONTHS
from .kin import name_gender
from .lexicon import is_place, relation
from .parse import Parsed, Word, parse
from .sentences import split_sentences
from .stems import LIGHT, NUMERALS
from .values import are_alike, new_wording, put, tells_value
from .words import KIN, KIN_GENDER, listed

_REFUTES = (
    r"(?:(?:that|this|it)(?:['’]s| is| was) (?:wrong|incorrect|a mistake)|I was (?:wrong|mistaken)"
    r"|not (?:quite|exactly)|(?:that|this|it)(?:['’]s| is| was)(?: not|n['’]t)(?: \w+)? (?:right|correct|true)"
    r"|(?:yes|yeah|yep|sure|ok|okay|almost|nearly)[\s,.!–—-]+(?:but|only|though|except))"
)
"""What says that the statement before was wrong, and not only that another follows."""
_MARK = (
    rf"(?:{_REFUTES}|actually|sorry|oops|whoops|no,? (?:wait|sorry)|wait|correction|my (?:mistake|bad)|ha(?:ng|ld) on"
    r"|hold on|typo|I (?:mean|misspoke)|(?:yes|yeah|yep|sure|ok|okay)[\s,.!–—-]+(?=make (?:it|that)\b))\b"
)
_PREPOSITIONS = "on|in|at|since|from|to|until|for|with|by|near"
_ALSO = r"(?:(?:oh|no|well|and|but|ah|er+m?|um+|hm+)\b[\s,:!–—-]*)*"
_MARKED_LAST = r"(?:,? (?:sorry|I mean(?:t)?|actually|I misspoke))"
_OPENED = re.compile(
    rf"{_ALSO}(?:{_MARK}[\s,:!.…–—-]*{_ALSO})+(?P<rest>\S.*?){_MARKED_LAST}?[\s.!]*"
    rf"|{_ALSO}(?P<meant>I meant\b.*?)[\s.!]*"
    rf"|{_ALSO}no[\s,.!:–—-]+(?P<denied>(?:(?:it|that)(?:['’]s| is| was) )?(?:(?:{_PREPOSITIONS}) )?"
    rf"(?:(?-i:[A-Z])[\w'’-]+|\d[\d:.]*|{'|'.join(NUMERALS)})|(?:he|she|it|they)(?:['’]\w+)? [^,;.!]+)"
    r"(?:[\s.,!;–—-]+(?:i was |i['’]m )?(?:(?:just|only) )?(?:joking|kidding))?[\s.!]*"
    rf"|(?P<before>.+?){_MARKED_LAST}[\s.!]*",
    re.IGNORECASE,
)
_INSIDE = re.compile(
    r"^(?P<who>(?:it|that|he|she|they)(?:['’](?:s|re)| is| are| was| were)) (?:actually|really|in fact),? ",
    re.IGNORECASE,
)
_REFUTED = re.compile(rf"{_ALSO}{_REFUTES}\b", re.IGNORECASE)
_MARKED = re.compile(rf"^{_ALSO}{_MARK}", re.IGNORECASE)
_ARTICLE = r"(?:(?:the|an?|my|his|her|their|our)\s+)?"
_BARE = re.compile(
    r"(?P<by>I mean[t]?(?: to say| to write)?|make (?:it|that)|should be"
    r"|(?:it|that|this)(?:['’]s| is| was| should be))?"
    rf"\s*{_ARTICLE}(?P<now>[\w'’:.-]+(?:\s+[\w'’:.-]+){{0,2}})",
    re.IGNORECASE,
)
_THERE = re.compile(rf"(?P<prep>{_PREPOSITIONS}) (?P<now>(?:the )?[\w'’-]+(?: [\w'’-]+)?)", re.IGNORECASE)
_CALLS = re.compile(
    r"(?:(?:he|she|it|they)(?:['’](?:s|re)| is| are| was| were)(?: actually| really)? (?:called|named)"
    r"|(?:the|my|his|her|its|their) (?P<of>[\w-]+)(?:['’]s| is| was)(?: actually| really)? (?:called|named)"
    r"|(?:the|his|her|its|their) name(?:['’]s| is| was)(?: actually| really)?) (?P<now>[\w'’-]+(?: [\w'’-]+){0,2})",
    re.IGNORECASE,
)
_SPELT = re.compile(r",? with (?:an? )?(?:capital |double |silent )?[a-z]['’]?s?$", re.IGNORECASE)
"""How a name is spelt: "Bobby with a y"."""
_CALLED = re.compile(r"\b(?:called|named|name is) (?P<was>[^\W\d_][\w'’-]*(?: [A-Z][\w'’-]*)*)")
_OF_THEM = re.compile(r"(?P<who>he|she|it|they)(?P<short>['’](?:s|re))?(?= )", re.IGNORECASE)
_NOW = re.compile(r"(?: (?:now|actually|really|these days|by the way))+$", re.IGNORECASE)
_HAS = re.compile(r"\s(?:got|had|been)\b")
_GENDER = {"he": "m", "she": "f"}
_KINDS = {"PROPN": "name", "NOUN": "name", "NUM": "number", "ADJ": "quality"}
_NO_VALUE = LIGHT | listed("other another one something else nothing it that this him her them me you fine sure right")
_MOST_WORDS = 14
MESSAGES_BEFORE = 2
"""How many of the person's messages before a correction may have said what it corrects."""
_SIBLINGS = frozenset({"sibling", "class", "opposite", "kind"})
_ORDERS = frozenset({"make", "should", "i"})
"""First words of what introduces any noun as the one that was meant; after "it's" only a like one is."""


_IN = listed("in near")
_Name = tuple[Word, Word]
"""The first and last word of a name."""


@dataclass(frozen=True, slots=True)
class SecondTry:
    """A message that says something just said again, otherwise. ``rest`` is without what introduces it.

    ``denies``: it is a no with a name or number, which may answer a question as well. ``refutes``: it says that this
    was wrong.
    """

    said: str
    rest: str
    denies: bool = False
    refutes: bool = False

    def apply_to(self, statement: str) -> str | None:
        """Return the statement as it is meant now; None if the message does not correct it, or it is unclear how."""
        named, called = _CALLS.fullmatch(self.rest), _CALLED.search(statement)
        if named is not None and (named["of"] is None or re.search(rf"\b{named['of']}\b", statement, re.IGNORECASE)):
            return _with_name(statement, called, named["now"]) if called is not None else None
        return self._said_of_subject(statement) or self._with_value(statement)

    def _said_of_subject(self, statement: str) -> str | None:
        """The clause with the statement's subject for its pronoun, if that takes the statement's place."""
        told, parsed = _OF_THEM.match(self.rest), parse(statement, names=False)
        subject = _subject(parsed) if parsed is not None else None
        if parsed is None or subject is None or not (told is None or _agree(told["who"], subject)):
            return None
        if told is None and (subject.pos != "PROPN" or not self.rest.startswith(f"{subject.text} ")):
            return None
        words = parsed.subtree(subject)
        clause = _NOW.sub("", self.rest[told.end() if told else len(subject.text) :])
        if told is not None and told["short"]:
            helper = "are" if told["short"].endswith("re") else "has" if _HAS.match(clause) else "is"
            clause = f" {helper}{clause}"
        content = f"{statement[words[0].start : words[-1].end]}{clause}."
        if (right := _with_number(parsed, content)) is not None:
            return right
        verdict = compare(Saying(statement), Saying(content, self.said))
        is_other = verdict in {"replaces", "contradicts"} or (self.refutes and _have_same_verb(parsed, content))
        return content if is_other and _differ_in_value(parsed, content) else None

    def _with_value(self, statement: str) -> str | None:
        """The statement with the only value of its kind replaced."""
        found = _BARE.fullmatch(self.rest)
        wording = new_wording(statement, self.rest) if found is not None else None
        if found is None or wording is not None:
            return wording.content if wording is not None else None
        if (there := _THERE.fullmatch(self.rest)) is not None:
            return _with_object(statement, there["prep"].lower(), there["now"])
        now, by = found["now"], (found["by"] or "").lower().split(" ")[0]
        parsed = None if _is_no_value(now) else parse(statement, names=False)
        if parsed is None:
            return None
        names = _names(parsed)
        if now[:1].isupper() or (by in _ORDERS and len(names) == 1):
            is_called = not by and not self.denies and bool(name_gender(now))
            if self.denies and _differ_in_kind(parsed, names, now):
                return None
            meant = _names_meant(parsed, names, now, is_called=is_called)
            return _put_between(statement, *meant[0], now) if len(meant) == 1 else None
        subject = _subject(parsed)
        own = {word.index for word in parsed.subtree(subject)} if subject is not None else set()
        values = [word for word in parsed.words if word.dep != "compound" and word.index not in own]
        nouns = [word for word in values if word.pos == "NOUN"]
        said = parse(now.lower(), names=False)
        lemma = said.words[-1].lemma if said is not None else now.lower()
        told = [*nouns, *(word for word in values if word.pos == "ADJ" and word.dep in {"acomp", "attr"})]
        alike = [word for word in told if relation(word.lemma, lemma) in _SIBLINGS]
        old = alike or (nouns if by in _ORDERS else [])
        return put(statement, old[0].text, now) if len(old) == 1 else None


def has_correction(said: str) -> bool:
    """Whether a message has the words of a correction, whatever it corrects."""
    return second_try(said) is not None or any(corrections_in(said))


def refutes(said: str) -> bool:
    """Whether a message says that something was wrong, whatever it is."""
    return _REFUTED.match(said.strip()) is not None


def second_try(said: str) -> SecondTry | None:
    """Return what a message says again after a word of correction; None if it is anything else.

    It is one short sentence that names no old value: "Sorry, I meant Bagel.", "No wait, she's nine."
    """
    sentences = split_sentences(said)
    if (
        "?" in said
        or not sentences
        or len(said.split()) > _MOST_WORDS
        or re.search(r"\bnot\b|n['’]t\b", _MARKED.sub("", said))
    ):
        return None
    found = _OPENED.fullmatch(_INSIDE.sub(r"actually, \g<who> ", " ".join(each.text for each in sentences).strip()))
    if found is None:
        return None
    rest = found["rest"] or found["meant"] or found["denied"] or found["before"]
    return SecondTry(said, _SPELT.sub("", rest.strip()), denies=found["denied"] is not None, refutes=refutes(said))


def answers_a_question(messages: Sequence[Utterance], message: Utterance) -> bool:
    """Whether the last thing that was said before a message asked something."""
    before = [each.content.rstrip() for each in messages if each.index < message.index]
    return before[-1:] != [] and before[-1].endswith("?")


def _with_name(statement: str, called: re.Match[str], now: str) -> str | None:
    if _is_no_value(now) or called["was"].lower() == now.lower():
        return None
    now = now.title() if now.islower() and called["was"][:1].isupper() else now
    return statement[: called.start("was")] + now + statement[called.end("was") :]


def _is_no_value(now: str) -> bool:
    """Whether words can't stand for a name or a noun: pronouns, days, numbers."""
    return not _NO_VALUE.isdisjoint(now.lower().split()) or tells_value(now)


def _with_object(statement: str, preposition: str, now: str) -> str | None:
    """Return a statement with another object of its only phrase with a preposition: "in Faro", of "lives in Porto"."""
    parsed = parse(statement, names=False)
    found = [word for word in parsed.words if word.low == preposition and word.dep == "prep"] if parsed else []
    thing = parsed.child(found[0], "pobj") if parsed is not None and len(found) == 1 else None
    if parsed is None or thing is None or _is_no_value(now):
        return None
    words = parsed.subtree(thing)
    return _put_between(statement, words[0], words[-1], now) if thing.pos == "PROPN" and now[:1].isupper() else None


def _subject(parsed: Parsed) -> Word | None:
    root = parsed.root
    return parsed.child(root, "nsubj", "nsubjpass") if root is not None else None


def _agree(pronoun: str, subject: Word) -> bool:
    if subject.low == "user":
        return False
    pronoun, gender = pronoun.lower(), KIN_GENDER.get(KIN.get(subject.low, "")) or name_gender(subject.text) or None
    return (pronoun == "they") == (subject.tag in {"NNS", "NNPS"}) and (
        gender is None or pronoun not in {"he", "she", "it"} or _GENDER.get(pronoun) == gender
    )


def _names(parsed: Parsed) -> list[_Name]:
    found: list[_Name] = []
    for word in parsed.words:
        is_date = tells_value(word.text) or (word.low in MONTHS and word.dep == "pobj")
        if word.pos == "PROPN" and word.low != "user" and not is_date:
            is_more = found and found[-1][1].index == word.index - 1
            found[-1:] = [(found[-1][0], word)] if is_more else [*found[-1:], (word, word)]
    return found


def _differ_in_kind(parsed: Parsed, names: Sequence[_Name], now: str) -> bool:
    """Whether a new name is of another kind than those there are, as far as both are known."""
    kinds = {_kind_of_name(now), *(_kind_of_name(last.text, last, parsed) for _, last in names)}
    return len(kinds - {""}) > 1


def _names_meant(parsed: Parsed, names: Sequence[_Name], now: str, *, is_called: bool) -> Sequence[_Name]:
    """The names that a new one may stand for: the only one, ones that it spells otherwise, or of its kind.

    ``is_called``: it may be somebody who is called, as in "Sorry, Maria.".
    """
    alike = [(first, last) for first, last in names if are_alike(parsed.text[first.start : last.end], now)]
    if is_called or len(names) == 1 or alike:
        return alike if is_called else alike or names
    kind = _kind_of_name(now)
    return [each for each in names if kind and kind == _kind_of_name(each[1].text, each[1], parsed)]


def _kind_of_name(name: str, word: Word | None = None, parsed: Parsed | None = None) -> str:
    """Whether a name is a "place" or a "person", by where it stands and by itself; empty if unknown or either."""
    if word is not None and parsed is not None and word.dep == "pobj" and parsed.head(word).low in _IN:
        return "place"
    gender, is_there = name_gender(name), is_place(name)
    return "" if bool(gender) == is_there else "person" if gender else "place"


def _put_between(statement: str, first: Word, last: Word, now: str) -> str | None:
    now = now.title() if now.islower() else now
    content = statement[: first.start] + now + statement[last.end :]
    return content if content.lower() != statement.lower() else None


def _have_same_verb(old: Parsed, content: str) -> bool:
    new = parse(content, names=False)
    roots = [each.root.lemma for each in (old, new) if each is not None and each.root is not None]
    return len(roots) > 1 and roots[0] == roots[1]


def _with_number(old: Parsed, content: str) -> str | None:
    """A statement with the only number of a sentence that says its beginning otherwise: "died in 1998"."""
    new = parse(content, names=False)
    one, other = ([word for word in each.words if word.pos != "PUNCT"] if each else [] for each in (old, new))
    differ = [pair for pair in zip(one, other, strict=False) if pair[0].low != pair[1].low]
    if len(differ) != 1 or len(other) > len(one) or {word.pos for word in differ[0]} != {"NUM"}:
        return None
    return f"{old.text[: differ[0][0].start]}{differ[0][1].text}{old.text[differ[0][0].end :]}"


def _differ_in_value(old: Parsed, content: str) -> bool:
    """Whether two sentences have the same words but for one place, with values of one kind there."""
    new = parse(content, names=False)
    if new is None:
        return False
    one, other = ([word for word in each.words if word.pos != "PUNCT"] for each in (old, new))
    start = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0].low != pair[1].low), 0)
    while one[start:] and other[start:] and one[-1].low == other[-1].low:
        one, other = one[:-1], other[:-1]
    if not one[start:] or not other[start:]:
        return False
    return (kind := _KINDS.get(one[-1].pos)) is not None and kind == _KINDS.get(other[-1].pos)

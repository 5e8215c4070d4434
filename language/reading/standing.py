"""Whether a statement stands alone: a score of what statements share that a reader can't place.

They say little, tell of one moment, name "the spectacles" of a sentence before, or are a part of a longer sentence.
The weights are of a logistic regression on 816 statements read from 38 conversations, 190 of which judges found not
understandable alone, false or garbled (area under the curve 0.75, each set of conversations left out in turn). What is
more likely not to stand alone is dropped: of 178 notes of a later set 12 of 65 of these, and 4 of 113 right ones.
"""

from __future__ import annotations

from collections.abc import Mapping

from language.reading.clauses import Clause
from language.reading.filters import is_habitual
from language.reading.parse import Parsed, Word

_CONSTANT = -0.61
_WEIGHTS: Mapping[str, float] = {
    "says little": 0.72, "definite": 0.98, "one moment": 0.71, "later": 0.80, "without object": 0.47, "we": 0.63,
    "of a vital kind": -0.96, "dated or placed": -0.66, "of a thing": -0.62, "share of the sentence": -0.72,
}  # fmt: skip
_MOST_DOUBT = 0.0
_VITAL = frozenset({"health", "birth", "death", "occupation", "relationship"})
"""The kinds of statements that are understood by themselves."""
_DATED_OR_PLACED = frozenset({"GPE", "LOC", "DATE", "FAC", "ORG", "NORP", "EVENT"})
_CONTENT = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "VERB"})
_AUXILIARIES = frozenset({"aux", "auxpass"})
_FEW = 2
"""The most content words of a predicate that says little."""
_LATE = 4
"""The number of sentences before one that is late in its message."""
_POINTING = frozenset({"the", "that", "this", "those", "these"})
_ARGUMENTS = frozenset({"dobj", "attr", "nsubj", "nsubjpass", "dative"})
_MODIFIERS = frozenset({"prep", "relcl", "compound", "amod", "poss", "nummod", "acl", "appos", "nmod"})
_DETERMINED = frozenset({"det", "poss", "nummod"})
_COMPLEMENTS = ("dobj", "attr", "acomp", "prep", "xcomp", "ccomp", "oprd", "agent", "advcl")


def stands_alone(clause: Clause, kind: str, *, of_user: bool, of_thing: bool) -> bool:
    """Whether the statement of a clause can be understood and trusted without the sentences around it.

    ``kind`` is the statement's; ``of_user`` and ``of_thing``: its subject is the user, or nobody.
    """
    parsed, subject, head = clause.parsed, clause.subject, clause.head
    own = {each.index for each in parsed.subtree(subject)} if subject is not None else set()
    words = clause.words()
    said = [each for each in words if each.index not in own and each.index != head.index]
    content = [each for each in said if each.pos in _CONTENT and each.dep not in _AUXILIARIES]
    placed = any(each.entity in _DATED_OR_PLACED or (each.pos == "PROPN" and each.dep == "pobj") for each in said)
    habit = _is_habit(clause)
    first, last = next(each for each in parsed.sentences if each[0] <= head.index < each[1])
    found: Mapping[str, float] = {
        "says little": not kind and not placed and not habit and len(content) <= _FEW,
        "definite": not kind and any(each.dep in _ARGUMENTS and _is_definite(parsed, each) for each in said),
        "one moment": of_user and _is_past(clause),
        "later": min(parsed.sentences.index((first, last)), _LATE) / _LATE,
        "without object": not habit and not clause.children(*_COMPLEMENTS),
        "we": subject is not None and subject.low == "we" and not clause.children("dobj"),
        "of a vital kind": kind in _VITAL or _tells_what_they_are(clause),
        "dated or placed": placed,
        "of a thing": of_thing,
        "share of the sentence": 1.0 if _is_joined_by_comma(clause) else len(words) / (last - first),
    }
    return _CONSTANT + sum(_WEIGHTS[each] * value for each, value in found.items()) <= _MOST_DOUBT


def _is_definite(parsed: Parsed, word: Word) -> bool:
    """Whether a noun points to what was said before: "the spectacles", but not "the shop in Leeds"."""
    own = parsed.children(word)
    points = word.pos == "NOUN" and any(each.low in _POINTING for each in own)
    return points and not any(each.dep in _MODIFIERS for each in own)


def _is_past(clause: Clause) -> bool:
    """Whether a clause is in the simple past or a form of it, and not in the perfect."""
    helpers = clause.children("aux", "auxpass")
    is_past = clause.head.tag == "VBD" or any(each.tag == "VBD" for each in helpers)
    return is_past and all(each.lemma != "have" for each in helpers)


def _is_joined_by_comma(clause: Clause) -> bool:
    """Whether a clause with its own subject "I" is one of several that only commas join: a list about oneself."""
    before = min(clause.indices) - 1
    return _says_i(clause) and (before < 0 or clause.parsed.words[before].text in {",", "."})


def _says_i(clause: Clause) -> bool:
    return clause.subject is not None and clause.subject.low == "i"


def _is_habit(clause: Clause) -> bool:
    """Whether it tells what somebody does as a rule: "makes kites", "kept bees"; or what "I am"."""
    finite = [clause.head, *clause.children("aux", "auxpass")]
    is_present = any(each.tag in {"VBZ", "VBP"} for each in finite) and clause.head.tag not in {"VBG", "VBN"}
    if clause.head.lemma in {"be", "have"}:
        return is_present and _says_i(clause) and bool(clause.children("acomp"))
    taken_in = (each for prt in clause.children("prt") for each in clause.parsed.children(prt) if each.dep == "pobj")
    several = (each for each in (*clause.children("dobj"), *taken_in) if each.tag == "NNS")
    is_general = any(not _DETERMINED & {one.dep for one in clause.parsed.children(each)} for each in several)
    return is_present or is_general or is_habitual(clause) or "everywhere" in clause.lower_words()


def _tells_what_they_are(clause: Clause) -> bool:
    """Whether it says how old, who or what trade somebody is: "is 31", "is Alec", "trained as a pharmacist"."""
    is_named = clause.head.lemma == "be" and any(each.pos in {"NUM", "PROPN"} for each in clause.children("attr"))
    return is_named or any(each.low == "as" for each in clause.children("prep"))

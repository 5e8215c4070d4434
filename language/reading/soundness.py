"""Check that a generated statement is one grammatical sentence, by parsing it again."""

from __future__ import annotations

import re

from language.reading.clauses import DOUBT, SAY, SUBJECTS, is_finite, is_verb, own_subject
from language.reading.parse import Parsed, Word, parse
from language.reading.words import listed

_QUOTED = re.compile(r'"[^"]*"')
_NEEDS_OBJECT = listed(
    """have like love hate want make take bring need buy wear prefer enjoy own use collect get give keep lose find put
    support adore dislike teach do"""
)
_COMPLEMENTS = frozenset({"attr", "acomp", "prep", "advmod", "agent", "xcomp", "ccomp", "oprd", "npadvmod", "dobj",
                          "advcl", "pcomp", "prt", "dative", "neg", "cc", "conj"})  # fmt: skip
_OBJECTS = _COMPLEMENTS - {"advmod", "neg", "npadvmod", "cc", "conj"} | {"nsubjpass", "auxpass"}
_PREDICATE_NOUNS = listed(
    """vegan vegetarian pescatarian coeliac celiac diabetic asthmatic epileptic dyslexic autistic pregnant widow widower
    orphan bisexual gay lesbian lactose muslim catholic buddhist hindu jewish deaf blind mother father"""
)
_CLAUSE_TAKING = SAY | DOUBT | listed("know learn remember see love like show prove mean decide find notice discover")
_GAPS = frozenset({"dobj", "ccomp", "xcomp", "acomp", "attr"})


def malformed_reason(statement: str) -> str:  # noqa: PLR0911
    """Why a statement is not a well-formed sentence, in a few words; empty if it is."""
    parsed = parse(_QUOTED.sub("Thursday", statement), names=False)
    if parsed is None:
        return "not parsed"
    if len(parsed.sentences) != 1:
        return "broken grammar"
    first, last = parsed.sentences[0]
    root = next(word for word in parsed.words[first:last] if word.head == word.index)
    if not is_verb(root) or not is_finite(parsed, root) or own_subject(parsed, root) is None:
        return "no sentence"
    if parsed.words[first].tag in {"VBD", "VBN"}:
        return "no sentence"  # "Married the year after, at the chapel."
    if _lacks_complement(parsed, root):
        return "says too little"
    denied = (
        each for each in parsed.words if each.dep == "appos" and "no" in {one.low for one in parsed.children(each)}
    )
    if any(denied) or any(_runs_on(parsed, word, root) for word in parsed.words if is_verb(word) and word is not root):
        return "run-on"
    return ""


def _lacks_complement(parsed: Parsed, verb: Word) -> bool:
    deps = {each.dep for each in parsed.children(verb)}
    if verb.lemma == "be":
        attributes = [each for each in parsed.children(verb) if each.dep == "attr"]
        subject = own_subject(parsed, verb)
        person = subject is not None and (subject.low == "user" or subject.pos == "PROPN")
        bare = [
            each
            for each in attributes
            if person and each.tag == "NN" and not parsed.children(each) and each.low not in _PREDICATE_NOUNS
        ]
        return not deps & _COMPLEMENTS or (bool(bare) and len(deps - {"nsubj", "punct", "attr"}) == 0)
    if verb.lemma == "have" and "acomp" in deps and not deps & {"dobj", "ccomp", "xcomp"}:
        return True
    passive = "auxpass" in deps or "nsubjpass" in deps
    return verb.lemma in _NEEDS_OBJECT and not passive and not deps & _OBJECTS


def _runs_on(parsed: Parsed, verb: Word, root: Word) -> bool:  # noqa: PLR0911
    """Whether a second clause follows without a conjunction: "got the brains the user left school"."""
    subject = own_subject(parsed, verb)
    if not is_finite(parsed, verb):
        return False
    if subject is None:  # "Is called Wouter, is correct man."
        alone = verb.dep in {"conj", "ccomp", "dep"} and verb.lemma == "be" and parsed.head(verb) is root
        return alone and not any(each.dep == "cc" for each in (*parsed.children(root), *parsed.children(verb)))
    children = parsed.children(verb)
    joins = {"WDT", "WP", "WP$", "WRB"}
    if any(each.dep in {"mark", "cc"} or each.tag in joins or each.low == "that" for each in parsed.subtree(verb)):
        return False
    if verb.dep == "relcl":
        filled = any(each.dep in _GAPS for each in children)
        pairs = [each for each in children if each.dep == "prep"]
        dangling = any(not parsed.children(each) for each in pairs)
        return (filled or bool(pairs)) and not dangling
    if verb.dep in {"ccomp", "parataxis"}:
        head = parsed.head(verb)
        return head.lemma not in _CLAUSE_TAKING or verb.dep == "parataxis"
    if verb.dep == "conj":
        head = parsed.head(verb)
        joined = any(each.dep == "cc" or each.text in {";", ","} for each in parsed.children(head))
        return is_verb(head) and not joined
    return verb.dep in SUBJECTS and verb is not root and not any(each.dep == "mark" for each in children)

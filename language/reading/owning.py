"""Whose a thing is that a clause is about, and whom it affects."""

from __future__ import annotations

from collections.abc import Mapping

from language.reading.clauses import Clause
from language.reading.kin import name_gender
from language.reading.lexicon import is_kind_of, is_word
from language.reading.persons import Person
from language.reading.words import KIN, listed

Referents = Mapping[int, Person | None]
INDEFINITES = listed(
    """anybody nobody everybody anyone everyone everything everywhere anything nothing twice always never"""
)
_FAVOURITE = frozenset({"favourite", "favorite", "favourites", "favorites"})
_THINGS, _PRESENT = frozenset({"NN", "NNS", "VBG"}), frozenset({"VBZ", "VBP"})
_SINGLED_OUT = frozenset({"only", "first", "last"})


def states_kinship(clause: Clause, referents: Referents, person: Person | None) -> bool:
    """Whether a predicate noun is possessed by a person: "my brother Tom is her son"."""
    holders = [clause.parsed.child(each, "poss") for each in clause.children("attr")]
    return any(each is not None and referents.get(each.index) is person for each in holders)


def owner_of_subject(clause: Clause, referents: Referents) -> Person | None:
    """The owner of the thing a clause is about: "her handwriting was atrocious", "green is my favourite colour"."""
    subject = clause.subject
    liked = (word for each in clause.children("attr") for word in clause.parsed.subtree(each) if word.low in _FAVOURITE)
    for noun in (*([subject] if subject is not None else []), *clause.children("attr"), *liked):
        holder = clause.parsed.child(noun, "poss")
        while holder is not None and holder.index not in referents and clause.parsed.child(holder, "poss") is not None:
            holder = clause.parsed.child(holder, "poss")
        if holder is None or (
            noun is not subject
            and noun.low not in KIN
            and not _FAVOURITE & {each.low for each in clause.parsed.subtree(noun)}
        ):
            continue
        owner = referents.get(holder.index)
        if owner is not None:
            return owner
    return _doer(clause, referents)


def _doer(clause: Clause, referents: Referents) -> Person | None:
    """Who did something with the thing a clause is about: "The last thing she said was …", "The house he built is …".

    The user only if it is singled out: "The only thing I can cook is rice."
    """
    parsed, subject = clause.parsed, clause.subject
    relative = parsed.child(subject, "relcl") if subject is not None else None
    does = parsed.child(relative, "nsubj", "nsubjpass") if relative is not None else None
    doer = referents.get(does.index) if does is not None else None
    if subject is None or doer is None or doer.role == "other":
        return None
    is_single = any(each.tag == "JJS" or each.low in _SINGLED_OUT for each in parsed.children(subject))
    return doer if doer.role == "legacy" or is_single else None


def affects_user(clause: Clause) -> bool:
    """Whether a kind of things does something to the user as a rule: "Cats make me sneeze."."""
    subject, head = clause.subject, clause.head
    if subject is None or head.tag not in _PRESENT or head.lemma == "call" or clause.children("neg", "aux"):
        return False
    is_word_first = subject.tag == "NNP" and is_word(subject.low) and not name_gender(subject.text)
    is_people = subject.low in INDEFINITES or is_kind_of(subject.lemma, "person")
    # "The film makes me cry" is of one film.
    is_one = any(each.dep in {"det", "poss"} for each in clause.parsed.children(subject))
    if not (subject.tag in _THINGS or is_word_first) or is_people or is_one:
        return False
    inner = (each for verb in clause.children("ccomp") for each in clause.parsed.children(verb))
    objects = [*clause.children("dobj", "dative"), *(each for each in inner if each.dep == "nsubj")]
    return any(each.low == "me" for each in objects)

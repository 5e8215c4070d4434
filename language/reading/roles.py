"""Whether two statements have the same words in exchanged roles: "Jana taught the user", "the user taught Jana"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .alignment import Alignment
from .content import LIGHT, Content
from .parse import Parsed, Word
from .words import listed

_MUTUAL = listed("friend cousin sibling partner spouse neighbour colleague twin flatmate")
_NEGATIVE_DETERMINERS = ("no", "without", "except")
_LASTING = frozenset({"marry", "retire", "divorce"})
_STEM = 6
_PRONOUNS = listed("he she they it who that which him her them himself herself themselves")


def are_roles_swapped(pair: Alignment) -> bool:
    """Whether agent and patient, or the two sides of a comparison, are swapped."""
    one, other = pair.first, pair.second
    verbs = {word.lemma for word in one.content_words if word.part == "verb"}
    verbs &= {word.lemma for word in other.content_words if word.part == "verb"}
    if pair.is_complete and "user" in one.lower_tokens and one.kin_terms and one.kin_terms.isdisjoint(_MUTUAL):
        subjects = {one.subject, other.subject}
        whose = [(_possessors(one, kin), _possessors(other, kin)) for kin in one.kin_terms & other.kin_terms]
        if any(its and others and its.isdisjoint(others) for its, others in whose):
            return True
        if (
            len(subjects) == 2
            and "user" in subjects
            and not subjects.isdisjoint(one.names | other.names)
            and subjects <= (one.lower_tokens & other.lower_tokens)
        ):
            return True
    if pair.is_complete and not pair.is_monotonic and {one.verb, other.verb}.isdisjoint({"be", "have"}):
        verbs |= {""}
    return (
        any(_swap_agents(one, other, each) for each in verbs)
        or _deny_other_verbs(one, other)
        or _go_back(one, other)
        or (max(pair.unaligned_weights) <= 1 and _swap_sides(one, other))
    )


def _deny_other_verbs(one: Content, other: Content) -> bool:
    """Whether one denies an action that the other affirms, and the other way round another."""
    denied, its = _denied_verbs(one), _denied_verbs(other)
    return bool(denied and its) and (
        any(other.contains(verb) for verb in denied - its) or any(one.contains(verb) for verb in its - denied)
    )


def _go_back(one: Content, other: Content) -> bool:
    """Whether one begins where the other ends: "from banking into teaching", "left teaching for banking"."""
    (begun, ended), (its_begun, its_ended) = _begin_and_end(one), _begin_and_end(other)
    return bool(begun & its_ended - its_begun or its_begun & ended - begun)


def _begin_and_end(statement: Content) -> tuple[frozenset[str], frozenset[str]]:
    """The first letters of the words for what is left, and for where somebody goes or what they become."""
    parsed = statement.parsed
    begun: set[str] = set()
    ended: set[str] = set()
    for word in parsed.words:
        head, stem = parsed.head(word), word.low[:_STEM]
        if word.dep in {"pobj", "pcomp"}:
            is_left_for = head.low == "for" and parsed.head(head).lemma == "leave"
            (begun if head.low == "from" else ended if head.low in {"to", "into"} or is_left_for else set()).add(stem)
        elif head.lemma == "leave" and word.dep in {"dobj", "xcomp"}:
            begun.add(stem)
        elif head.lemma == "become" and word.dep in {"attr", "acomp"}:
            ended.add(stem)
    return frozenset(begun), frozenset(ended)


def _swap_sides(one: Content, other: Content) -> bool:
    """Whether the two sides of a comparison, negation or description are swapped."""
    comparing = ["than", "not", "but", "because"]
    if any(_swap_clauses(one, other, low) for low in ("before", "after")):
        return True
    if "prefer" in one.text and "prefer" in other.text:
        comparing += ["to", "over"]
    followed = [(one.content_word_after(low), other.content_word_after(low)) for low in comparing]
    followed += [(one.token_after(low), other.token_after(low)) for low in _NEGATIVE_DETERMINERS]
    for first, second in followed:
        if not first or not second or first == second or {first, second} & LIGHT:
            continue
        if other.contains(first) and one.contains(second):
            return True
    adjectives, others_adjectives = _adjectives_by_noun(one), _adjectives_by_noun(other)
    for noun, its in adjectives.items():
        only, others = its - others_adjectives.get(noun, its), others_adjectives.get(noun, its) - its
        if only and others and only & other.lower_tokens and others & one.lower_tokens:
            return True
    return False


def _swap_clauses(one: Content, other: Content, low: str) -> bool:
    """Whether what comes before, or after, is the main clause of the other: "a nurse before she was a teacher"."""
    (within, without), (its, outside) = _words_beside(one, low), _words_beside(other, low)
    return bool((within - its) & outside and (its - within) & without)


def _swap_agents(one: Content, other: Content, verb: str) -> bool:
    first, second = _subjects_of(one, verb), _subjects_of(other, verb)
    if first is None or second is None:
        return False
    if first[0] != second[0]:
        return bool(first[1] & second[1]) and verb not in _LASTING
    if first[1] & second[1] or (first[1] | second[1]) & _PRONOUNS:
        return False
    return bool(first[1] & other.lower_tokens) and bool(second[1] & one.lower_tokens)


def _words_beside(statement: Content, low: str) -> tuple[frozenset[str], frozenset[str]]:
    """The nouns and verbs of the clause or phrase that a word such as "before" begins, and all others."""
    marker = next((word for word in statement.parsed.words if word.low == low), None)
    if marker is None:
        return frozenset(), frozenset()
    head = marker if marker.dep != "mark" else statement.parsed.head(marker)
    inside = {word.index for word in statement.parsed.subtree(head)}
    words = [token for token in statement.content_words if token.part in {"noun", "verb"}]
    within = frozenset(token.lemma for token in words if token.index in inside)
    return within, frozenset(token.lemma for token in words if token.index not in inside)


def _denied_verbs(statement: Content) -> frozenset[str]:
    heads = (statement.parsed.head(word) for word in statement.parsed.words if word.dep == "neg")
    return frozenset(head.lemma.lower() for head in heads if head.pos == "VERB")


def _possessors(statement: Content, noun: str) -> frozenset[str]:
    """The possessors of a noun: "ingrid" for "boss" in "Ingrid's boss"."""
    return frozenset(re.findall(rf"(\w+)'s (?:\w+ )?{re.escape(noun)}\b", statement.normalised.lower()))


def _subjects_of(statement: Content, lemma: str = "") -> tuple[bool, frozenset[str]] | None:
    """A verb's subject with conjuncts and appositions, and whether it is the patient. Default: the main verb."""
    parsed = statement.parsed
    for word in parsed.words:
        is_sought = word.lemma.lower() == lemma if lemma else word == statement.root
        if not is_sought or word.pos not in {"VERB", "AUX"}:
            continue
        agent = parsed.child(word, "agent")
        done_to = agent is None and parsed.child(word, "auxpass", "nsubjpass") is not None
        found = parsed.child(agent or word, *(("pobj",) if agent is not None else ("nsubj", "nsubjpass")))
        return (done_to, frozenset(_conjuncts(parsed, found))) if found is not None else None
    return None


def _conjuncts(parsed: Parsed, word: Word) -> Iterator[str]:
    yield word.low
    for each in parsed.children(word):
        if each.dep in {"appos", "compound", "conj", "flat"}:
            yield from _conjuncts(parsed, each)


def _adjectives_by_noun(statement: Content) -> dict[str, frozenset[str]]:
    """The adjectives of each noun, by its lemma."""
    found: dict[str, frozenset[str]] = {}
    for word in statement.parsed.words:
        if word.dep == "amod":
            noun = statement.parsed.head(word).lemma.lower()
            found[noun] = found.get(noun, frozenset()) | {word.lemma.lower()}
    return found

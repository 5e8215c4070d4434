"""Who is what in two statements: exchanged roles ("Jana taught the user", "the user taught Jana"), another subject."""

from __future__ import annotations

import re

from .alignment import Alignment
from .content import LIGHT, Content
from .lexicon import is_person, is_word, relation
from .parse import Word
from .related import Token, related
from .words import FEMALE_NAMES, MALE_NAMES, listed

_MUTUAL = listed("friend cousin sibling partner spouse neighbour colleague twin flatmate")
_NEGATIVE_DETERMINERS = ("no", "without", "except")
_COMPARED = ("JJR", "RBR")
_LASTING = frozenset({"marry", "retire", "divorce"})
_TURNED = frozenset({"blame", "be", "have", ""})
"""Verbs that may change their objects and say the same: "blames Tom for it", "blames it on Tom"."""
_TURNING = frozenset({"with", "of", "to", "subject", "object"})
_LIGHT_VERBS = frozenset({"be", "have", ""})
_ASIDE = frozenset({"relcl", "conj"})
_DOING = frozenset({"er", "or", "st"})
_ITSELF = frozenset({"subject", "object", "as", "of"})
_FARTHER = re.compile(r"\b(?:(?:half|step|foster|great)-(\w+)|(\w+)-in-law)\b", re.IGNORECASE)
_NOT = re.compile(r"\bnot\b|n['’]t\b", re.IGNORECASE)
_SOME_OF = re.compile(r"\b\d+ of (?:the|his|her|their) \w+['’]s\b", re.IGNORECASE)
_PRONOUNS = listed("he she they it who that which him her them himself herself themselves")


def is_of_unmentioned(one: Content, other: Content) -> bool:
    """Whether this one is about somebody else, whom the other, which mentions the user, does not mention."""
    who = somebody_else(one, other)
    if who is None:
        return False
    if who.is_kin:
        return one.kin_terms.isdisjoint(other.kin_terms)
    return who.low not in other.lower_tokens


def takes_other_objects(pair: Alignment) -> bool:
    """Whether a verb is said of other things: "made kimchi in pots", "pots for kimchi"; "is trained", "trains dogs"."""
    one, other = pair.first, pair.second
    if one.verb != other.verb or one.verb in _TURNED:
        return False
    return _swap_objects(one, other) or _is_one_of_many(one, other) or _is_one_of_many(other, one)


def _swap_objects(one: Content, other: Content) -> bool:
    return not set(one.objects).isdisjoint(_taken_beside(other)) and not set(other.objects).isdisjoint(
        _taken_beside(one)
    )


def _taken_beside(content: Content) -> set[str]:
    """What stands with a preposition, in lower case, but for "with" and "of": "filled the jar with beans"."""
    roles = content.role_by_index
    return {word.low for word in content.parsed.words if roles.get(word.index, "of") not in _TURNING}


def _is_one_of_many(one: Content, other: Content) -> bool:
    """Whether the first says what is done to one, and the second that the user does it to many: "is trained"."""
    if not one.is_passive or other.is_passive or other.subject != "user" or one.subject == "user":
        return False
    tags = [{token.tag for token in each.tokens if token.lemma == one.subject} for each in (one, other)]
    return tags == [{"NN"}, {"NNS"}]


def somebody_else(one: Content, other: Content) -> Token | None:
    """The subject of this one if it is a named person or a relative, and only the other mentions the user."""
    if "user" in one.text.lower() or "user" not in other.text.lower():
        return None
    subject = next((token for token in one.tokens if token.lemma == one.subject), None)
    if subject is None:
        return None
    is_name = subject.tag in {"NNP", "NNPS"} or (subject.tag.startswith("NN") and not is_word(subject.low))
    if subject.tag == "NNS" and is_word(subject.lemma):
        # "Her knees hurt", or a verb that begins a text without a subject; not "Banks is vegan" or "Patients ache".
        is_named = one.root is not None and one.root.tag == "VBZ"
        is_name = is_named or subject.low in FEMALE_NAMES | MALE_NAMES or is_person(subject.lemma)
    return subject if subject.is_kin or is_name else None


def are_roles_swapped(pair: Alignment) -> bool:
    """Whether agent and patient, or the two sides of a comparison, are swapped."""
    one, other = pair.first, pair.second
    verbs = {word.lemma for word in one.content_words if word.part == "verb"}
    verbs &= {word.lemma for word in other.content_words if word.part == "verb"}
    if pair.is_complete and "user" in one.lower_tokens and one.kin_terms and one.kin_terms.isdisjoint(_MUTUAL):
        subjects = {one.subject, other.subject}
        whose = [(one.possessors(kin), other.possessors(kin)) for kin in one.kin_terms & other.kin_terms]
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
    return any(_swap_agents(one, other, each) for each in verbs) or (
        max(pair.unaligned_weights) <= 1 and _swap_sides(one, other)
    )


def is_done_by_another(pair: Alignment) -> bool:
    """Whether one has the user's agent noun and the other the verb: "the user's teacher", "the user teaches"."""
    for word, another, _ in pair.aligned_words:
        both = ((pair.first, word), (pair.second, another))
        for (having, noun), (doing, verb) in (both, both[::-1]):
            if noun.part == "noun" and verb.part == "verb" and noun.lemma.endswith(("er", "or", "ist")):
                whose = rf"\b{re.escape(doing.subject)}['’]s (?:\w+ )?{re.escape(noun.lemma)}\b"
                if doing.subject and re.search(whose, having.text, re.IGNORECASE):
                    return True
    return False


def have_other_purposes(pair: Alignment) -> bool:
    """Whether each has an infinitive that the other lacks: "to relax and stay fit", "to relax and save money"."""
    return all(any(word.tag == "VB" for word in words) for words in pair.unaligned)


def names_more_in_short(pair: Alignment) -> bool:
    """Whether the shorter one names a thing that the longer one, whose wording a merge keeps, does not."""
    both = zip((pair.first, pair.second), pair.unaligned, strict=True)
    _, left = min(both, key=lambda each: len(each[0].text))
    return any(word.part == "noun" for word in left)


def describes_otherwise(pair: Alignment) -> bool:
    """Whether an adjective of one stands after a preposition in the other: "French films", "films in French"."""
    for word, another, _ in pair.aligned_words:
        for one, its, other, others in (
            (pair.first, word, pair.second, another),
            (pair.second, another, pair.first, word),
        ):
            after = other.role_by_index.get(others.index, "of")
            if one.parsed.words[its.index].dep == "amod" and after not in _TURNING | {"from"}:
                return True
    return False


def are_other_kin(pair: Alignment) -> bool:
    """Whether only one of them tells of a relative by marriage or of half blood: "daughter", "daughter-in-law"."""
    one, other = pair.first.text, pair.second.text
    return _is_nearer_kin(one, other) or _is_nearer_kin(other, one)


def _is_nearer_kin(one: str, other: str) -> bool:
    if _FARTHER.search(other):
        return False
    kin = ("".join(found) for found in _FARTHER.findall(one))
    return any(re.search(rf"\b{each}s?\b", other, re.IGNORECASE) for each in kin)


def takes_some_of_anothers(pair: Alignment) -> bool:
    """Whether only one tells of some of what another has or makes: "three of the artist's paintings"."""
    return bool(_SOME_OF.search(pair.first.normalised)) != bool(_SOME_OF.search(pair.second.normalised))


def bears_otherwise(pair: Alignment) -> bool:
    """Whether common words bear on each other otherwise: as purpose, cause or condition, in a denial or comparison."""
    is_caused = {"for", "from"} <= pair.unshared_tokens and not pair.is_monotonic
    return (
        is_caused
        or _is_what_it_has(pair)
        or _is_beside_who_does(pair)
        or _exchange_predicates(pair)
        or _is_on_condition(pair)
        or _are_other_denials(pair)
        or _is_most_of_others(pair)
    )


def _is_what_it_has(pair: Alignment) -> bool:
    """Whether one is by trade or habit what is made of a thing that the other has: "a gardener", "has a garden"."""
    if {pair.first.verb, pair.second.verb} != {"be", "have"}:
        return False
    return any(
        kind == "derived" and word.part == another.part == "noun" and {word.lemma[-2:], another.lemma[-2:]} & _DOING
        for word, another, kind in pair.aligned_words
    )


def _is_beside_who_does(pair: Alignment) -> bool:
    """Whether what is done in one is the trade of somebody in the other: "sings", "is married to a singer"."""
    for word, another, kind in pair.aligned_words:
        for noun, content, verb in ((word, pair.first, another), (another, pair.second, word)):
            is_agent = noun.part == "noun" and verb.part == "verb" and noun.lemma[-2:] in _DOING
            if kind == "derived" and is_agent and content.role_by_index.get(noun.index, "of") not in _ITSELF:
                return True
    return False


def _exchange_predicates(pair: Alignment) -> bool:
    """Whether what each tells of the user is by the way in the other: "runs to stay fit", "is fit enough to run"."""
    one, other = pair.first, pair.second
    first, second = _predicate(one), _predicate(other)
    back = {
        other.content_words[other_index].index: one.content_words[index].index
        for index, (other_index, _) in pair.aligned.items()
    }
    if first not in back.values() or second not in back or back[second] == first:
        return False
    there = next(index for index, its in back.items() if its == first)
    return _ASIDE.isdisjoint({one.parsed.words[back[second]].dep, other.parsed.words[there].dep})


def _predicate(content: Content) -> int | None:
    """The index of the main verb, or of the adjective that is said with it."""
    root = content.root
    if root is None or content.verb not in _LIGHT_VERBS:
        return root.index if root is not None else None
    said = content.parsed.child(root, "acomp")
    return said.index if said is not None and said.text.islower() else None


def _is_most_of_others(pair: Alignment) -> bool:
    """Whether what is the most of one's own is the most of others: "youngest child", "the youngest in school"."""
    dependencies = [
        {word.low: word.dep for word in each.parsed.words if word.tag == "JJS"} for each in (pair.first, pair.second)
    ]
    both = dependencies[0].keys() & dependencies[1].keys()
    return any((dependencies[0][low] == "amod") != (dependencies[1][low] == "amod") for low in both)


def _is_on_condition(pair: Alignment) -> bool:
    """Whether what one tells is a clause of the other: "her head hurts", "takes aspirin when her head hurts"."""
    one, other = pair.first, pair.second
    if one.verb == other.verb or not _LIGHT_VERBS.isdisjoint({one.verb, other.verb}):
        return False
    return any(
        word.dep == "advcl" and word.lemma.lower() == told.verb and _is_subordinate(beside, word)
        for told, beside in ((one, other), (other, one))
        for word in beside.parsed.words
    )


def _is_subordinate(content: Content, verb: Word) -> bool:
    return any(word.dep == "mark" or word.tag == "WRB" for word in content.parsed.children(verb))


def _are_other_denials(pair: Alignment) -> bool:
    """Whether both deny, with a verb that the other has no word for: "isn't on it", "doesn't post on it".

    The one may follow from the other, so the network takes them for the same.
    """
    both = pair.first, pair.second
    if not pair.is_same_subject or not all(_NOT.search(each.text) for each in both):
        return False
    if pair.first.contains(pair.second.verb) or pair.second.contains(pair.first.verb):
        return False
    return any(
        _predicate(each) in {token.index for token in unaligned}
        for each, unaligned in zip(both, pair.unaligned, strict=True)
    )


def _swap_sides(one: Content, other: Content) -> bool:
    """Whether the two sides of a comparison, negation or description are swapped."""
    comparing = ["before", "after", "when", "while", "not", "but", "because"]
    if not _are_converse(one, other):
        comparing.append("than")
    if "prefer" in one.text and "prefer" in other.text:
        comparing += ["to", "over"]
    followed = [(one.content_word_after(low), other.content_word_after(low)) for low in comparing]
    followed += [(one.token_after(low), other.token_after(low)) for low in _NEGATIVE_DETERMINERS]
    for first, second in followed:
        if not first or not second or first == second or {first, second} & LIGHT:
            continue
        if other.contains(first) and one.contains(second):
            return True
    for noun, its in one.adjectives_by_noun.items():
        only, others = its - other.adjectives_by_noun.get(noun, its), other.adjectives_by_noun.get(noun, its) - its
        if only and others and only & other.lower_tokens and others & one.lower_tokens:
            return True
    return False


def _are_converse(one: Content, other: Content) -> bool:
    """Whether they compare with opposite words: "older than" and "younger than"."""
    words, others = ([word for word in each.content_words if word.tag in _COMPARED] for each in (one, other))
    return any(related(word, another) == "opposite" for word in words for another in others)


def _swap_agents(one: Content, other: Content, verb: str) -> bool:
    first, second = one.subjects_of(verb), other.subjects_of(verb)
    if first is None or second is None:
        return False
    if first[0] != second[0]:
        return bool(first[1] & second[1]) and verb not in _LASTING
    if first[1] & second[1] or (first[1] | second[1]) & _PRONOUNS:
        return False
    return bool(first[1] & other.lower_tokens) and bool(second[1] & one.lower_tokens)


def is_or_has(one: Content, other: Content) -> bool:
    """Whether the user is in one what they have in the other: "works as a cleaner" and "has a cleaner"."""
    if one.verb != "have" or other.verb not in {"be", "work"} or not one.subject == other.subject == "user":
        return False
    return any(
        re.search(rf"\b(?:is|was|as) (?:an? |the )?(?:\w+ )?{re.escape(had)}\b", other.normalised, re.IGNORECASE)
        for had in one.objects
    )


def is_doing_against_doer(one: Content, other: Content) -> bool:
    """Whether one is going on, and the other a trade: "is tuning the piano" and "is a piano tuner"."""
    if one.root is None or one.root.tag != "VBG" or other.verb != "be":
        return False
    return any(
        word.lemma.endswith(("er", "or")) and relation(one.verb, word.lemma) == "derived"
        for word in other.content_words
    )


def is_of_against_being(one: Content, other: Content) -> bool:
    """Whether one tells of the user's, and the user is that in the other: "boss is strict", "is a strict boss"."""
    if one.subject == "user" or other.subject != "user" or other.verb != "be":
        return False
    is_of_user = re.search(rf"\buser['’]s (?:\w+ )?{re.escape(one.subject)}\b", one.normalised, re.IGNORECASE)
    return bool(is_of_user) and any(
        word.low == one.subject and other.role_by_index.get(word.index) == "object" for word in other.content_words
    )

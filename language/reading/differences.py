"""Rules that keep two similar statements apart, since a wrong merge loses one of them.

``differ`` overrules everybody, a model too. Of any two it compares figures, days, names, units, kin and whether they
tell of the user; of two that share most of their words also people, polarity, antonyms and swapped roles. What
``differ_in_telling`` finds keeps two apart unless both a language model and the network know better; what
``differ_in_wording`` finds in two that share most words, unless a language model does.
``doubts`` are features of the learned comparison; few of them decide without a model: ``stay_doubtful``.
"""

from __future__ import annotations

import re

from .alignment import Alignment
from .content import TIMES_OF_DAY, Content
from .lexicon import ALIKE
from .related import related
from .roles import (
    are_other_kin,
    are_roles_swapped,
    bears_otherwise,
    describes_otherwise,
    have_other_purposes,
    is_doing_against_doer,
    is_done_by_another,
    is_of_against_being,
    is_of_unmentioned,
    is_or_has,
    names_more_in_short,
    somebody_else,
    takes_other_objects,
    takes_some_of_anothers,
)
from .spans import ENDED, differ_in_time
from .words import listed

_TWO = listed("twin twins both pair couple")
_OPPOSED_PREPOSITIONS = frozenset(
    frozenset(pair.split("/"))
    for pair in listed(
        "from/to before/after with/without by/to until/from until/since up/down over/under above/below "
        "into/out in/from at/from for/against on/off for/from with/for to/for for/after in/until at/until on/until"
    )
)
"""Pairs of opposed prepositions."""
_FREE_UNITS = listed("year hour minute day week foot second")
_ASPECT_WORDS = listed("will being when")
_HIS, _HER = listed("he his him himself"), listed("she her hers herself")
_OUTWARD = (("in", "out"), ("on", "off"), ("up", "down"))
_PLACING = listed("near above below past behind opposite without against before after")
_SAME_PLACES = (listed("near by beside close around"), listed("above over"), listed("below under"))
_QUALIFYING = listed(
    "half most least almost or more less first former last next new old left right other late present current used"
)
_NEVER_FREE = listed(
    "half or almost least former may might could should against believes thinks claims probably perhaps maybe possibly"
)
_ALWAYS_QUALIFYING = _NEVER_FREE | listed("until till only another all some too far more next off")
_MOST_LEFT = (1.0, 2.3)
"""The most unaligned weight of each statement, the lower and the higher."""
_MOST_LEFT_OF_ONE, _MOST_LEFT_OF_LONG, _LONG = 4.0, 2.5, 5
"""The most unaligned weight of a statement, that of two long ones together, and how many content words are long."""
_LASTING_DOUBTS = ("verb", "kind", "tense", "reversed", "doing", "whose")
"""The doubts that keep two apart that share most words, although the entailment network sees no difference."""
_CALLED = re.compile(r"\b(call|nam)(?:ed|es|s) (?:\w+'s|the|her|his|an?) \w+$", re.IGNORECASE)
"""Calling somebody without naming the name."""
_PLAIN_VERBS = listed("go take make use")
"""Light verbs that can replace another verb: "takes the tram" for "commutes by tram"."""
_LIKING = listed("like likes love loves enjoy enjoys hate hates dislikes stand want wants fond detests loathes")
_SICKENED = listed("allergic allergy intolerant intolerance allergies")


def differ(pair: Alignment) -> bool:
    """Whether an exact difference keeps the two apart, whatever a model says."""
    return _has_other_values(pair) or (
        pair.is_near and (_differ_in_particulars(pair) or _have_other_units(pair) or pair.has_swapped_roles)
    )


def differ_in_telling(pair: Alignment) -> bool:
    """Whether one counts some of a group: "two of Ana's sons". Of two that share most words: ``_differ_in_sense``."""
    return takes_some_of_anothers(pair) or (pair.is_near and _differ_in_sense(pair))


def differ_in_wording(pair: Alignment) -> bool:
    """Whether words of the two make a difference, as they do where all others are the same."""
    return _differ_in_particulars(pair) or _differ_in_sense(pair) or _has_substituted_word(pair)


def _differ_in_particulars(pair: Alignment) -> bool:
    return _differ_in_amounts(pair) or _differ_in_who(pair) or _differ_in_polarity(pair) or are_roles_swapped(pair)


def _have_other_units(pair: Alignment) -> bool:
    """Whether each has a unit that the other lacks, also without a figure: "half an acre"."""
    return bool(pair.first.units - pair.second.units and pair.second.units - pair.first.units)


def _has_other_values(pair: Alignment) -> bool:
    """Whether each has a figure, day, interval or name that the other lacks, or a unit with a figure."""
    one, other = pair.first, pair.second
    values: list[tuple[frozenset[object], frozenset[object]]] = [
        (one.figures, other.figures),
        (one.ranges, other.ranges),
        (one.days, other.days),
        (one.intervals, other.intervals),
    ]
    if one.figures:
        values.append((one.units, other.units))
    if differ_in_time(pair) or takes_other_objects(pair) or are_other_kin(pair):
        return True
    if is_of_unmentioned(one, other) or is_of_unmentioned(other, one):
        return True
    return all(pair.unshared_names) or any(first - second and second - first for first, second in values)


def stay_doubtful(pair: Alignment) -> bool:
    """Whether a possible difference keeps them apart if no language model is asked: the network overlooks it.

    Of all: what each wants to do or denies, what is told on condition or compared with others. Of two that share most
    words: a verb, the kind of a thing, tense, reverse order, an adjective that the other has after a preposition.
    """
    if have_other_purposes(pair) or bears_otherwise(pair):
        return True
    if not pair.is_near:
        return False
    found = doubts(pair)
    return any(found.get(f"doubt_{kind}") for kind in _LASTING_DOUBTS) or describes_otherwise(pair)


def leave_much_over(pair: Alignment) -> bool:
    """Whether words are left over that may tell something else: many, of long texts fewer, as any two share some."""
    if max(pair.unaligned_weights) > _MOST_LEFT_OF_ONE:
        return True
    are_long = min(len(pair.first.content_words), len(pair.second.content_words)) >= _LONG
    is_too_much = sum(pair.unaligned_weights) > _MOST_LEFT_OF_LONG or names_more_in_short(pair)
    return are_long and not pair.is_near and is_too_much


def doubts(pair: Alignment) -> dict[str, float]:
    """Possible differences as features, each 1 or 0."""
    one, other = pair.first, pair.second
    less, more = sorted(pair.unaligned_weights)
    is_perfect = one.is_perfect or other.is_perfect
    is_state = _is_state(pair) and not (pair.is_complete and pair.is_monotonic)
    is_denied = pair.differs_in_polarity and (less == 0 or not (pair.is_negation_implied or pair.has_antonyms))
    found = {
        "hearsay": one.is_hearsay != other.is_hearsay,
        "less": less > _MOST_LEFT[0],
        "more": more > _MOST_LEFT[1],
        "kin": all(pair.unshared_kin),
        "narrowed": _is_narrowed(pair),
        "denied": is_denied,
        "days": one.days != other.days,
        "verb": _has_substituted_verb(pair),
        "kind": _is_kind_of(pair),
        "reversed": pair.is_in_reverse_order,
        "done_to": pair.is_agent_against_patient,
        "done_by": is_done_by_another(pair),
        "than": "than" in pair.unshared_tokens,
        "turning": pair.is_complete and not _ASPECT_WORDS.isdisjoint(pair.unshared_tokens),
        "most": any(
            word.tag in {"JJS", "RBS"} and word.low not in {"most", "best"}
            for words in pair.unaligned
            for word in words
        ),
        "taste": _is_dislike_against_intolerance(one, other) or _is_dislike_against_intolerance(other, one),
        "going_on": _is_done_against_ongoing(one, other) or _is_done_against_ongoing(other, one),
        "being": is_or_has(one, other) or is_or_has(other, one),
        "whose": is_of_against_being(one, other) or is_of_against_being(other, one),
        "doing": is_doing_against_doer(one, other) or is_doing_against_doer(other, one),
        "tense": _differ_in_tense(one, other) and not is_state and not is_perfect,
    }
    return {f"doubt_{kind}": float(value) for kind, value in found.items()}


def _is_narrowed(pair: Alignment) -> bool:
    """Whether one is more specific: an added adjective or adverb, or a longer negated statement."""
    if not pair.is_addition or pair.is_complete:
        return False
    more = [*pair.unaligned[0], *pair.unaligned[1]]
    return any(word.part in {"adjective", "adverb"} or word.lemma == "need" for word in more) or (
        pair.first.negations > 0 and pair.second.negations > 0
    )


def _differ_in_amounts(pair: Alignment) -> bool:
    """Whether figures, counted nouns, days or units differ."""
    one, other = pair.first, pair.second
    figures, others = one.figures, other.figures
    if (one.lower_tokens | other.lower_tokens) & _TWO:
        figures, others = figures - {"2"}, others - {"2"}
    days, its = one.days - other.days, other.days - one.days
    if figures != others or (days and its) or not (days | its) <= TIMES_OF_DAY:
        return True
    if any(other.figure_by_counted.get(counted, figure) != figure for counted, figure in one.figure_by_counted.items()):
        return True
    if _is_counted_otherwise(one, other) and _is_counted_otherwise(other, one):
        return True
    units, its = one.units - other.units, other.units - one.units
    return bool(units and its) or bool(figures and not (units | its) <= _FREE_UNITS)


def _is_done_against_ongoing(one: Content, other: Content) -> bool:
    """Whether one is completed and the other ongoing: "has read it" and "is reading it"."""
    is_same = one.verb == other.verb != ""
    return is_same and one.is_perfect and other.root is not None and other.root.tag == "VBG"


def _is_dislike_against_intolerance(one: Content, other: Content) -> bool:
    """Whether one is a dislike and the other an intolerance: "dislikes nuts" and "is allergic to nuts"."""
    words, others = one.lower_tokens, other.lower_tokens
    return bool(words & _LIKING and others & _SICKENED and words.isdisjoint(_SICKENED))


def _is_counted_otherwise(one: Content, other: Content) -> bool:
    """Whether a noun counted in one is uncounted in the other: "two cats and a dog"."""
    first, second = one.counted_nouns, other.counted_nouns
    return bool(second) and any(counted not in second and other.contains(counted) for counted in first)


def _differ_in_who(pair: Alignment) -> bool:
    """Whether names, kinship nouns or pronouns' genders differ."""
    one, other = pair.first, pair.second
    if any(pair.unshared_names) or somebody_else(one, other) or somebody_else(other, one):
        return True
    if all(pair.unshared_kin):
        return pair.is_monotonic or any(word.is_kin and another.is_kin for word, another, _ in pair.substitutions)
    for first, second in ((one.lower_tokens, other.lower_tokens), (other.lower_tokens, one.lower_tokens)):
        if first & _HIS and second & _HER and not (first & _HER or second & _HIS):
            return True
    if not any(pair.unshared_kin):
        return False
    if "and" in pair.unshared_tokens and "parent" not in one.kin_terms | other.kin_terms:
        return True
    return pair.is_addition and "parent" not in {*pair.unshared_kin[0], *pair.unshared_kin[1]}


def _differ_in_polarity(pair: Alignment) -> bool:
    """Whether the polarity of the whole differs, or antonyms stand in without a negation."""
    if pair.differs_in_polarity:
        is_only = min(pair.unaligned_weights) == 0 and (pair.is_monotonic or pair.is_complete)
        is_over = {"still", "longer"} <= pair.unshared_tokens
        is_implied = pair.is_negation_implied or pair.has_antonyms
        return is_only or is_over or (pair.is_monotonic and not is_implied)
    if not pair.has_antonyms:
        return False
    is_passive = pair.first.is_passive != pair.second.is_passive
    if pair.is_same_subject and not is_passive:
        return True
    return any(is_both and related(word, another) == "opposite" for word, another, is_both in pair.substitutions)


def _differ_in_sense(pair: Alignment) -> bool:
    """Whether modality, partitivity, frequency or tense differs, a qualifier, or a preposition: "before", "after"."""
    one, other = pair.first, pair.second
    if one.is_wish != other.is_wish and not (one.may_express_plan or other.may_express_plan):
        return True
    if one.is_partitive != other.is_partitive:
        return True
    if one.is_seldom != other.is_seldom and one.negations and other.negations:
        return True
    if _has_opposed_preposition(pair) or _is_qualified(pair):
        return True
    if _is_state(pair) or one.is_perfect or other.is_perfect:
        return False
    return _differ_in_tense(one, other) and (pair.is_same_verb or pair.is_complete)


def _has_opposed_preposition(pair: Alignment) -> bool:
    """Whether prepositions or particles are opposed, unless the verbs differ too."""
    one, other = pair.first, pair.second
    before, its = one.preposition_before, other.preposition_before
    if any(_are_opposed(before[word], its[word]) for word in before.keys() & its) and pair.unaligned_verbs < len(
        (one, other)
    ):
        return True
    only = pair.unshared_tokens
    return any(
        inward in only and outward in only and not _belong_to_other_verbs(one, other, {inward, outward})
        for inward, outward in _OUTWARD
    )


def _belong_to_other_verbs(one: Content, other: Content, particles: set[str]) -> bool:
    """Whether a particle belongs to a verb that the other lacks: "is paid off" and "owes nothing on it"."""
    for first, second in ((one, other), (other, one)):
        verbs = {word.lemma.split("_")[0] for word in second.content_words if word.part == "verb"}
        for word in first.content_words:
            verb, _, particle = word.lemma.partition("_")
            if particle in particles and verb not in verbs:
                return True
    return False


def _is_qualified(pair: Alignment) -> bool:
    """Whether one has a qualifier that the other lacks: "half", "former", "may"."""
    one, other = pair.first, pair.second
    first, second = one.lower_tokens & _QUALIFYING, other.lower_tokens & _QUALIFYING
    if first - second and second - first:
        return True
    qualified = pair.unshared_tokens & _ALWAYS_QUALIFYING
    if "in" in {one.token_after("believes"), other.token_after("believes")}:
        qualified -= {"believes"}
    if "all" in {one.token_after("at"), other.token_after("at")}:
        qualified -= {"all"}
    qualified -= {word.lemma.partition("_")[2] for word in (*one.content_words, *other.content_words)}
    if "able" in one.lower_tokens | other.lower_tokens:
        qualified -= {"could"}
    if one.negations or other.negations:
        qualified -= {"could", "more"}
    return bool(qualified & _NEVER_FREE) or bool(qualified and pair.is_addition)


def _are_opposed(one: str, other: str) -> bool:
    """Whether two prepositions before the same word give different places or times."""
    if one == other or not one or not other or any({one, other} <= same for same in _SAME_PLACES):
        return False
    return frozenset({one, other}) in _OPPOSED_PREPOSITIONS or one in _PLACING or other in _PLACING


def _differ_in_tense(one: Content, other: Content) -> bool:
    return (one.is_past and not other.may_be_past) or (other.is_past and not one.may_be_past)


def _is_state(pair: Alignment) -> bool:
    lasts = "for" in pair.first.lower_tokens & pair.second.lower_tokens
    return not lasts and bool(ENDED.search(pair.first.text) or ENDED.search(pair.second.text))


def _has_substituted_word(pair: Alignment) -> bool:
    """Whether a noun, name, adjective or verb is substituted between the same words."""
    if pair.differs_in_polarity or not pair.is_monotonic:
        return False
    for word, another, is_both in pair.substitutions:
        if not is_both or related(word, another) in ALIKE or word.weight != another.weight:
            continue
        if word.part == another.part and word.part in {"noun", "name", "figure", "adjective", "adverb"}:
            return True
        if word.part == another.part == "verb" and tuple(map(len, pair.unaligned_indices)) == (1, 1):
            return {word.lemma, another.lemma}.isdisjoint(_PLAIN_VERBS)
    if len(pair.aligned) > 1 and pair.is_complete:
        return any(
            word.part == another.part == "verb" and kind in {"kind", "loose"}
            for word, another, kind in pair.aligned_words
        )
    return False


def _is_kind_of(pair: Alignment) -> bool:
    """Whether all words align, but a noun is a hyponym, or only one has "and"."""
    if not pair.is_complete:
        return False
    kinds = {kind for word, _, kind in pair.aligned_words if word.part == "noun"}
    only = pair.unshared_tokens
    return not kinds.isdisjoint({"kind", "loose"}) or ("and" in only and only.isdisjoint({"with", "from"}))


def _has_substituted_verb(pair: Alignment) -> bool:
    """Whether the verb is substituted.

    "Called Ana's dog" and "named Ana's dog" differ; "called the dog Rufus" and "named the dog Rufus" don't.
    """
    called = [_CALLED.search(each.normalised) for each in (pair.first, pair.second)]
    if called[0] and called[1] and called[0][1].lower() != called[1][1].lower():
        return True
    return pair.is_monotonic and any(
        is_both and word.part == another.part == "verb" and related(word, another) not in ALIKE
        for word, another, is_both in pair.substitutions
    )

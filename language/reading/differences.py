"""What keeps two statements about a person apart whatever else they share: a wrong merge would lose one of them.

Figures, days, names, units, who is meant, denial, tense, wishes, opposites, another word at the same place, and who
does it to whom. ``differ`` holds for everybody, a model too; ``may_differ`` only where nobody is asked.
"""

from __future__ import annotations

import re

from .alignment import Alignment
from .content import TIMES_OF_DAY, Content
from .lexicon import ALIKE
from .related import related
from .words import listed

_TWO = listed("twin twins both pair couple")
_AGAINST = frozenset(
    frozenset(pair.split("/"))
    for pair in listed(
        "from/to before/after with/without by/to until/from until/since up/down over/under above/below "
        "into/out in/from at/from for/against on/off for/from with/for to/for for/after"
    )
)
"""Prepositions that say what each other do not."""
_FREE_UNITS = listed("year hour minute day week foot second")
_TURNING = listed("will being when")
_HIS, _HER = listed("he his him himself"), listed("she her hers herself")
_OUTWARD = (("in", "out"), ("on", "off"), ("up", "down"))
_PLACING = listed("near above below past behind opposite without against before after")
_SAME_PLACES = (listed("near by beside close around"), listed("above over"), listed("below under"))
_QUALIFYING = listed(
    "half most least almost or more less first former last next new old left right other late present current used"
)
_ALWAYS_QUALIFYING = listed(
    "until till half almost or least former only another all some could too far more next off may might should against "
    "believes thinks claims"
)
_NEVER_FREE = listed("until till half or almost least former may might could should against believes thinks claims")
_MOST_LEFT = (1.0, 2.3)
"""How much may be left over of each: of long statements that share a lot more is, and they are seldom one."""
_PRONOUNS = listed("he she they it who that which him her them himself herself themselves")
_STATES = re.compile(
    r"\b(?:born|birth\w*|divorc\w+|marri\w+|anniversary|retire\w*|quit|stopp\w+|gave|longer|degree|studied|wed\w*|dead|died"
    r"|late|said|mentioned|told)\b",
    re.IGNORECASE,
)
"""Where a past tells what is: "was born", "got divorced", "quit smoking"."""
_PLAIN_VERBS = listed("go take make use")
"""Verbs that may stand for another one: "takes the tram" for "commutes by tram"."""
_MUTUAL = listed("friend cousin sibling partner spouse neighbour colleague twin flatmate")
_LASTING = frozenset({"marry", "retire", "divorce"})


def differ(pair: Alignment) -> bool:
    """Whether something that is said exactly keeps the two apart, whoever says that they are one."""
    return (
        _differ_in_amounts(pair)
        or _differ_in_who(pair)
        or _differ_in_denial(pair)
        or _differ_in_sense(pair)
        or _has_another_word(pair)
        or _are_turned(pair)
    )


def may_differ(pair: Alignment) -> bool:
    """Whether something may keep them apart that only a model could tell to be no difference."""
    one, other = pair.one, pair.other
    less, more = sorted(pair.weights)
    if less > _MOST_LEFT[0] or more > _MOST_LEFT[1] or all(pair.kin) or _is_narrowed(pair):
        return True
    if pair.is_denied_otherwise and (less == 0 or not (pair.is_denial_implied or pair.opposites)):
        return True
    if one.days != other.days or _has_another_verb(pair) or _is_kind_of(pair):
        return True
    if _is_reversed(pair) or _is_done_to_one(pair) or _is_done_by_another(pair) or "than" in one.lows ^ other.lows:
        return True
    is_perfect = one.is_perfect or other.is_perfect
    is_state = _is_state(pair) and not (pair.is_all and pair.in_order)
    return _differ_in_tense(one, other) and not is_state and not is_perfect


def _is_reversed(pair: Alignment) -> bool:
    """Whether the same words stand in just the other order: "the dog bit Tom" and "Tom bit the dog"."""
    places = [its for _, (its, _) in sorted(pair.together.items())]
    is_passive = pair.one.is_passive or pair.other.is_passive
    return pair.is_all and len(places) > 2 and not is_passive and places == sorted(places, reverse=True)


def _is_done_to_one(pair: Alignment) -> bool:
    """Whether one does what is done to the other: "a trainer" and "a trainee"."""
    ends = [{(word.lemma[:-2], word.lemma[-2:]) for word in each.words} for each in (pair.one, pair.other)]
    doing = [{stem for stem, end in each if end in {"er", "or"}} for each in ends]
    done = [{stem for stem, end in each if end == "ee"} for each in ends]
    return bool(doing[0] & done[1] or doing[1] & done[0])


def _is_narrowed(pair: Alignment) -> bool:
    """Whether one says the same of less: with an adjective more, or more of what is denied."""
    if not pair.in_order or min(pair.weights) > 0 or pair.is_all:
        return False
    more = [*pair.left[0], *pair.left[1]]
    return any(word.part in {"adjective", "adverb"} or word.lemma == "need" for word in more) or (
        pair.one.denials > 0 and pair.other.denials > 0
    )


def _is_done_by_another(pair: Alignment) -> bool:
    """Whether one has who does it, and the other does it: "the user's teacher" and "the user teaches"."""
    for at, (its, _) in pair.together.items():
        both = ((pair.one, pair.one.words[at]), (pair.other, pair.other.words[its]))
        for (having, noun), (doing, verb) in (both, both[::-1]):
            if noun.part == "noun" and verb.part == "verb" and noun.lemma.endswith(("er", "or", "ist")):
                whose = rf"\b{re.escape(doing.subject)}['’]s (?:\w+ )?{re.escape(noun.lemma)}\b"
                if doing.subject and re.search(whose, having.text, re.IGNORECASE):
                    return True
    return False


def _differ_in_amounts(pair: Alignment) -> bool:
    """Figures, what they count, days, units."""
    one, other = pair.one, pair.other
    figures, others = one.figures, other.figures
    if (one.lows | other.lows) & _TWO:
        figures, others = figures - {"2"}, others - {"2"}
    days, its = one.days - other.days, other.days - one.days
    if figures != others or (days and its) or not (days | its) <= TIMES_OF_DAY:
        return True
    if any(other.counted.get(counted, figure) != figure for counted, figure in one.counted.items()):
        return True
    units, its = one.units - other.units, other.units - one.units
    return bool(units and its) or bool(figures and not (units | its) <= _FREE_UNITS)


def _differ_in_who(pair: Alignment) -> bool:
    """Names, and words for who somebody is."""
    one, other = pair.one, pair.other
    if any(pair.names) or _is_of_somebody_else(one, other) or _is_of_somebody_else(other, one):
        return True
    if all(pair.kin):
        return pair.in_order or any(word.is_kin and another.is_kin for word, another, _ in pair.slots)
    for first, second in ((one, other), (other, one)):
        if first.lows & _HIS and second.lows & _HER and not (first.lows & _HER or second.lows & _HIS):
            return True
    is_added = pair.in_order and min(pair.weights) == 0
    return any(pair.kin) and is_added and "parent" not in {*pair.kin[0], *pair.kin[1]}


def _is_of_somebody_else(one: Content, other: Content) -> bool:
    """Whether the user is in the other alone, and this one is about somebody named: no subject means the user."""
    if "user" in one.text.lower() or "user" not in other.text.lower():
        return False
    subject = next((token for token in one.tokens if token.lemma == one.subject), None)
    return subject is not None and (subject.is_kin or subject.tag in {"NNP", "NNPS"})


def _differ_in_denial(pair: Alignment) -> bool:
    """Denial of all of it, and opposites where nothing is denied."""
    if pair.is_denied_otherwise:
        is_only = min(pair.weights) == 0 and (pair.in_order or pair.is_all)
        return is_only or (pair.in_order and not (pair.is_denial_implied or pair.opposites))
    if not pair.opposites:
        return False
    is_passive = pair.one.is_passive != pair.other.is_passive
    at_one_place = any(is_both and related(word, another) == "opposite" for word, another, is_both in pair.slots)
    return (pair.is_same_subject and not is_passive) or at_one_place


def _differ_in_sense(pair: Alignment) -> bool:
    """Whether it is wished, past, of several, partly so."""
    one, other = pair.one, pair.other
    if one.is_wish != other.is_wish and not (one.may_be_plan or other.may_be_plan):
        return True
    if one.is_of_several != other.is_of_several or (pair.is_all and not _TURNING.isdisjoint(one.lows ^ other.lows)):
        return True
    if one.is_seldom != other.is_seldom and one.denials and other.denials:
        return True
    if _is_put_otherwise(one, other) or _is_qualified(pair):
        return True
    is_perfect = one.is_perfect or other.is_perfect
    return (
        _differ_in_tense(one, other) and not _is_state(pair) and not is_perfect and (pair.is_same_verb or pair.is_all)
    )


def _is_put_otherwise(one: Content, other: Content) -> bool:
    """Whether a preposition or a particle says what another one does not."""
    if any(_are_against(before, other.before[its]) for its, before in one.before.items() if its in other.before):
        return True
    only = one.lows ^ other.lows
    return any(inward in only and outward in only for inward, outward in _OUTWARD)


def _is_qualified(pair: Alignment) -> bool:
    """Whether a word says of one what the other does not say: "half", "former", "may"."""
    one, other = pair.one, pair.other
    first, second = one.lows & _QUALIFYING, other.lows & _QUALIFYING
    if first - second and second - first:
        return True
    qualified = (one.lows ^ other.lows) & _ALWAYS_QUALIFYING
    if one.denials or other.denials:
        qualified -= {"could", "more"}
    return bool(qualified & _NEVER_FREE) or bool(qualified and pair.in_order and min(pair.weights) == 0)


def _are_against(one: str, other: str) -> bool:
    """Whether two prepositions before one word tell of different places or times."""
    if one == other or not one or not other or any({one, other} <= same for same in _SAME_PLACES):
        return False
    return frozenset({one, other}) in _AGAINST or one in _PLACING or other in _PLACING


def _differ_in_tense(one: Content, other: Content) -> bool:
    return (one.is_past and not other.may_be_past) or (other.is_past and not one.may_be_past)


def _is_state(pair: Alignment) -> bool:
    lasts = "for" in pair.one.lows & pair.other.lows
    return not lasts and bool(_STATES.search(pair.one.text) or _STATES.search(pair.other.text))


def _has_another_word(pair: Alignment) -> bool:
    """Whether another noun, name, adjective or verb stands at the same place between the same words."""
    if pair.is_denied_otherwise or not pair.in_order:
        return False
    for word, another, is_both in pair.slots:
        if not is_both or related(word, another) in ALIKE or word.weight != another.weight:
            continue
        if word.part == another.part and word.part in {"noun", "name", "figure", "adjective", "adverb"}:
            return True
        if word.part == another.part == "verb" and len(pair.alone[0]) == len(pair.alone[1]) == 1:
            return {word.lemma, another.lemma}.isdisjoint(_PLAIN_VERBS)
    if len(pair.together) > 1 and pair.is_all:
        return any(
            pair.one.words[at].part == "verb" == pair.other.words[its].part and how in {"kind", "loose"}
            for at, (its, how) in pair.together.items()
        )
    return False


def _is_kind_of(pair: Alignment) -> bool:
    """Whether nothing is left over, but a noun of one is a kind of the other's, or one alone has an "and"."""
    if not pair.is_all:
        return False
    kinds = {how for at, (_, how) in pair.together.items() if pair.one.words[at].part == "noun"}
    return not kinds.isdisjoint({"kind", "loose"}) or "and" in pair.one.lows ^ pair.other.lows


def _has_another_verb(pair: Alignment) -> bool:
    """Whether another verb stands at the same place, also one that may stand for the other one."""
    return pair.in_order and any(
        is_both and word.part == another.part == "verb" and related(word, another) not in ALIKE
        for word, another, is_both in pair.slots
    )


def _are_turned(pair: Alignment) -> bool:
    """Whether who does it and whom it is done to have changed places, or what is compared."""
    one, other = pair.one, pair.other
    verbs = {word.lemma for word in one.words if word.part == "verb"}
    verbs &= {word.lemma for word in other.words if word.part == "verb"}
    if pair.is_all and "user" in one.lows and one.kin and one.kin.isdisjoint(_MUTUAL):
        subjects = {one.subject, other.subject}
        if (
            len(subjects) == 2
            and "user" in subjects
            and not subjects.isdisjoint(one.names | other.names)
            and subjects <= (one.lows & other.lows)
        ):
            return True
    if pair.is_all and not pair.in_order and {one.verb, other.verb}.isdisjoint({"be", "have"}):
        verbs |= {""}
    if any(_is_turned(one, other, verb) for verb in verbs):
        return True
    if max(pair.weights) > 1:
        return False
    comparing = ["before", "after", "than", "not", "but", "because"]
    if "prefer" in one.text and "prefer" in other.text:
        comparing += ["to", "over"]
    for low in comparing:
        first, second = one.after(low), other.after(low)
        if first and second and first != second and other.has(first) and one.has(second):
            return True
    for noun, its in one.described.items():
        only, others = its - other.described.get(noun, its), other.described.get(noun, its) - its
        if only and others and only & other.lows and others & one.lows:
            return True
    return False


def _is_turned(one: Content, other: Content, verb: str) -> bool:
    first, second = one.doers(verb), other.doers(verb)
    if first is None or second is None:
        return False
    if first[0] != second[0]:
        return bool(first[1] & second[1]) and verb not in _LASTING
    if first[1] & second[1] or (first[1] | second[1]) & _PRONOUNS:
        return False
    return bool(first[1] & other.lows) and bool(second[1] & one.lows)

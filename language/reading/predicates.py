"""Predicates with one value at a time, and the predicates that end a state: the word lists of the comparison."""

from __future__ import annotations

from language.reading.lexicon import is_kind_of
from language.reading.words import listed

ONE_AT_A_TIME = frozenset(
    tuple(pair.split("/"))
    for pair in listed(
        """live/in work/at work/for work/as employ_passive/at employ_passive/by marry_passive/to marry/to report/to
        engage_passive/to be/in be/at teach/at study/at take/in"""
    )
)
"""Verbs and roles that have one value at a time."""
ONCE = listed("bear_passive die marry marry_passive pass_away")
_CHANGES = listed(
    """move switch change transfer relocate postpone reschedule promote shift become rename put_off bring push delay
    extend"""
)
CHANGES = _CHANGES | {f"{verb} passive" for verb in _CHANGES}
ENDS = listed(
    """leave quit sell cancel end finish lose close drop give_up give_away step resign retire graduate complete
    shave_off cut_off take_off hand_in give_back hang_up drop_out stop"""
)
TAKEN = frozenset(f"{verb} passive" for verb in listed("remove sell steal scrap cancel destroy lose close"))
PLANNING = listed("plan want intend hope mean")
TRAVELLING = listed("drive walk cycle take go ride commute travel run")
ILL = listed("alive ill sick unwell frail dying")
PLACED = listed("be live stand lie keep")
GOT = listed("get find buy receive adopt obtain rent hire have begin land replace")
FOLLOWED = (
    (listed("wait look search hope save apply rent"), GOT),
    (listed("pregnant expecting"), listed("give bear have deliver")),
    (listed("unemployed jobless"), listed("work find begin get")),
    (listed("engage"), listed("marry")),
    (listed("owe"), listed("pay repay settle return")),
    (
        listed(
            """broken break steal stolen lose lost missing ill sick injure injured hurt damaged closed recover heal leak
            drip"""
        ),
        listed("repair fix mend find return recover heal replace reopen work"),
    ),
)
"""Words of a state, and the verbs that end it."""
FOR_SOMETHING = FOLLOWED[0][0]
PARTINGS = listed("divorce divorce_passive separate separate_passive break_up break_off split_up")
PARTNERS = listed(
    """marry date engage husband wife spouse partner girlfriend boyfriend fiancé fiancée single divorced married
        widowed engaged engagement relationship together"""
)
STATUSES = listed("single marry engage divorce separate widowed")
LEADS = listed("be manage lead head chair run")
OF_SEVERAL = listed(
    """user son daughter child brother sister sibling friend cousin aunt uncle nephew niece neighbor colleague
        grandmother grandfather grandchild grandson granddaughter mother father parent wife husband partner boss person
        man woman dog cat pet horse hen rabbit team project"""
)
"""Nouns of which a person can have several, or of which several things can be true."""
OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in listed(
        """love/hate like/dislike like/hate always/never early/late old/young elder/young eldest/young oldest/youngest
        married/single alive/dead vegetarian/carnivore vegan/vegetarian high/low
        tall/short rich/poor left/right first/last"""
    )
)

_FAMILY = listed(
    "mother father parent grandmother grandfather son daughter sister brother twin aunt uncle wife husband"
)
_TRADES = ("", "er", "or", "ist", "ian")
"""Endings that stems have lost: "carpent"."""


def what_one_is(stem: str) -> tuple[bool, bool, bool]:
    """Return whether the stem of what somebody is said to be is an age, a relative or a person, such as a trade."""
    is_person = any(is_kind_of(f"{stem}{ending}", "person") for ending in _TRADES)
    return stem.isdigit(), stem in _FAMILY, is_person

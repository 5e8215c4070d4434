"""What the entailment network says of two statements, as features that are symmetric in both."""

from __future__ import annotations

import re
from functools import lru_cache

from language.backends import get_entailment, judged_by
from language.entailment.model import EntailmentUnavailable

TUNING = "sameness"
SEEN = "sum", "apart"
"""What the names of features begin with that are the network's traits."""
_PER_UNRELATED, _LEAST_ENTAILED = 0.62, 0.375
"""Of texts that don't follow, one logit falls as the other rises, at this rate; of those that do, both are higher."""
_LEAST_RELATED = -0.65
"""Of a text that tells all of another, whose words it has, this logit is higher."""


def entails(first: str, second: str) -> bool:
    """Whether the second text is true if the first is, in about 15 ms. False without the network."""
    network = get_entailment()
    if network is None:
        return False
    try:
        logits, _ = network.read_pairs([(first, second)])
    except EntailmentUnavailable:
        return False
    unrelated, contradict = logits[0]
    return bool(contradict + _PER_UNRELATED * unrelated >= _LEAST_ENTAILED)


def tells_all_of(said: str, refused: str, name: str) -> bool:
    """Whether a sentence with nearly all words of a refused one tells what that tells, in about 15 ms.

    Both are read as said by the same person, whose ``name`` is given. Of 53 sentences with added words 50 do, and none
    of 51 about somebody else, or that deny or only suppose it. False without the network.
    """
    network = get_entailment()
    if network is None:
        return False
    try:
        logits, _ = network.read_pairs([(_as_mine(said, name), _as_mine(refused, name))])
    except EntailmentUnavailable:
        return False
    return bool(logits[0][0] >= _LEAST_RELATED)


def _as_mine(text: str, name: str) -> str:
    """The text with the user, the person's name, and "you" as "I". Verbs stay: the network bears it."""
    owner, person = _mentions(name)
    return person.sub("I", owner.sub("my", text))


@lru_cache(maxsize=100)
def _mentions(name: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = "|".join(["(?:the )?user", *map(re.escape, filter(None, {name, *name.split()}))])
    owner = re.compile(rf"\b(?:your|(?:{names})['’]s)\b", re.IGNORECASE)
    return owner, re.compile(rf"\b(?:you|{names})\b", re.IGNORECASE)


def sameness_logit(first: str, second: str) -> float | None:
    """How likely two statements say the same: the lower logit of both orders, in about 20 ms.

    None without the network, or with another than it was tuned for.
    """
    logits = judged_by(TUNING, [(first, second), (second, first)])
    return None if logits is None else float(logits.min())


def entailed_features(first: str, second: str) -> dict[str, float] | None:
    """Compare two texts, each with the other, in about 30 ms. None without the network.

    The logits' minimum and maximum, and of each trait of the network the sum and the difference.
    """
    network = get_entailment()
    if network is None:
        return None
    try:
        logits, traits = network.read_pairs([(first, second), (second, first)])
    except EntailmentUnavailable:
        return None
    unrelated, contradict = logits.T
    values = {"unrelated": unrelated, "contradict": contradict, "rather_contradict": contradict - unrelated}
    ends = {name: (float(both.min()), float(both.max())) for name, both in values.items()}
    found = {f"{name}_{end}": ends[name][at] for name in ends for at, end in enumerate(("min", "max"))}
    for name, seen in zip(SEEN, (traits[0] + traits[1], abs(traits[0] - traits[1])), strict=True):
        found |= {f"{name}_{number}": value for number, value in enumerate(seen.tolist())}
    return found

"""When and how long in two statements: "every two days" and "for two days", "is over" and "lasts until spring"."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise

from .alignment import Alignment
from .content import Content
from .related import Token
from .words import listed

ENDED = re.compile(
    r"\b(?:born|birth\w*|divorc\w+|marri\w+|anniversary|retire\w*|quit|stopp\w+|gave|longer|degree|studied|wed\w*|dead|died"
    r"|late|said|mentioned|told)\b",
    re.IGNORECASE,
)
"""Words with which a past tense describes a present state: "was born", "got divorced", "quit smoking"."""
_LASTING = re.compile(r"\blast(?:s|ed|ing)? (?:for |about |around |nearly |up to )*\d")
_OLD = re.compile(r"\b(?:years?|months?|weeks?|days?) old\b", re.IGNORECASE)
_SINCE = re.compile(r"\bfor (?:\w+ ){1,3}(?:years?|months?|weeks?|days?)\b", re.IGNORECASE)
_AGED = listed("old age aged born birth birthday")
_BOUNDED = listed("until till before after yet now currently temporarily still once when while moment unless")
"""Words of a text that may say, too, that something is so for some time only."""


def differ_in_time(pair: Alignment) -> bool:
    """Whether an age is against a count, a span against a point or an interval, or what is over against what is."""
    one, other = pair.first, pair.second
    left = pair.unaligned
    return any(
        _is_age_of(first, second)
        or _is_old_and_lasts(first, second)
        or _lasted_and_was_once(first, second)
        or _recurs_and_lasts(first, second)
        or _is_over(first, second)
        or _is_until(first, second, unaligned)
        for first, second, unaligned in ((one, other, left[0]), (other, one, left[1]))
    )


def _is_age_of(one: Content, other: Content) -> bool:
    """Whether a figure is an age in the first and counts something in the second: "is 5", "has 5 grandsons"."""
    counts = (word.low for word, after in pairwise(other.tokens) if word.part == "figure" and after.tag == "NNS")
    return not (one.ages - other.ages).isdisjoint(counts)


def _is_old_and_lasts(one: Content, other: Content) -> bool:
    """Whether the first tells how old something is, the second how long it goes on: "is a year old", "for a year"."""
    lasts = _SINCE.search(other.normalised) and other.lower_tokens.isdisjoint(_AGED)
    return bool(lasts and _OLD.search(one.text))


def _lasted_and_was_once(one: Content, other: Content) -> bool:
    """Whether one verb is said of a span of time, and of a point: "has seen her for 2 years", "saw her 2 years ago"."""
    is_same = one.verb == other.verb and bool(one.figures)
    return is_same and "for" in one.lower_tokens and "ago" in other.lower_tokens - one.lower_tokens


def _is_over(one: Content, other: Content) -> bool:
    """Whether the first tells what was, and the second what is and nothing of an end: "used to fear", "is afraid"."""
    ended = other.may_be_past or other.is_perfect or other.negations or ENDED.search(other.normalised)
    return "formerly" in one.lower_tokens and not (ended or {"formerly", "former"} & other.lower_tokens)


def _recurs_and_lasts(one: Content, other: Content) -> bool:
    """Whether the first says how often, and the second how long: "come every 2 days", "last 2 days"."""
    return bool(one.intervals and not other.intervals and _LASTING.search(other.normalised))


def _is_until(one: Content, other: Content, unaligned: Collection[Token]) -> bool:
    """Whether the first ends with what the second has no word for: "may not swim until the wound has healed"."""
    at = next((token.index for token in one.tokens if token.low == "until"), None)
    if at is None or not _BOUNDED.isdisjoint(other.lower_tokens):
        return False
    clause = [token for token in one.content_words if token.index > at]
    has_verb = any(token.part == "verb" for token in clause)
    return has_verb and all(token in unaligned for token in clause)

"""The gate for text aimed at a model: it is kept out of every prompt until a person has looked at it.

It is a net, not a proof. What slips through still stands in a prompt as fenced and escaped data.
"""

from __future__ import annotations

import re

from .reading import views
from .rules import HIDDEN, RULES

_BLANKS_OF_NO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff\u180e\u3164\u115f\u1160\uffa0\u034f]")
# Scripts that mark the ends of words with a blank of no width.
_WITHOUT_BLANKS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_JOINED_LATIN = re.compile("[a-zA-Z][\u200c\u200d]+[a-zA-Z]")
_VARIATIONS = re.compile("[\U000e0100-\U000e01ef]|[\ufe00-\ufe0f]{2}")


def find_instructions(text: str) -> str:
    """Say what makes a text look as if it were aimed at a model ("tells a model to …"); empty when nothing does."""
    if not text.isascii() and _hides(text):
        return HIDDEN
    for view in views(text):
        padded = f" {view} "
        for rule in RULES:
            if rule.holds(padded):
                return rule.kind
    return ""


def _hides(text: str) -> bool:
    if _VARIATIONS.search(text) or len(_JOINED_LATIN.findall(text)) >= 2:
        return True
    return len(_BLANKS_OF_NO_WIDTH.findall(text)) >= 3 and not _WITHOUT_BLANKS.search(text)

"""The prompt-injection gate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .reading import folded, views
from .rules import COMMAND, HIDDEN, RULES, Order, Rule, is_a_wish

_BLANKS_OF_NO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff\u180e\u3164\u115f\u1160\uffa0\u034f]")
# Scripts that mark the ends of words with a blank of no width.
_WITHOUT_BLANKS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_JOINED_LATIN = re.compile("[a-zA-Z][\u200c\u200d]+[a-zA-Z]")
_VARIATIONS = re.compile("[\U000e0100-\U000e01ef]|[\ufe00-\ufe0f]{2}")


def find_instructions(text: str, *, steps: bool = False) -> str:
    """Return why a text looks like a prompt injection ("tells a model to …"), or ''.

    Such text is kept out of prompts until reviewed. The gate is heuristic: text that passes is still fenced and escaped
    in prompts. ``steps`` of a procedure are orders and no commands to a model: ``kind_of_step`` judges what they order.
    """
    if not text.isascii() and _hides(text):
        return HIDDEN
    for view in views(text):
        found = (rule for rule in matching(view) if not (steps and rule.kind == COMMAND))
        rule = next(found, None)
        if rule is not None and not (rule.kind == COMMAND and is_a_wish(view)):
            return rule.kind
    return ""


def _hides(text: str) -> bool:
    if _VARIATIONS.search(text) or len(_JOINED_LATIN.findall(text)) >= 2:
        return True
    return len(_BLANKS_OF_NO_WIDTH.findall(text)) >= 3 and not _WITHOUT_BLANKS.search(text)


_GRAM = 4
"""Characters of the parts of a text that rules are found by."""


def _by_gram() -> tuple[dict[str, list[tuple[str, int]]], list[tuple[str, int]]]:
    """Index the rules' required substrings by one of their n-grams, and list those too short for one.

    Each substring is filed under its least used n-gram, so that few are checked in vain.
    """
    long: dict[str, list[tuple[str, int]]] = {}
    short = []
    for number, rule in enumerate(RULES):
        for need in map(folded, rule.needs):
            grams = [need[start : start + _GRAM] for start in range(len(need) - _GRAM + 1)]
            if grams:
                long.setdefault(min(grams, key=lambda gram: len(long.get(gram, ()))), []).append((need, number))
            else:
                short.append((need, number))
    return long, short


_LONG, _SHORT = _by_gram()


def matching(text: str) -> Iterator[Rule | Order]:
    """Return the matching rules of a folded text, in order, trying only those whose required substrings occur."""
    padded = f" {text} "
    grams = {padded[start : start + _GRAM] for start in range(len(padded) - _GRAM + 1)}
    needs = [need for gram in _LONG.keys() & grams for need in _LONG[gram]]
    numbers = {number for need, number in (*needs, *_SHORT) if need in padded}
    for number in sorted(numbers):
        if RULES[number].matches(text):
            yield RULES[number]

"""One form for phrases and words that say one thing in any statement about a person.

The tables are ``phrases.txt``, lines of a regular expression and what is put in its place, in the order in which they
are used, and ``synonyms.txt``, lines of words of which the first stands for the others. What stands there only ever
makes two texts more alike: words that are near but not the same ("violin" and "viola") have no place in them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from .stems import stem
from .words import listed

_HERE = Path(__file__).parent
_EACH_MONTH = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
MONTHS = {name[:3]: name for name in _EACH_MONTH} | {"sept": "september"}
_TENS = {
    word: str(10 * tens)
    for tens, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2)
}
_UNITS = {
    each: unit
    for unit, all_of in {
        "kilometre": "km kilometer kms",
        "centimetre": "cm centimeter",
        "metre": "meter",
        "kilogram": "kg kilo kgs",
        "gram": "grams gr",
        "litre": "liter",
        "minute": "min mins",
        "hour": "hr hrs",
        "percent": "% pct",
        "euro": "€ eur",
        "dollar": "$ usd",
        "pound": "£ gbp",
        "franc": "chf",
    }.items()
    for each in all_of.split()
}
_IRREGULAR = dict(
    pair.split("/")
    for pair in listed(
        """woke/wake no/not never/not feet/foot children/child wives/wife knives/knife men/man women/woman mice/mouse
        teeth/tooth retirement/retire allergy/allergic allergies/allergic preference/prefer diabetic/diabetes
        vegetarianism/vegetarian married/marry marriage/marry divorced/divorce"""
    )
)
_OF_TWO_MEANINGS = {"nanny"}
_MONTH = f"({'|'.join([*_EACH_MONTH, 'sept', *(name[:3] for name in _EACH_MONTH)])})"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_DAY_FIRST = re.compile(rf"\b(?:the )?{_DAY}(?: of)? {_MONTH}\b\.?(?:,? (\d{{4}})\b)?", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\.? (?:the )?{_DAY}\b(?:,? (\d{{4}})\b)?", re.IGNORECASE)
_ISO = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)\b")
_CLOCK = re.compile(r"\b(\d{1,2})(?::(\d\d))? ?([ap])\.?m\b\.?", re.IGNORECASE)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_SIGN_FIRST = re.compile(r"([€$£]) ?(\d+(?:\.\d+)?)")
_BEFORE_MARK = re.compile(r" +(?=[.,])")


def in_one_form(text: str) -> str:
    """The text with phrases, days and times of day that say one thing in one form; no longer good English."""
    plain = _THOUSANDS.sub("", text.strip().rstrip(".").replace("’", "'"))
    plain = _dated(_SIGN_FIRST.sub(r"\2 \1", plain))
    plain = _spaced(plain)
    for pattern, put in _phrases():
        plain, found = pattern.subn(put, plain)
        if found:
            plain = _spaced(plain)
    return plain


def _spaced(text: str) -> str:
    """The text with one space between words, and none before a mark."""
    return _BEFORE_MARK.sub("", " ".join(text.split()))


def form_of(low: str) -> str:
    """The form that a word in lower case is compared in."""
    low = low.strip("'").replace("’", "'")
    low = MONTHS.get(low, _TENS.get(low, _UNITS.get(low, _IRREGULAR.get(low, low))))
    root = low if low in _OF_TWO_MEANINGS else _rooted(low)
    return _synonyms().get(root, _UNITS.get(root, root))


def _dated(text: str) -> str:
    """The text with each day and each time of day as one word: "march3y1985", "18:30"."""
    text = _DAY_FIRST.sub(lambda found: _day(found[2], found[1], found[3]), text)
    text = _MONTH_FIRST.sub(lambda found: _day(found[1], found[2], found[3]), text)
    text = _ISO.sub(lambda found: _day(_EACH_MONTH[int(found[2]) - 1], found[3], found[1]), text)
    return _CLOCK.sub(lambda found: f"{int(found[1]) % 12 + 12 * (found[3] in 'pP')}:{found[2] or '00'}", text)


def _day(month: str, day: str, year: str | None) -> str:
    return f"{MONTHS[month.lower()[:3]]}{int(day)}" + (f"y{year}" if year else "")


@cache
def _phrases() -> Sequence[tuple[re.Pattern[str], str]]:
    lines = (_HERE / "phrases.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(" =>") for line in lines if line and not line.startswith("# "))
    return [(re.compile(pattern, re.IGNORECASE), f" {put.strip()} ") for pattern, _, put in pairs]


@cache
def _synonyms() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (_HERE / "synonyms.txt").read_text(encoding="utf-8").splitlines():
        words = [] if line.startswith("#") else line.split()
        for word in words[1:]:
            found.setdefault(_rooted(word), _rooted(words[0]))
    return found


def _rooted(low: str) -> str:
    """A word without the endings that its forms differ in."""
    low = stem(low)
    if not low.isalpha() or len(low) < 4:
        return low
    low = re.sub(r"(?<=[sxh])es$|(?<=[^s])s$|(?<=...)ing$|(?<=...)ed$", "", re.sub(r"ies$", "y", low))
    return re.sub(r"([^aeiou])\1$", r"\1", stem(low)).removesuffix("e")

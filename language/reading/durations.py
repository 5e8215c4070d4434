"""Normalise amounts, durations and measures: "an hour and a half" is "90 minutes", "1.80 m" is "180 centimetres"."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_METRIC = (
    ("kilometre", "metre", 1_000),
    ("metre", "centimetre", 100),
    ("kilogram", "gram", 1_000),
    ("gram", "milligram", 1_000),
    ("litre", "millilitre", 1_000),
)
_FINER = {"hour": ("minute", 60), "day": ("hour", 24), "year": ("month", 12)} | {
    unit: (finer, times) for unit, finer, times in _METRIC
}
_COARSER = {"minute": ("hour", 60), "day": ("week", 7), "month": ("year", 12)} | {
    finer: (unit, times) for unit, finer, times in _METRIC
}
_OF_TIME = ("minute", "hour", "day", "week", "month", "year")
_MEASURE = (
    "second|minute|hour|day|week|month|year|metre|meter|kilometre|kilometer|mile|kilo|kilogram|gram|pound|stone|litre"
    "|liter|foot|inch|percent|million|thousand"
)
_DURATION = re.compile(
    r"(?P<every>\b(?:every|each) )?(?<![\w.:/-])(?P<number>\d+(?:\.\d+)?)(?P<between>[ -])"
    rf"(?P<unit>{'|'.join({*_FINER, *_COARSER, *_OF_TIME})})(?P<plural>s?)\b(?! (?:a|every|per) |-?olds?\b| olds?\b)",
    re.IGNORECASE,
)

Put = str | Callable[[re.Match[str]], str]
"""What is put for a pattern."""
DURATION_SPELLINGS: Sequence[tuple[str, Put]] = (
    (r"(?<=\d)\s?mins?\b", " minutes"),
    (r"(?<=\d)\s?hrs?\b", " hours"),
    (r"(?<=\d)\s?yrs?\b", " years"),
    (r"(?<=\d)\s?(?:kms?|kilometers?)\b", " kilometres"),
    (r"(?<=\d)\s?(?:(?-i:m)|meters?)\b(?! (?:euro|dollar|pound|franc|people))", " metres"),
    (r"(?<=\d)\s?(?:cms?|centimeters?)\b", " centimetres"),
    (r"(?<=\d)\s?(?:kgs?|kilos?)\b", " kilograms"),
    (r"(?<=\d)\s?(?-i:g)\b", " grams"),
    (r"(?<=\d)\s?mg\b", " milligrams"),
    (r"(?<=\d)\s?(?:(?-i:l)|liters?)\b", " litres"),
    (r"(?<=\d)\s?(?:ml|milliliters?)\b", " millilitres"),
    (r"\bhalf a year\b", "6 months"),
    (r"\bhalf an hour\b", "30 minutes"),
    (r"\bhalf-hour\b", "30-minute"),
    (r"\b(?:three|3) quarters of an hour\b", "45 minutes"),
    (r"\b(?:three|3) quarters of a year\b", "9 months"),
    (r"\ba quarter of an hour\b", "15 minutes"),
    (r"\ba quarter of a year\b", "3 months"),
    (rf"\bhalf an? (?=(?:{_MEASURE})\b)", "0.5 "),
    (rf"\ban? ({_MEASURE}) and a half\b", r"1.5 \1s"),
)
"""Patterns of a text that is not yet normalised, and what is put for each."""
_PARTS = {"half": ".5", "quarter": ".25", "quarters": ".75"}
_AND_PART = re.compile(
    rf"\b(?P<whole>\d+|one)[ -](?:(?P<unit>(?:{_MEASURE})s?) )?and[ -](?P<part>a[ -]half|a[ -]quarter|3 quarters)\b",
    re.IGNORECASE,
)
_SIGNS = {"½": ".5", "¼": ".25", "¾": ".75"}


def _and_part(found: re.Match[str]) -> str:
    whole = "1" if found["whole"].lower() == "one" else found["whole"]
    return f"{whole}{_PARTS[found['part'].lower()[2:]]}" + (f" {found['unit']}" if found["unit"] else "")


def _duration(found: re.Match[str]) -> str:
    number, unit, every = float(found["number"]), found["unit"].lower(), found["every"] or ""
    if not number.is_integer() and unit in _FINER and (number * _FINER[unit][1]).is_integer():
        unit, number = _FINER[unit][0], number * _FINER[unit][1]
    elif number and number.is_integer() and unit in _COARSER and number % _COARSER[unit][1] == 0:
        unit, number = _COARSER[unit][0], number / _COARSER[unit][1]
        if number == 1 and unit in _OF_TIME:
            return f"{every or ('an ' if unit == 'hour' else 'a ')}{unit}"
    else:
        return found[0]
    return f"{every}{number:.0f}{found['between']}{unit}{'s' if found['between'] == ' ' else ''}"


def normalise_durations(plain: str) -> str:
    """The text, whose numerals are digits (but "one"), with parts as decimals and each duration in one unit."""
    plain = re.sub(r"(\d)\s?([½¼¾])", lambda found: found[1] + _SIGNS[found[2]], plain)
    plain = _AND_PART.sub(_and_part, plain)
    plain = re.sub(
        r"\b(\d+\.\d+) (thousand|million)\b",
        lambda found: f"{float(found[1]) * (1_000 if found[2].lower() == 'thousand' else 1_000_000):.0f}",
        plain,
        flags=re.IGNORECASE,
    )
    return _DURATION.sub(_duration, plain)

"""Times of day as people say them: "7 p.m.", "19:00", "half six", "quarter to 9", "2 in the afternoon", "at ten"."""

from __future__ import annotations

import re

from .figures import NUMERALS

_NOON, _AM, _PM = 12, 1, 2
_HOUR = rf"(?:[01]?\d|2[0-3]|{'|'.join(word for word, number in NUMERALS.items() if 0 < number <= _NOON)})"
_PART = (
    r"(?: ?(?P<half_day>[ap])\.?m\b(?:\.(?=,| (?-i:[a-z])))?"
    r"| (?:in the (?P<part>morning|afternoon|evening)|at night)\b)"
)
_WHAT_FOLLOWS = (
    r"(?=\s*(?:$|[.,;:!?)(–—→]|->|-\s|(?:now|nowadays|these|instead|in|on|at|from|every|each|until|till|to|and|but|not"
    r"|sharp|because|since|so|when|while|before|after|as|with|for|this|next|tomorrow|today|again|then|any ?more|than"
    r"|rather|was|is|if|sorry|please)\b))"
)
PATTERN = (
    rf"(?<![\w.,:-])(?:(?P<time>\d\d?:\d\d)\b"
    rf"|(?P<off>half(?: past)?|quarter (?:past|to)|(?<=\bat )(?:five|ten|twenty) (?:past|to)) (?P<of>{_HOUR})\b"
    rf"|(?P<hour>{_HOUR})(?= o['’]clock\b| ?[ap]\.?m\b| (?:in the (?:morning|afternoon|evening)|at night)\b)"
    rf"|(?<=\bat )(?P<bare>{_HOUR})(?: (?P<minutes>thirty|fifteen|forty[ -]five)\b)?{_WHAT_FOLLOWS})"
    rf"(?: o['’]clock\b)?{_PART}?"
)
"""A bare number is a time only after "at", before a word or the end that can follow a time."""
_OFF = {"half": 30, "quarter": 15, "five": 5, "ten": 10, "twenty": 20}
_MINUTES = {"thirty": 30, "fifteen": 15, "forty": 45}
_NEAR = 3
"""How many hours a time without "a.m." is from one with it at most, to be in the same half of the day."""


def key_of(found: dict[str, str]) -> tuple[int, int, int]:
    """Return the hour (0 to 11), the minute and the half of the day (0 if unsaid) of a match's groups in lower case."""
    minute = 0
    if "time" in found:
        hour, minute = map(int, found["time"].split(":"))
    else:
        said = found.get("of") or found.get("hour") or found.get("bare") or found["number"]
        hour = NUMERALS[said] if said in NUMERALS else int(said)
        minute = next((number for word, number in _MINUTES.items() if found.get("minutes", "").startswith(word)), 0)
    if "off" in found:
        off, _, direction = found["off"].partition(" ")
        hour, minute = (hour - 1, 60 - _OFF[off]) if direction == "to" else (hour, _OFF[off])
    part = found.get("part", "")
    half = _AM if "a" in found.get("half_day", "") or part == "morning" else 0
    half = _PM if "p" in found.get("half_day", "") or part in {"afternoon", "evening"} or hour > _NOON else half
    return hour % _NOON, minute, half


def is_same_time(one: tuple[int | float, ...], other: tuple[int | float, ...]) -> bool:
    """Whether two keys may be one time: a half of the day that is left unsaid may be either."""
    return one[:2] == other[:2] and (one[2] == other[2] or 0 in {one[2], other[2]})


def said_as(old: re.Match[str], new: re.Match[str]) -> str:
    """Return a new time as it was said, with the old one's half of the day if it says none and is close to it.

    "Half six" is 5:30 or 6:30, so it stays as it is. ``new`` may be a match of a number alone.
    """
    text, half_of_day = new[0].removesuffix("."), old[0][_end_of_hour(old) :]
    (was, _, half), (now, _, half_now) = (key_of(groups_of(each)) for each in (old, new))
    if half_of_day and half and now and not half_now and "off" not in groups_of(new) and abs(was - now) <= _NEAR:
        return f"{text}{half_of_day}"
    return f"{text}." if old[0].endswith(".") and text[-2:].lower() == ".m" else text


def groups_of(match: re.Match[str]) -> dict[str, str]:
    """Return the groups of a match that have a text, in lower case."""
    return {name: part.lower() for name, part in match.groupdict().items() if part}


def _end_of_hour(match: re.Match[str]) -> int:
    """Where the half of the day begins in a match."""
    return max(match.end(each) for each in ("time", "of", "minutes", "hour", "bare")) - match.start()

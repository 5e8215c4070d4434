"""Times of day as people say them: "7 p.m.", "19:00", "half six", "quarter to 9", "2 in the afternoon", "at ten"."""

from __future__ import annotations

import re

from .words import NUMERALS

_NOON, _AM, _PM = 12, 1, 2
_HOUR = rf"(?:[01]?\d|2[0-3]|{'|'.join(word for word, number in NUMERALS.items() if 0 < number <= _NOON)})"
_OFF = {"half": 30, "quarter": 15}
_MINUTES = {"thirty": 30, "fifteen": 15, "forty": 45}
_COUNT = rf"(?:\d\d?|{'|'.join(word for word, number in NUMERALS.items() if 0 < number < 2 * _NOON)})"
_PART = (
    r"(?:,? ?(?P<half_day>[ap])\.?m\b(?:\.(?=,| (?-i:[a-z])))?"
    r"|,? (?:in the (?P<part>morning|afternoon|evening)|at (?P<night>night))\b)"
)
_WHAT_FOLLOWS = (
    r"(?=\s*(?:$|[.,;:!?)(–—→]|->|-\s|(?:now|nowadays|these|instead|in|on|at|from|every|each|until|till|to|and|but|not"
    r"|the|sharp|because|since|so|when|while|before|after|as|with|for|this|next|tomorrow|today|again|then|any ?more"
    r"|than|rather|was|is|if|sorry|please)\b))"
)


def _pattern(bare: str) -> str:
    """Return the pattern of a time, in which ``bare`` matches before a number that may be one by itself."""
    return (
        rf"(?<![\w.,:-])(?:(?P<time>[0-2]?\d:[0-5]\d\b|\d\d?\.[0-5]\d(?=\s?[ap]\.?m\b)"
        r"|(?<=\bat )\d\d?\.[0-5]\d(?=\.?$|[,;]| (?:on|every|in|at|sharp)\b))"
        rf"|(?P<off>half(?: past)?|(?:a )?quarter (?:past|to)|{_COUNT}(?: minutes)? past|{_COUNT} minutes to"
        rf"|(?:(?<=\bat )|(?<=\bby )){_COUNT} to) (?P<of>{_HOUR})\b(?! minutes)"
        rf"|(?P<hour>{_HOUR})(?= o['’]clock\b|,? ?[ap]\.?m\b|,? (?:in the (?:morning|afternoon|evening)|at night)\b)"
        rf"|{bare}(?P<bare>{_HOUR})(?: (?P<minutes>thirty|fifteen|forty[ -]five)\b)?{_WHAT_FOLLOWS})"
        rf"(?: o['’]clock\b)?{_PART}?"
    )


PATTERN = _pattern(r"(?<=\bat )")
"""A bare number is a time only after "at", before a word or the end that can follow a time."""
_BEFORE = ("at", "by", "until", "till", "before", "after", "around", "about", "from", "exactly")
_AFTER_ONE = "(?:" + "|".join(rf"(?<=\b{word} )" for word in _BEFORE) + ")"
_ANY = re.compile(_pattern(_AFTER_ONE) + r"(?:(?<=\.m)\.)?", re.IGNORECASE)
"""Also numbers that are times only if the text tells which half of the day they are of."""
_AFTER_THESE = re.compile(rf"\b(?:{'|'.join(_BEFORE)}) $", re.IGNORECASE)
_LATE = (
    (re.compile(r"\bafternoons?\b", re.IGNORECASE), range(1, 7)),
    (re.compile(r"\b(?:evenings?|dinner|supper|tonight)\b", re.IGNORECASE), range(4, 12)),
    (re.compile(r"\b(?:nights?|bed|bedtime|asleep)\b", re.IGNORECASE), range(7, 12)),
)
"""Words by which an hour is one after noon, and the hours for which that is certain."""
_EARLY = re.compile(r"\b(?:mornings?|breakfast|dawn|noon|lunch)\b", re.IGNORECASE)
_NIGHT = range(6, 12)
"""Hours that "at night" puts after noon."""
_NEAR = 3
"""How many hours a time without "a.m." is from one with it at most, to be in the same half of the day."""


def normalise_clock_times(plain: str) -> str:
    """Return a text with its times as 24 hours where they tell the half of the day: "dinner at 7" has "19:00"."""
    late: set[int] = set()
    if not _EARLY.search(plain):
        late = {hour for pattern, hours in _LATE if pattern.search(plain) for hour in hours}

    def written(match: re.Match[str]) -> str:
        found = groups_of(match)
        hour, minute, half = key_of(found)
        is_late = not half and hour in late and _AFTER_THESE.search(plain, 0, match.start()) is not None
        is_range = "bare" in found and plain.startswith(" to ", match.end())
        if found.get("off") == "half" or is_range or ("bare" in found and not is_late):
            return match[0]  # "Half six" is 5:30 or 6:30.
        is_past_noon = half == _PM or is_late or ("night" in found and hour in _NIGHT)
        if half or is_late or "night" in found:
            hour += _NOON * is_past_noon
        elif not hour and not found.get("time", "").startswith("0"):
            hour = _NOON
        return f"{hour}:{minute:02}"

    return _ANY.sub(written, plain)


def told_like(text: str, other: str) -> str:
    """Return a text whose times leave the half of the day unsaid with that of the same times of another text."""
    told = [(match, key_of(groups_of(match))) for match in _ANY.finditer(other)]

    def written(match: re.Match[str]) -> str:
        found = groups_of(match)
        if "bare" in found or found.get("off") == "half" or key_of(found)[2]:
            return match[0]
        return next((its[0] for its, key in told if key[2] and is_same_time(key, key_of(found))), match[0])

    return _ANY.sub(written, text)


def key_of(found: dict[str, str]) -> tuple[int, int, int]:
    """Return the hour (0 to 11), the minute and the half of the day (0 if unsaid) of a match's groups in lower case."""
    if "time" in found:
        hour, minute = map(int, re.split("[:.]", found["time"]))
    else:
        said = found.get("of") or found.get("hour") or found.get("bare") or found["number"]
        hour = _number(said)
        minute = next((number for word, number in _MINUTES.items() if found.get("minutes", "").startswith(word)), 0)
    if "off" in found:
        off, *rest = found["off"].removeprefix("a ").split(" ")
        minutes = _OFF[off] if off in _OFF else _number(off)
        hour, minute = (hour - 1, 60 - minutes) if "to" in rest else (hour, minutes)
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


def _number(word: str) -> int:
    return NUMERALS[word] if word in NUMERALS else int(word)


def _end_of_hour(match: re.Match[str]) -> int:
    """Where the half of the day begins in a match."""
    return max(match.end(each) for each in ("time", "of", "minutes", "hour", "bare")) - match.start()

"""Normalise clock times to 24 hours: "7 p.m.", "seven in the evening" and "dinner at seven" have "19:00"."""

from __future__ import annotations

import re

_HOUR = r"(\d\d?|one)"
_PAST = re.compile(rf"\b(half|(?:a )?quarter|(\d\d?)(?: minutes)?) past {_HOUR}\b", re.IGNORECASE)
_TO = re.compile(
    rf"\b(?:(?:a )?quarter|(\d\d?) minutes|(?<=\bat )(\d\d?)|(?<=\bby )(\d\d?)) to {_HOUR}\b(?! minutes)", re.IGNORECASE
)
_OCLOCK = re.compile(rf"\b{_HOUR} o'clock\b", re.IGNORECASE)
_POINTED = re.compile(r"(?<=\bat )(\d\d?)\.([0-5]\d)(?=$|[,;]| (?:on|every|in|at|sharp|[ap])\b)")
_MARKED = re.compile(rf"\b{_HOUR}(?:[:.]([0-5]\d))?\s?([ap])\.?m\b\.?", re.IGNORECASE)
_TOLD = re.compile(
    r"\b(1[0-2]|[1-9]|one)(:[0-5]\d)?(?:,)? (?:in the (morning|afternoon|evening)|at (night))\b", re.IGNORECASE
)
_BARE = re.compile(
    r"\b(?P<before>(?:at|by|until|till|before|after|around|about|from) (?:exactly |about |around )?)"
    r"(?P<hour>1[01]|[1-9]|one)(?P<minutes>:[0-5]\d)?(?=$|[,;]| (?:sharp|on|every|in|and|is|when|then|the)\b)",
    re.IGNORECASE,
)
_LATE = (
    (re.compile(r"\bafternoons?\b", re.IGNORECASE), range(1, 7)),
    (re.compile(r"\b(?:evenings?|dinner|supper|tonight)\b", re.IGNORECASE), range(4, 12)),
    (re.compile(r"\b(?:nights?|bed|bedtime|asleep)\b", re.IGNORECASE), range(7, 12)),
)
"""Words by which an hour is one after noon, and the hours for which that is certain."""
_EARLY = re.compile(r"\b(?:mornings?|breakfast|dawn|noon|lunch)\b", re.IGNORECASE)


def _hour(word: str) -> int:
    return 1 if word.lower() == "one" else int(word)


def _before(found: re.Match[str]) -> str:
    minutes = int(found[1] or found[2] or found[3] or 15)
    return f"{(_hour(found[4]) - 1) or 12}:{60 - minutes:02}" if 0 < minutes < 60 else found[0]


def _past(found: re.Match[str]) -> str:
    minutes = int(found[2]) if found[2] else 30 if found[1].lower() == "half" else 15
    return f"{_hour(found[3])}:{minutes:02}" if minutes < 60 else found[0]


def _marked(found: re.Match[str]) -> str:
    return f"{_hour(found[1]) % 12 + 12 * (found[3] in 'pP')}:{found[2] or '00'}"


def _told(found: re.Match[str]) -> str:
    hour, part = _hour(found[1]), (found[3] or found[4]).lower()
    is_late = part != "morning" and (part != "night" or 6 <= hour < 12)
    return f"{hour % 12 + 12 * is_late}{found[2] or ':00'}"


def _late(plain: str) -> str:
    """With the bare hours of a text that tells which half of the day is meant."""
    hours = {hour for pattern, late in _LATE if pattern.search(plain) for hour in late}
    if not hours or _EARLY.search(plain):
        return plain

    def after_noon(found: re.Match[str]) -> str:
        hour = _hour(found["hour"])
        return f"{found['before']}{hour + 12}{found['minutes'] or ':00'}" if hour in hours else found[0]

    return _BARE.sub(after_noon, plain)


def normalise_clock_times(plain: str) -> str:
    """The text, whose numerals are digits (but "one"), with its clock times as 24 hours where they tell the half."""
    plain = _PAST.sub(_past, plain)
    plain = _TO.sub(_before, plain)
    plain = _OCLOCK.sub(lambda found: f"{_hour(found[1])}:00", plain)
    plain = _POINTED.sub(r"\1:\2", plain)
    plain = _late(_TOLD.sub(_told, _MARKED.sub(_marked, plain)))
    return re.sub(r"\b0(?=\d:\d\d\b)", "", plain)

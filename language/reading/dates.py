"""Replace relative dates ("yesterday", "last year") by absolute ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from language.reading.words import NUMERALS

_Render = Callable[[re.Match[str], datetime], str | None]

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = rf"(?:{'|'.join(_DAY_NAMES)}|tues|wed|thurs)"
_PART_OF_DAY = "(?:morning|afternoon|evening|night)"
_SEASON = "(?:spring|summer|autumn|fall|winter)"
_NUMBER = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"a few|a couple of|several|many|some)"
)
_PLAIN_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(NUMERALS)})"
_TEMPORAL_PREPOSITION = re.compile(r"(?i)\b(?:since|until|till|from|by|before|after|around|of)\s+$")


def _date(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _month(moment: datetime, step: int) -> str:
    months = moment.year * 12 + moment.month - 1 + step
    return f"{moment.replace(year=months // 12, month=months % 12 + 1, day=1):%B %Y}"


def _days_away(days: int) -> _Render:
    return lambda _, at: f"on {_date(at + timedelta(days=days))}"


def _ago(match: re.Match[str], at: datetime) -> str:
    return f"{match['span']} before {_date(at)}"


def _month_of_year(match: re.Match[str], at: datetime) -> str:
    """The month with its year: "June, three years ago" is that June which is the closest to three years before."""
    back = NUMERALS.get(match["years"].lower()) or int(match["years"])
    later = at.month - (_MONTHS.split("|").index(match["month"].lower()) + 1)
    year = min((at.year - back, at.year - back - 1), key=lambda each: abs((at.year - back - each) * 12 + later))
    return f"{match['on']}{match['month']} {year}"


def _period(match: re.Match[str], at: datetime) -> str | None:
    step = {"last": -1, "past": -1, "this": 0, "next": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    side = {-1: "before", 0: "of", 1: "after"}[step]
    if unit == "year":
        return f"in {at.year + step}"
    if unit == "month":
        return f"in {_month(at, step)}"
    if unit in ("week", "weekend"):
        return f"{'in' if unit == 'week' else 'on'} the {unit} {side} {_date(at)}"
    return f"on the {_day_name(unit)} {side} {_date(at)}" if step else None


def _season(match: re.Match[str], at: datetime) -> str | None:
    # The hemisphere is unknown: "the summer before" is right in both, a year might not be.
    side = {"last": "before", "next": "after"}[match["which"].lower()]
    return f"in the {match['season'].lower()} {side} {_date(at)}"


def _day_name(written: str) -> str:
    return next(name for name in _DAY_NAMES if name.startswith(written.lower())).capitalize()


_RULES: tuple[tuple[re.Pattern[str], _Render], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), render)
    for pattern, render in (
        (r"\bthe day before yesterday\b", _days_away(-2)),
        (rf"\byesterday\b(?! {_PART_OF_DAY})", _days_away(-1)),
        (rf"\btomorrow\b(?! {_PART_OF_DAY})", _days_away(1)),
        (rf"\b(?P<on>)(?P<month>{_MONTHS}),? (?P<years>{_PLAIN_NUMBER}) years ago\b", _month_of_year),
        (
            rf"\b(?P<years>{_PLAIN_NUMBER}) years ago,? (?P<on>in |on (?:the )?(?:[\w-]+ (?:of )?)?)"
            rf"(?P<month>{_MONTHS})\b(?!,? \d)",
            _month_of_year,
        ),
        (
            rf"\b(?P<span>{_NUMBER} (?:(?:good|long|full) )?(?:day|week|month|year|decade|summer|winter)s?) "
            r"(?:ago|back)(?: today)?\b",
            _ago,
        ),
        (
            r"\b(?:(?:in|on|during|over) )?(?:the )?(?P<which>last|past|this|next) "
            rf"(?P<unit>year|month|weekend|week|{_DAY})\b(?! (?:{_PART_OF_DAY}|of))",
            _period,
        ),
        (rf"\b(?:(?:in|during|over) )?(?:the )?(?P<which>last|next) (?P<season>{_SEASON})\b(?! of)", _season),
    )
)
_WEEKDAY = re.compile(
    rf"\bon (?P<unit>{_DAY})\b(?! ?(?:\d|,|the|before|after|{_MONTHS}|{_PART_OF_DAY}s\b))", re.IGNORECASE
)
# Deictic time expressions that no rule above resolves.
_UNRESOLVED = re.compile(
    rf"\b(?:today|tonight|yesterday|tomorrow|this (?:{_PART_OF_DAY}|time|{_SEASON})|right now|"
    r"at the moment|earlier|the other (?:day|night|week)|last (?:night|time)|"
    r"next time|ago|in a few (?:days|weeks|months)|soon|lately|so far|"
    r"a while back|upcoming|coming up(?! with)|past few|just now|last few|later (?:today|this)|for now|that day|"
    r"that night|in a (?:minute|bit|second)|the next day)\b",
    re.IGNORECASE,
)


def resolve_dates(text: str, at: datetime, *, past: bool) -> str | None:
    """The text with its relative dates, except in quotations, resolved as of ``at``; None if one of them can't be.

    ``past``: the clause is in the past tense, so "on Friday" is the Friday before; otherwise the one after.
    """
    parts = [part if part.startswith('"') else _resolved(part, at, past=past) for part in re.split(r'("[^"]*")', text)]
    return None if None in parts else "".join(part or "" for part in parts)


def _resolved(text: str, at: datetime, *, past: bool) -> str | None:

    def weekday(match: re.Match[str], moment: datetime) -> str:
        return f"on the {_day_name(match['unit'])} {'before' if past else 'after'} {_date(moment)}"

    for pattern, render in (*_RULES, (_WEEKDAY, weekday)):
        done = 0
        while (match := pattern.search(text, done)) is not None:
            rendered = render(match, at)
            if rendered is None:
                return None
            if _TEMPORAL_PREPOSITION.search(text[: match.start()]):
                rendered = rendered.removeprefix("in ").removeprefix("on ")
            if match.start() == 0:
                rendered = rendered[0].upper() + rendered[1:]
            text = text[: match.start()] + rendered + text[match.end() :]
            done = match.start() + len(rendered)
    return None if _UNRESOLVED.search(text) else text

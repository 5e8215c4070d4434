"""Turn "yesterday" and "last year" into dates, since what is remembered is read on another day."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from language.offline.lexicon.words import DAYS, MONTHS, listed
from language.offline.tokens import Token

_Render = Callable[[re.Match[str], datetime], str | None]

_DAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = f"(?:{'|'.join(sorted(DAYS))})"
_PART_OF_DAY = "(?:morning|afternoon|evening|night)"
_NUMBER = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|"
    r"a few|a couple of|several|many|some)"
)
_TAKES_A_TIME = listed("since until till from by before after around of")


def _date(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _month(moment: datetime, step: int) -> str:
    months = moment.year * 12 + moment.month - 1 + step
    return f"{moment.replace(year=months // 12, month=months % 12 + 1, day=1):%B %Y}"


def _days_away(days: int) -> _Render:
    return lambda _, at: f"on {_date(at + timedelta(days=days))}"


def _ago(match: re.Match[str], at: datetime) -> str:
    return f"{match['span']} before {_date(at)}"


def _period(match: re.Match[str], at: datetime) -> str | None:
    step = {"last": -1, "past": -1, "this": 0, "next": 1}[match["which"]]
    unit = match["unit"]
    side = {-1: "before", 0: "of", 1: "after"}[step]
    if unit == "year":
        return f"in {at.year + step}"
    if unit == "month":
        return f"in {_month(at, step)}"
    if unit in ("week", "weekend"):
        return f"{'in' if unit == 'week' else 'on'} the {unit} {side} {_date(at)}"
    return f"on the {_day_name(unit)} {side} {_date(at)}" if step else None


def _weekday_before(match: re.Match[str], at: datetime) -> str:
    return f"on the {_day_name(match['unit'])} before {_date(at)}"


def _untold(_match: re.Match[str], _at: datetime) -> None:
    return None


def _day_name(written: str) -> str:
    return next(name for name in _DAY_NAMES if name.startswith(written)).capitalize()


_RULES: tuple[tuple[re.Pattern[str], _Render], ...] = (
    (re.compile(r"\bthe day before yesterday\b"), _days_away(-2)),
    (re.compile(rf"\byesterday\b(?! {_PART_OF_DAY})"), _days_away(-1)),
    (re.compile(rf"\btomorrow\b(?! {_PART_OF_DAY})"), _days_away(1)),
    (re.compile(rf"\b(?P<span>{_NUMBER} (?:day|week|month|year|decade)s?) ago(?: today)?\b"), _ago),
    (
        re.compile(
            r"\b(?:(?:in|on|during|over) )?(?:the )?(?P<which>last|past|this|next) "
            rf"(?P<unit>year|month|weekend|week|{_DAY})\b(?! (?:{_PART_OF_DAY}|of))"
        ),
        _period,
    ),
)
_WEEKDAY = re.compile(rf"\bon (?P<unit>{_DAY})\b(?! ?(?:\d|,|the|{'|'.join(sorted(MONTHS))}|{_PART_OF_DAY}s\b))")
_RELATIVE = re.compile(r"\b(?:last|past|this|next)\b")
# Time words that mean something only on the day they are said and that no rule above turns into a date.
_UNRESOLVED = re.compile(
    rf"\b(?:today|tonight|yesterday|tomorrow|this (?:{_PART_OF_DAY}|time|summer|spring|autumn|fall|winter)|right now|"
    r"at the moment|earlier|the other (?:day|night|week)|last (?:night|time|summer|spring|autumn|fall|winter)|"
    r"next (?:time|summer|spring|autumn|fall|winter)|ago|in a few (?:days|weeks|months)|soon|lately|so far|"
    r"a while back|these days|upcoming|coming up|past few|just now|last few|later (?:today|this)|for now|that day|"
    r"that night)\b"
)
_ONE_OFF = re.compile(
    r"\b(?:once(?! a)|one (?:day|time|night|morning|evening|afternoon)|that (?:day|time|night|year|summer|winter)|"
    rf"when i (?:got|came|arrived|called|saw)|the (?:day|night|time|moment)|(?:on|this|last|next) {_DAY}\b"
    rf"(?! ?{_PART_OF_DAY}s\b))\b"
)
_WHEN = re.compile(r"\b(?:(?:1[5-9]|20)\d\d|yesterday|ago|last \w+)\b")


def with_dates(tokens: Sequence[Token], at: datetime, *, past: bool = False) -> list[Token] | None:
    """Replace relative dates by those they meant on the day ``at``; None if one of them can't be told.

    ``past`` says that the words tell of the past, so that "on Friday" is the Friday before.
    """
    low = _low(tokens)
    if not (_UNRESOLVED.search(low) or _RELATIVE.search(low) or _WEEKDAY.search(low)):
        return list(tokens)
    result = list(tokens)
    for pattern, render in (*_RULES, (_WEEKDAY, _weekday_before if past else _untold)):
        while (match := pattern.search(low)) is not None:
            rendered = render(match, at)
            if rendered is None:
                return None
            first = low.count(" ", 0, match.start())
            last = first + match.group().count(" ")
            if first and result[first - 1].low in _TAKES_A_TIME:
                rendered = rendered.removeprefix("in ").removeprefix("on ")
            result[first : last + 1] = [Token(rendered, "(date)", result[first].start, result[last].end)]
            low = _low(result)
    return None if _UNRESOLVED.search(low) else result


def _low(tokens: Sequence[Token]) -> str:
    return " ".join(token.low for token in tokens)


def one_off(low: str) -> bool:
    """Whether a clause in lower case tells of a single occasion rather than of how things were."""
    return bool(_ONE_OFF.search(low))


def is_dated(low: str) -> bool:
    """Whether a clause in lower case says when: a year, a month, or a day counted from today."""
    return bool(_WHEN.search(low)) or not MONTHS.isdisjoint(low.split())

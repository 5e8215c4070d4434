"""Turn "yesterday" and "last year" into dates, since what is remembered is read on another day."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from language.offline.lexicon.words import DAYS, MONTHS, listed
from language.offline.tokens import Token

_NUMBER = r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|a few|a couple of|several|many|some)"
_MONTH_NAMES = ("january february march april may june july august september october november december").split()


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _month(moment: datetime, step: int) -> str:
    number = moment.year * 12 + moment.month - 1 + step
    return f"{_MONTH_NAMES[number % 12].capitalize()} {number // 12}"


def _relative_period(match: re.Match[str], at: datetime) -> str | None:
    step = {"last": -1, "past": -1, "this": 0, "next": 1}[match["which"]]
    unit = match["unit"]
    if unit == "year":
        return f"in {at.year + step}"
    if unit == "month":
        return f"in {_month(at, step)}"
    if unit in ("week", "weekend"):
        where = {-1: "before", 0: "of", 1: "after"}[step]
        return f"{'in' if unit == 'week' else 'on'} the {unit} {where} {_day(at)}"
    if unit in DAYS and step:
        return f"on the {unit.capitalize()} {'before' if step < 0 else 'after'} {_day(at)}"
    return None


_RULES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], str | None]], ...] = (
    (re.compile(r"\bthe day before yesterday\b"), lambda _, at: f"on {_day(at - timedelta(days=2))}"),
    (re.compile(r"\byesterday\b(?! (?:morning|afternoon|evening|night))"), lambda _, at: f"on {_day(at - timedelta(days=1))}"),
    (re.compile(r"\btomorrow\b(?! (?:morning|afternoon|evening|night))"), lambda _, at: f"on {_day(at + timedelta(days=1))}"),
    (
        re.compile(rf"\b{_NUMBER} (?P<unit>day|week|month|year|decade)s? ago(?: today)?\b"),
        lambda match, at: f"{match.group().removesuffix(' today').removesuffix(' ago')} before {_day(at)}",
    ),
    (
        re.compile(rf"\b(?:(?:in|on|during|over) )?(?:the )?(?P<which>last|past|this|next) (?P<unit>year|month|week|weekend|{'|'.join(sorted(DAYS))})\b(?! (?:morning|afternoon|evening|night|of))"),
        _relative_period,
    ),
)  # fmt: skip
# Time words that mean something only on the day they are said and that no rule above turns into a date.
_UNRESOLVED = re.compile(
    r"\b(?:today|tonight|yesterday|tomorrow|this (?:morning|afternoon|evening|time|summer|spring|autumn|fall|winter)"
    r"|right now|at the moment|earlier|the other (?:day|night|week)|last (?:night|time|summer|spring|autumn|fall|winter)"
    r"|next (?:time|summer|spring|autumn|fall|winter)|ago|in a few (?:days|weeks|months)|soon|lately|so far|a while back"
    r"|these days|upcoming|coming up|past few|just now|last few|later (?:today|this)|for now|that day|that night)\b"
)
_TAKES_A_TIME = listed("since until till from by before after around of")
_ON_A_DAY = re.compile(
    rf"\b(?:on|this|last|next) (?:{'|'.join(sorted(DAYS))})\b(?! ?(?:morning|afternoon|evening|night)?s\b)"
)


def with_dates(tokens: Sequence[Token], at: datetime) -> list[Token] | None:
    """Replace relative dates by those they meant on the day ``at``; None if one of them can't be told."""
    low = " ".join(token.low for token in tokens)
    if not _mentions_time(low):
        return list(tokens)
    result = list(tokens)
    for pattern, render in _RULES:
        match = pattern.search(low)
        while match is not None:
            rendered = render(match, at)
            if rendered is None:
                return None
            first = low.count(" ", 0, match.start())
            last = first + match.group().count(" ")
            if first and result[first - 1].low in _TAKES_A_TIME:
                rendered = rendered.removeprefix("in ").removeprefix("on ")
            stamp = Token(rendered, "(date)", result[first].start, result[last].end)
            result[first : last + 1] = [stamp]
            low = " ".join(token.low for token in result)
            match = pattern.search(low)
    return None if _UNRESOLVED.search(low) else result


def _mentions_time(low: str) -> bool:
    return bool(_UNRESOLVED.search(low)) or bool(re.search(r"\b(?:last|past|this|next)\b", low))


def one_off(low: str) -> bool:
    """Whether a clause in lower case tells of a single occasion rather than of how things were."""
    return bool(
        re.search(r"\b(?:once|one (?:day|time|night|morning|evening|afternoon)|that (?:day|time|night|year|summer|winter)|when i (?:got|came|arrived|called|saw)|the (?:day|night|time|moment))\b", low)
        or _ON_A_DAY.search(low)
        or "(date)" in low
    )  # fmt: skip


def is_dated(low: str) -> bool:
    """Whether a clause in lower case names a year, a month or a date."""
    return (
        bool(re.search(r"\b(?:1[5-9]|20)\d\d\b", low))
        or any(month in low.split() for month in MONTHS)
        or "(date)" in low
    )

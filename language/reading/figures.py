"""Normalise numbers, dates, times, measures and common paraphrases, so that equal amounts have equal figures.

The result is still parsable English: "half past five" becomes "5:30", "three decades" "30 years", "the third of March,
1958" "March 3 1958", "once a fortnight" "once every 2 weeks".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .clock import normalise_clock_times
from .durations import DURATION_SPELLINGS, Put, normalise_durations
from .words import NUMERALS, SMALL_NUMERALS, TENS, in_order

_POWERS = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
ORDINALS = in_order(
    """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
    sixteenth seventeenth eighteenth nineteenth twentieth"""
)
_ORDINALS = {word: at for at, word in enumerate(ORDINALS[1:], 2)} | {
    f"{word[:-1]}ieth": 10 * at for at, word in enumerate(TENS, 2)
}
MONTHS = in_order("january february march april may june july august september october november december")
_ORDINAL = "|".join(_ORDINALS)
_MONTH = "|".join(month.capitalize() for month in MONTHS)
_NUMERAL = "|".join(sorted(NUMERALS, key=len, reverse=True))
_ONE = rf"(?:(?:{'|'.join(TENS)})[\s-](?:{'|'.join(SMALL_NUMERALS[1:10])})|{_NUMERAL}|\d{{1,15}})"
_NUMBER = re.compile(
    rf"(?<![\w:.]){_ONE}(?:[\s-](?:{'|'.join(_POWERS)})(?:[\s-](?:and )?{_ONE}\b)?)*(?![\w:])", re.IGNORECASE
)
_DECADES = re.compile(r"\b(\d{1,3}|a) decades?\b", re.IGNORECASE)
_DATE = re.compile(
    rf"\b(?:the )?(\d\d?)(?:st|nd|rd|th)? (?:of )?({_MONTH})\b|\b({_MONTH}) (?:the )?(\d\d?)(?:st|nd|rd|th)?\b(?!:)"
)
_SHORT_MONTH = re.compile(rf"\b({'|'.join(month[:3].capitalize() for month in MONTHS if month != 'may')}|Sept)\b\.?")
_ISO = re.compile(r"\b(\d{4})-(0[1-9]|1[0-2])-(\d\d)\b")
_AFTER_TENS = re.compile(rf"\b({'|'.join(TENS)})[\s-]({'|'.join(ORDINALS[:9])})\b", re.IGNORECASE)
_RANGE = re.compile(r"(?<![\w.:/-])(\d+(?:\.\d+)?) to (\d+(?:\.\d+)?)(?![\w:/-]|\.\d)")
_DASHED = re.compile(r"(?<![\w.:/–-])(?:(\d{1,3})\s?[–-]\s?(\d{1,3})|(\d{4})\s?[–-]\s?(\d{4}))(?![\w:/–-]|\.\d)")
_SHORT_YEAR = re.compile(r"(?<!\w)'(\d\d)(s?)\b(?!')")
_NINETEEN_FORTIES = re.compile(
    rf"\b(?:the )?(eighteen|nineteen|twenty)[ -]({'|'.join(word[:-1] for word in TENS)})ies\b", re.IGNORECASE
)
_YEAR_IN_WORDS = re.compile(
    rf"\b((?:six|seven|eigh|nine)teen)[ -]((?:{'|'.join(TENS)})(?:[ -](?:{'|'.join(SMALL_NUMERALS[1:10])}))?"
    rf"|{'|'.join(SMALL_NUMERALS[10:20])})\b",
    re.IGNORECASE,
)
_DAY_FIRST = re.compile(r"\b(1[3-9]|2\d|3[01])[/.](0?[1-9]|1[0-2])[/.](\d{4})\b")
"""A date in figures whose order is certain: there is no thirteenth month."""
_HOLIDAYS = {
    "Christmas Eve": "December 24",
    "Christmas Day": "December 25",
    "Boxing Day": "December 26",
    "New Year's Eve": "December 31",
    "New Year's Day": "January 1",
}
_HOLIDAY = re.compile("|".join(_HOLIDAYS))
_FORTIES = re.compile(rf"(?<=\bthe )({'|'.join(word[:-1] for word in TENS)})ies\b", re.IGNORECASE)


def _number(found: re.Match[str]) -> str:
    if found[0].lower() == "one":
        return found[0]
    whole = part = 0
    for word in re.split(r"[\s-]+", found[0].lower()):
        if word == "hundred":
            part = (part or 1) * 100
        elif word in _POWERS:
            whole, part = whole + (part or 1) * _POWERS[word], 0
        else:
            part += NUMERALS[word] if word in NUMERALS else int(word) if word.isdigit() else 0
    return str(whole + part)


def _century(years: int) -> int:
    """Return the year that two digits stand for: "44" is 1944, "05" is 2005."""
    return years + (1900 if years > 29 else 2000)


THOUSANDS = re.compile(r"(?<=\d)\.(?=(?:\d{3}\.)*\d{3}\s?(?:€|euros?\b|EUR\b))", re.IGNORECASE)
"""The point of thousands, as most of Europe writes it: "4.200 €"."""
_SHORT_POWERS = {"k": 1_000, "m": 1_000_000}
_CURRENCIES = {"€": "euros", "$": "dollars", "£": "pounds"}
_CODES = {"EUR": "€", "USD": "$", "GBP": "£"}
_MONEY = "euros?|dollars?|pounds?|francs?"


def _short_power(found: re.Match[str]) -> str:
    return f"{float(found[2]) * _SHORT_POWERS[found[3].lower()]:.0f} {found[1]}"


_IS_ALL = r"(?![\w-])(?! (?-i:[A-Z]))(?! (?:dollars?|state)\b)"
"""After the name of a land that is not part of another name: "Bank of America", "the US state of Georgia"."""
_AMOUNT = f"times|once|{_MONEY}|hours?|minutes?|days?"
_SAYS = "says|said|mentions|mentioned|notes|noted|explains|explained|reports|reported|states|stated|shared|confirmed"
_CARE = {"s": "cares", "ed": "cared", "ing": "caring", "": "care"}
_PATTERNS: Sequence[tuple[str, Put]] = (
    ("[’‘]", "'"),
    (r"\b(?-i:Doctor|Dr\.)(?= (?-i:[A-Z]))", "Dr"),
    (r"\b(?-i:Professor|Prof\.)(?= (?-i:[A-Z]))", "Prof"),
    (r"\b(?-i:Saint|St\.)(?= (?-i:[A-Z]))", "St"),
    (rf"\bthe (?-i:USA?|U\.S\.?(?:A\.?)?|United States(?: of America)?){_IS_ALL}", "America"),
    (rf"\b(?:(?:the )(?-i:UK|U\.K\.?|United Kingdom)|(?-i:Great Britain)){_IS_ALL}", "Britain"),
    (r"\bSlovene(?=s?\b)", "Slovenian"),
    (r"\bper cent\b", "percent"),
    (r"\b(?:brothers (?:and|or) sisters|sisters (?:and|or) brothers)\b", "siblings"),
    (r"\b(\d)'(\d\d?)(?:\"|''|(?!\w))", r"\1 foot \2"),
    (rf"\b(?-i:({'|'.join(_CODES)}))\s?(?=\d)", lambda found: _CODES[found[1]]),
    (rf"(?<=[\dk])\s?(?-i:({'|'.join(_CODES)}))\b", lambda found: f" {_CURRENCIES[_CODES[found[1]]]}"),
    (rf"\b(\d{{1,9}}(?:\.\d+)?)\s?k(?= (?:{_MONEY})\b)", lambda found: f"{float(found[1]) * 1_000:.0f}"),
    (rf"([€$£])\s?(\d{{1,9}}(?:\.\d+)?)\s?({'|'.join(_SHORT_POWERS)})\b", _short_power),
    (r"n't\b", " not"),
    (r"\bcannot\b|\bca not\b", "can not"),
    (r"\bwo not\b", "will not"),
    (THOUSANDS.pattern, ""),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\bgreat-(?=grand)", "great"),
    (rf"\bunder-({'|'.join(NUMERALS)})s\b", r"under \1"),
    (r"\b(?:is|are|am) (un)?able to\b", lambda found: "can not" if found[1] else "can"),
    (r"\b(?:was|were) (un)?able to\b", lambda found: "could not" if found[1] else "could"),
    (r"\bunder-(?=\w)", "under "),
    (r"\bex-(?=\w)", "former "),
    (r"\bnon-(?=\w)", "not "),
    (r"\bdislike(?=s?\b)", "not like"),
    (r"\bmother tongue\b", "native language"),
    (r"\b(?-i:Ph\.?D)\b\.?", "doctorate"),
    (r"\bis an only child\b", "has no siblings"),
    (r"\bused to\b(?! (?:the|a|his|her|it|\w*[aeiouy]\w*ing)\b)", "formerly"),
    (rf"^(?:the )?user (?:{_SAYS}) (?:that )?(?:he|she|they)\b", "The user"),
    (rf"^(?:the )?user (?:{_SAYS}) that ", ""),
    (rf",? (?:(?:{_SAYS}) the user|the user (?:{_SAYS}))$", ""),
    (r"\bthe (\w+) of the user\b(?!')", r"the user's \1"),
    (
        r"\bfrom Monday (?:to|through|until) Friday\b|\bMonday (?:to|through) Friday\b|\bon weekdays\b",
        "every weekday",
    ),
    (r"\bon foot\b", "walking"),
    (r"\bpreviously\b", "formerly"),
    (r"\bwould (?:like|love)(?: to have)?\b", "wants"),
    (r"\b(was|were) raised(?= (?:in|on|by)\b)", "grew up"),
    (r"\bis employed (?:by|at|with)\b", "works for"),
    (r"\bis employed as\b", "works as"),
    (r"\bknows how to\b", "can"),
    (r"\blook(s|ed|ing)? after\b", lambda found: f"{_CARE[found[1] or '']} for"),
    (r"\btakes care of\b", "cares for"),
    (r"\bnearly\b", "almost"),
    (r"\b(?:is|am) (\d+|\w+) years? old\b", r"is \1"),
    (r"\bin the year (?=\d)", "in "),
    (r"([€$£])\s?(\d[\d.]*)", r"\2 \1"),
    (r"[€$£]", lambda found: f" {_CURRENCIES[found[0]]}"),
    (rf"(?<=\d)\.00(?= +(?:{_MONEY})\b)", ""),
    ("%", " percent"),
    (r"(?<=\d)\s?lbs?\b", " pounds"),
    *DURATION_SPELLINGS,
    (r"\b(?:a|every|each|per) fortnight\b|\bfortnightly\b", "every 2 weeks"),
    (r"\bfortnight\b", "2 weeks"),
    (r"\bevery (?:other|second)\b", "every 2"),
    (r"\ba couple of\b", "2"),
    (r"(?<!and )(?<!and a )\b(?:half[ -]an?[ -]dozen|(?:a )?half[ -]dozen)\b", "6"),
    (r"\b(?:a )?dozen\b", "12"),
    (r"\btwice\b", "2 times"),
    (r"\bdaily\b", "every day"),
    (r"\bhourly\b", "every hour"),
    (r"\bweekly\b", "every week"),
    (r"\bmonthly\b", "every month"),
    (r"\b(?:yearly|annually)\b", "every year"),
    (r"\bnightly\b", "every night"),
    (r"\b(?:each|per)(?= (?:day|week|month|year|night|morning|evening|hour|\w+day)\b)", "every"),
    (rf"\b({_AMOUNT}) an? (?=(?:day|week|month|year|night|hour)\b)", r"\1 every "),
)
_SPELLINGS = [(re.compile(pattern, re.IGNORECASE), put) for pattern, put in _PATTERNS]


_UNITS = {"hour": 1 / 24, "day": 1.0, "night": 1.0, "week": 7.0, "month": 30.0, "year": 365.0}
_HOW_OFTEN = re.compile(
    rf"\b(?:(?:(?P<times>\d{{1,6}}) times|(?P<once>once)) (?:an?|in|every|per|within) |every )"
    rf"(?:(?P<span>\d{{1,6}}) )?(?P<unit>{'|'.join(_UNITS)})s?\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    rf"\b(?P<times>\d{{1,6}}) (?:(?:\w+ ){{1,2}}?(?:every|an?) (?P<unit>{'|'.join(_UNITS)})\b"
    rf"|every (?P<each>{'|'.join(_UNITS)}) \w+)",
    re.IGNORECASE,
)
"""A count of what is done in an interval, or of something else: "2 doses every day", "5 every day prayers"."""


def how_often(normalised: str) -> frozenset[float]:
    """Return the intervals in days at which something is done, by a normalised text: "2 times every week" is 3.5.

    Where something is counted, it may be how often: "2 doses every day" is 0.5, or 1.
    """
    found = {
        _UNITS[found["unit"].lower()] * int(found["span"] or 1) / max(1, int(found["times"] or 1))
        for found in _HOW_OFTEN.finditer(normalised)
    }
    if found:
        found |= {
            _UNITS[(each["unit"] or each["each"]).lower()] / max(1, int(each["times"]))
            for each in _COUNTED.finditer(normalised)
        }
    return frozenset(found)


def normalise_figures(text: str) -> str:
    """The normalised text, without the final full stop."""
    plain = text.strip().rstrip(".")
    for pattern, put in _SPELLINGS:
        plain = pattern.sub(put, plain)
    return " ".join(_normalise_dates(plain).split())


def _normalise_pairs(plain: str) -> str:
    """With scores and ranges as "3 to 1", and readings such as that of the blood pressure as "150/95"."""
    plain = _DASHED.sub(lambda found: f"{found[1] or found[3]} to {found[2] or found[4]}", plain)
    plain = re.sub(r"(?<=\d to )one\b(?! of)|\bone(?= to \d)", "1", plain)
    plain = re.sub(r"\b[Bb]etween (\d+) and (?=\d)", r"\1 to ", plain)
    return re.sub(r"\b(\d{2,3}) over (?=\d{2,3}\b)", r"\1/", plain)


def ranges(normalised: str) -> frozenset[tuple[str, str]]:
    """Return the scores and ranges of a normalised text, as pairs of figures in their order."""
    return frozenset((found[1], found[2]) for found in _RANGE.finditer(normalised))


def _normalise_dates(plain: str) -> str:
    """With numerals as digits and dates as month, day, year."""
    plain = _HOLIDAY.sub(lambda found: _HOLIDAYS[found[0]], plain)
    plain = _DAY_FIRST.sub(lambda found: f"{MONTHS[int(found[2]) - 1].capitalize()} {int(found[1])} {found[3]}", plain)
    plain = _ISO.sub(lambda found: f"{MONTHS[int(found[2]) - 1].capitalize()} {int(found[3])} {found[1]}", plain)
    plain = _SHORT_MONTH.sub(
        lambda found: next(each for each in MONTHS if each[:3] == found[1][:3].lower()).capitalize(), plain
    )
    plain = _AFTER_TENS.sub(lambda found: str(NUMERALS[found[1].lower()] + ORDINALS.index(found[2].lower()) + 1), plain)
    plain = re.sub(
        rf"\b(?:{_ORDINAL})(?= (?:of )?(?:{_MONTH})\b)", lambda found: str(_ORDINALS[found[0].lower()]), plain
    )
    plain = re.sub(rf"\bfirst(?= of (?:{_MONTH}|(?:the|every) month)\b)", "1", plain)
    plain = _SHORT_YEAR.sub(lambda found: f"{_century(int(found[1]))}{found[2]}", plain)
    plain = _NINETEEN_FORTIES.sub(
        lambda found: f"the {NUMERALS[found[1].lower()]}{NUMERALS[f'{found[2].lower()}y']}s", plain
    )
    plain = _YEAR_IN_WORDS.sub(lambda found: f"{NUMERALS[found[1].lower()]}{_NUMBER.sub(_number, found[2])}", plain)
    plain = _FORTIES.sub(lambda found: f"{1900 + NUMERALS[f'{found[1].lower()}y']}s", plain)
    plain = normalise_clock_times(_NUMBER.sub(_number, plain))
    plain = _normalise_pairs(normalise_durations(plain))
    plain = _DECADES.sub(lambda found: f"{10 * int(found[1]) if found[1].isdigit() else 10} years", plain)
    plain = _DATE.sub(lambda found: f"{found[2] or found[3]} {found[1] or found[4]}", plain)
    plain = re.sub(r"\b(\d+)(?:st|nd|rd|th)\b", r"\1", plain)
    plain = re.sub(
        rf"\b(?!second\b)(?:{_ORDINAL})\b", lambda found: str(_ORDINALS[found[0].lower()]), plain, flags=re.IGNORECASE
    )
    plain = re.sub(r"\byoungest of (\d+)(?! \w)", r"youngest of \1 siblings", plain)
    return re.sub(r"\b(\d+)-year-olds?\b", r"\1 years old", plain)

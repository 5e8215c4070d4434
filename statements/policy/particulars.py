"""What hardly two statements share by chance: an amount with what it is for or about, or two names."""

from __future__ import annotations

import re

from language.reading.compare import content_words
from language.reading.figures import normalise_figures
from language.shown import as_shown

_FIGURE = re.compile(r"\d+(?:[.,' ]\d{3})*(?!\d)")
_SEPARATORS = re.compile(r"[.,' ]")
_YEAR = re.compile(r"(?:19|20)\d\d")
_NAME = re.compile(r"(?<![.!?:;] )(?<!^)\b[^\W\d_]\w+")
_CURRENCIES = {
    **dict.fromkeys(("€", "eur", "euro", "euros"), "eur"),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "usd"),
    **dict.fromkeys(("£", "gbp", "pound", "pounds", "quid"), "gbp"),
    **dict.fromkeys(("chf", "franc", "francs"), "chf"),
}
_CURRENCY = re.compile(r"[€$£]|[^\W\d_]+")
_NO_MATTER = frozenset({"user", "every", "each", "day", "week", "month", "year"})
_LEAST_FIGURE = 100
_FEWEST_NAMES = 2


def shares_particulars(one: str, other: str) -> bool:
    """Whether two texts share a large figure and a name, an amount of money and another word, or two names.

    Figures are compared however they are written: "nine thousand euros" is "EUR 9,000". Years are none.
    """
    names = _names(one) & _names(other)
    if len(names) >= _FEWEST_NAMES:
        return True
    if not _figures(one) & _figures(other):
        return False
    return bool(names or (_currencies(one) & _currencies(other) and _matters(one) & _matters(other)))


def _matters(text: str) -> set[str]:
    """The content words of a text without the user, figures, currencies and times."""
    return {
        word for word in content_words(text) if word.isalpha() and word not in _NO_MATTER and word not in _CURRENCIES
    }


def _figures(text: str) -> set[int]:
    said = (_SEPARATORS.sub("", each) for each in _FIGURE.findall(normalise_figures(as_shown(text))))
    return {int(each) for each in said if int(each) >= _LEAST_FIGURE and not _YEAR.fullmatch(each)}


def _names(text: str) -> set[str]:
    return {
        name.removesuffix("s") for name in _NAME.findall(as_shown(text)) if name[0].isupper() and not name.isupper()
    }


def _currencies(text: str) -> set[str]:
    words = _CURRENCY.findall(as_shown(text).casefold())
    return {_CURRENCIES[word] for word in words if word in _CURRENCIES}

"""Statements that name their person, worded as "the user": "Ada has a cat." and "The user has a cat." are one."""

from __future__ import annotations

import regex as re

from language.ignorable import without_ignorable

_TWICE = re.compile(r"\b(?:the )?user,? the user\b,?", re.IGNORECASE)


def as_of_user(text: str, name: str) -> str:
    """Return a text with the person's full name or first name replaced by "the user"; the same text without one.

    Another surname, or another first name before the surname, makes it somebody else. Ordinary words can be names
    (Will, Hope), so they have to be capitalised, unless nothing in the text is.
    """
    first = name.split(maxsplit=1)[0] if name.strip() else ""
    shown = without_ignorable(text)
    if len(first) < 2 or first.casefold() not in shown.casefold():
        return text
    said = _pattern(name.split(), shown == shown.lower()).sub("the user", shown)
    if said == shown:
        return text
    said = _TWICE.sub("the user", said)
    return said[0].upper() + said[1:]


def _pattern(words: list[str], is_lower: bool) -> re.Pattern[str]:
    first = words[0]
    forms = "|".join(re.escape(form) for form in (first[0].upper() + first[1:], first.upper()))
    rest = "".join(rf"\s+{re.escape(word)}" for word in words[1:])
    other = "" if is_lower else r"(?!\s+\p{Lu}\p{Ll})"
    after = f"(?:{rest}|{other})" if rest else other
    pattern = rf"(?<![\w'’-])(?:{forms}){after}(?![\w-])"
    # Not kept in the module's cache: it is somebody's name.
    return re.compile(pattern, re.IGNORECASE if is_lower else 0, cache_pattern=False)

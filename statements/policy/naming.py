"""Statements that name their person, worded as "the user": "Ada has a cat." and "The user has a cat." are one."""

from __future__ import annotations

from collections.abc import Sequence

import regex as re

from accounts.scope import acting_name
from language.second_person import second_person, told_to
from language.shown import as_shown

_USER = re.compile(r"\bthe user\b", re.IGNORECASE)
_NAMED_SO = re.compile(
    r"(\b(?:(?:be|been|is|are|was|were) (?:called|named|nicknamed|known as)|go(?:es)? by|names? (?:is|was)|name[’']s)"
    r" [\"“‘']?)the user\b",
    re.IGNORECASE,
)
"""What they are called: their name is what is told here."""
_WORD_BEGINS = re.compile(r"(?<![\w'’-])\w")
_SPACE = re.compile(r"\s+")
_OTHER_SURNAME = re.compile(r"\s+\p{Lu}\p{Ll}")
_GOES_ON = re.compile(r"[\w-]")
_TWICE = re.compile(r"\b(?:the )?user,? the user\b,?", re.IGNORECASE)


def as_of_user(text: str, name: str) -> str:
    """Return a text with the person's full name or first name replaced by "the user"; the same text without one.

    Another surname, or another first name before the surname, makes it somebody else. Ordinary words can be names
    (Will, Hope), so they have to be capitalised, unless nothing in the text is.
    """
    first = name.split(maxsplit=1)[0] if name.strip() else ""
    shown = as_shown(text)
    if len(first) < 2 or first.casefold() not in shown.casefold():
        return text
    said = _replaced(shown, name.split(), shown == shown.lower())
    if said == shown:
        return text
    said = _TWICE.sub("the user", said)
    return said[0].upper() + said[1:]


def in_second_person(text: str) -> str:
    """Return a statement in the second person for the person acted for: "Ada has a cat." is "You have a cat." to Ada.

    Unchanged if it is ambiguous. In a text about "the user", their first name may be somebody else's.
    """
    name = acting_name()
    of_user = text
    if name and not _USER.search(text):
        of_user = _NAMED_SO.sub(lambda found: f"{found[1]}{name.split()[0]}", as_of_user(text, name))
    in_second = second_person(of_user)
    return text if in_second == of_user else in_second


def names_the_user(text: str) -> bool:
    """Whether a statement tells of "the user"."""
    return _USER.search(text) is not None


def fact_in_words(text: str, author: str = "") -> str:
    """Return a fact about somebody else as the person acted for is told it.

    Their own in the second person: "The user met Rosa." is "You met Rosa." With the name of another ``author``, that
    stands for "the user". A first name alone may be somebody else's here.
    """
    return _USER.sub(lambda _found: author, text) if author else told_to(acting_name(), text)


def _replaced(text: str, names: Sequence[str], is_lower: bool) -> str:
    """Replace the person's names. Compiling a pattern for each person would take a millisecond a text."""
    first = names[0]
    forms = (first.lower(),) if is_lower else (first[0].upper() + first[1:], first.upper())
    rest = [each.lower() for each in names[1:]] if is_lower else names[1:]
    done, at = "", 0
    for begin in _WORD_BEGINS.finditer(text):
        form = next((each for each in forms if text.startswith(each, begin.start())), None)
        if form is None or begin.start() < at:
            continue
        end = begin.start() + len(form)
        whole = _end_of(text, end, rest) if rest else None
        if whole is None or _GOES_ON.match(text, whole):
            if _GOES_ON.match(text, end) or (not is_lower and _OTHER_SURNAME.match(text, end)):
                continue
            whole = end
        done += f"{text[at : begin.start()]}the user"
        at = whole
    return done + text[at:]


def _end_of(text: str, at: int, names: Sequence[str]) -> int | None:
    """The position after these names, each after white space; None if others stand there."""
    for name in names:
        space = _SPACE.match(text, at)
        if space is None or not text.startswith(name, space.end()):
            return None
        at = space.end() + len(name)
    return at

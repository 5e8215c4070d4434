"""The gate for sensitive data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext_noop

from .numbers import find_accounts, find_cards, find_ids
from .passwords import find_passwords
from .reading import GateText, plain
from .secrets import find_private_keys, find_tokens

_FINDERS: list[tuple[str, Callable[[str], Iterator[tuple[int, int]]]]] = [
    (gettext_noop("private key"), find_private_keys),
    (gettext_noop("access token"), find_tokens),
    (gettext_noop("payment card number"), find_cards),
    (gettext_noop("bank account number"), find_accounts),
    (gettext_noop("national id number"), find_ids),
    (gettext_noop("password or code"), find_passwords),
]
KINDS = tuple(kind for kind, _ in _FINDERS)
_NUMBERS = {find_cards, find_accounts, find_ids}
# UUIDs: 3 of 10,000 random ones contain digits like cards or accounts. One of digits only may be such a number.
_UUID = re.compile(
    r"(?<![A-Za-z0-9])(?=[\d-]{0,35}[a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![A-Za-z0-9])", re.IGNORECASE
)
_MASK = re.compile(rf"\[(?:{'|'.join(KINDS)}) removed\]")
_WITHHELD = "(Withheld: this text held sensitive data.)"
_ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A finding: its kind in words, and its range, without the value."""

    kind: str
    start: int
    end: int


def find_sensitive(text: str) -> list[Sensitive]:
    """Return all findings in a text, ordered by kind. Ranges are half-open and may overlap."""
    reading = plain(text)
    return list(_found(reading)) if reading.text else []


def first_sensitive(text: str) -> Sensitive | None:
    """Return any one finding, or None."""
    return next(_found(plain(text)), None)


def mask_sensitive(text: str) -> str:
    """Replace findings by their kind: "[access token removed]".

    The result passes the gate. If findings remain after a few rounds, the whole text is removed.
    """
    for _ in range(_ROUNDS):
        found = find_sensitive(text)
        if not found:
            return text
        for each in _apart(found):
            text = f"{text[: each.start]}[{each.kind} removed]{text[each.end :]}"
    return _WITHHELD if find_sensitive(text) else text


def is_masked(text: str) -> bool:
    """Whether a text contains a mask."""
    return text == _WITHHELD or _MASK.search(text) is not None


def _found(reading: GateText) -> Iterator[Sensitive]:
    ids = [each.span() for each in _UUID.finditer(reading.text)]
    for kind, find in _FINDERS:
        for start, end in find(reading.text):
            if find not in _NUMBERS or not any(first <= start and end <= last for first, last in ids):
                yield Sensitive(kind, *reading.span(start, end))


def _apart(found: list[Sensitive]) -> list[Sensitive]:
    """Merge overlapping findings, last first, so that replacements don't shift the others."""
    joined: list[Sensitive] = []
    for each in sorted(found, key=lambda one: (one.start, -one.end)):
        if joined and each.start < joined[-1].end:
            last = joined[-1]
            joined[-1] = Sensitive(last.kind, last.start, max(last.end, each.end))
        else:
            joined.append(each)
    return joined[::-1]

"""One form for words that say one thing in any statement about a person, where WordNet does not have them so.

``synonyms.txt`` has lines of words of which the first stands for the others. Words that are near but not the same
("violin" and "viola") have no place in it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from .stems import stem

_HERE = Path(__file__).parent


def form_of(low: str) -> str:
    """The form that a word in lower case is compared in."""
    root = _rooted(low)
    return _synonyms().get(root, root)


@cache
def _synonyms() -> dict[str, str]:
    found: dict[str, str] = {}
    for line in (_HERE / "synonyms.txt").read_text(encoding="utf-8").splitlines():
        words = [] if line.startswith("#") else line.split()
        for word in words[1:]:
            found.setdefault(_rooted(word), _rooted(words[0]))
    return found


def _rooted(low: str) -> str:
    """A word without the endings that its forms differ in."""
    low = stem(low)
    if not low.isalpha() or len(low) < 4:
        return low
    low = re.sub(r"(?<=[sxh])es$|(?<=[^s])s$|(?<=...)ing$|(?<=...)ed$", "", re.sub(r"ies$", "y", low))
    return re.sub(r"([^aeiou])\1$", r"\1", stem(low)).removesuffix("e")

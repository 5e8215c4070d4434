"""Synonyms in statements about a person that WordNet does not have.

Each line of ``synonyms.txt`` lists words; the first replaces the others. Related words that differ in meaning ("violin"
and "viola") must not be listed.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from .stems import stem

_HERE = Path(__file__).parent


def form_of(low: str) -> str:
    """The normal form of a word in lower case, for comparison."""
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
    """The word without inflectional endings."""
    low = stem(low)
    if not low.isalpha() or len(low) < 4:
        return low
    low = re.sub(r"(?<=[sxh])es$|(?<=[^s])s$|(?<=...)ing$|(?<=...)ed$", "", re.sub(r"ies$", "y", low))
    return re.sub(r"([^aeiou])\1$", r"\1", stem(low)).removesuffix("e")

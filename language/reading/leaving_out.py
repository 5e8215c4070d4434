"""What a short message takes out of a statement that was just made: "not the lilies", of "loved lilies and roses"."""

from __future__ import annotations

import re

from .clauses import listed_with, span_in
from .parse import parse
from .revising import parts_of
from .words import listed

_NOT = re.compile(
    r"^\W*(?:(?:no|oh|wait|sorry|well|but|actually|ok|okay)\b\W*)*not (?:(?:the|his|her|my|their|our) )?"
    r"(?P<what>[^\W\d_][\w'’-]*)\W*$",
    re.IGNORECASE,
)
_NO_THING = listed(
    "really now yet sure exactly quite always often true right bad good much many yes that this it me you anymore "
    "today here there either necessarily only just bothered interested"
)


def left_out(said: str) -> str:
    """The noun that a message takes back, as it is written; empty if the message is anything else."""
    found = _NOT.match(said)
    return found["what"] if found is not None and found["what"].lower() not in _NO_THING else ""


def without(statement: str, noun: str) -> str | None:
    """Return a statement without the one of several things that the noun names; None if it lists no such thing."""
    parsed, named = parse(statement), parse(noun.lower())
    lemma = named.words[-1].lemma.lower() if named is not None else noun.lower()
    if parsed is None:
        return None
    meant = [word for word in parsed.words if word.pos in {"NOUN", "PROPN"} and lemma in {word.lemma.lower(), word.low}]
    if len(meant) != 1:
        return None
    listed_ones = listed_with(parsed, meant[0])
    if len(listed_ones) > 1:
        left = [span_in(parsed, word, listed_ones) for word in listed_ones if word is not meant[0]]
        texts = [statement[start:end] for start, end in left]
        start = span_in(parsed, listed_ones[0], listed_ones)[0]
        end = span_in(parsed, listed_ones[-1], listed_ones)[1]
        told = " and ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))
        return f"{statement[:start]}{told}{statement[end:]}"
    parts = parts_of(statement)
    stay = [part for part in parts if meant[0].text not in part]
    return stay[0] if len(parts) == 2 and len(stay) == 1 else None

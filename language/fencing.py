"""Fencing of stored text in prompts, so that it can't close the fence or act as an instruction."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import regex
from confusable_homoglyphs import confusables

MEMORY_FENCE = "memories_from_previous_interactions"
FACTS_FENCE = "facts_about_the_legacy"
RECALL_FENCE = "recalled_from_earlier_conversations"
SUMMARY_FENCE = "earlier_in_this_conversation"
DIFFERENCE_FENCE = "changed_since_these_notes"
DELTA_FENCE = "memory_updates"
LEGACY_FENCE = "who_this_conversation_is_about"
ANSWERS_FENCE = "answers_to_put_together"

_FENCES = (
    MEMORY_FENCE,
    FACTS_FENCE,
    RECALL_FENCE,
    SUMMARY_FENCE,
    DIFFERENCE_FENCE,
    DELTA_FENCE,
    LEGACY_FENCE,
    ANSWERS_FENCE,
)
_MESSAGES = tuple(f"{role}_message" for role in ("system", "developer", "tool", "user", "assistant"))
# They show a reader another order than a model reads.
DIRECTION_MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
# They look like the brackets of a tag.
WIDE_BRACKETS = {"<": "\uff1c\ufe64", ">": "\uff1e\ufe65"}
_MISLEADING = str.maketrans(
    {wide: plain for plain, group in WIDE_BRACKETS.items() for wide in group} | dict.fromkeys(DIRECTION_MARKS)
)
_FENCED = regex.compile(rf"<({'|'.join(_FENCES)})\b[^>]*>.*?(?:</\1\s*>|\Z)", regex.DOTALL | regex.IGNORECASE)
# Nothing shows these, or they change the character before them: a tag that holds some reads as one without.
_UNSEEN = r"\p{Default_Ignorable_Code_Point}\p{M}"
# Brackets of texts and of mathematics, which Unicode's table of confusables does not have.
_ANGLES = "\u2264\u2266\u2a7d\u226e\u22d6\u227a\u226a\u00ab\u2329\u3008\u300a\u27e8\u27ea\u276c\u2770\u2991\u29fc"


# Wide, mathematical, encircled and other forms of the characters of ASCII.
_FORMS = [*range(0x2100, 0x2150), *range(0x24B6, 0x24EA), *range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800)]
_PLAIN = {chr(each): unicodedata.normalize("NFKC", chr(each)).lower() for each in _FORMS}


def _looks(plain: str) -> str:
    """Return a character of ASCII in both cases, its other forms, and what looks like it by Unicode's table."""
    cases = {plain, plain.upper()}
    found = (each for case in cases for each in confusables.is_confusable(case, greedy=True) or [])
    alike = {like["c"] for each in found for like in each["homoglyphs"] if len(like["c"]) == 1}
    return "".join(sorted(cases | alike | {form for form, meant in _PLAIN.items() if meant == plain}))


_LETTERS = {each: f"[{_looks(each)}]" for name in (*_FENCES, *_MESSAGES) for each in name} | {"_": r"[\s\p{Pc}\p{Pd}]"}
_TAGS = "|".join(f"[{_UNSEEN}]*".join(_LETTERS[each] for each in name) for name in (*_FENCES, *_MESSAGES))
_OPENING = f"[{_looks('<')}{WIDE_BRACKETS['<']}{_ANGLES}]"
_OUR_TAG = regex.compile(rf"{_OPENING}(?=[\s{_looks('/')}{_UNSEEN}]*(?:{_TAGS}))")


def escaped(text: str) -> str:
    """Escape markup, wide brackets included, and remove direction marks, so that the text can't open or close a tag.

    Of other brackets, which are quotation marks and letters of some languages, those that open a tag of ours.
    """
    plain = text if text.isascii() else text.translate(_MISLEADING)
    safe = plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe if safe.isascii() else _OUR_TAG.sub("&lt;", safe)


def unescaped(text: str) -> str:
    """Undo the escapes, for what a model copied out of its prompt. Wide brackets stay narrow."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def as_data(text: str) -> str:
    """Format stored text as one escaped line, with white space folded."""
    return escaped(" ".join(text.split()))


_NOT_IN_NAMES = str.maketrans(dict.fromkeys("()[]:\uff08\uff09\uff3b\uff3d\uff1a"))


def as_name(text: str) -> str:
    """Format a stored name as data, without brackets and colons, which could imitate another line."""
    return as_data(text.translate(_NOT_IN_NAMES))


def who_said(role: str, speaker: str) -> str:
    """Return the role, with the name in brackets, since a speaker may be called "system"."""
    name = as_name(speaker)
    return f"{role} ({name})" if name else role


def as_said(text: str) -> str:
    """Return a message unchanged, except for tags reserved for prompts."""
    return _OUR_TAG.sub("&lt;", text)


def fenced(tag: str, lines: Iterable[str]) -> str:
    """Lines in a fence."""
    return "\n".join([f"<{tag}>", *lines, f"</{tag}>"])


def without_fences(text: str) -> str:
    """Return a message without recalled text, so that it is not extracted again."""
    return _FENCED.sub(" ", text).strip()

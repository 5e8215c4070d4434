"""Characters that are not shown: zero-width and formatting ones, soft hyphens, variation selectors, tags."""

from __future__ import annotations

import regex

_IGNORABLE = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}]+")


def without_ignorable(text: str) -> str:
    """Return a text as its reader sees it, for comparisons: the word "c\u200bello" is "cello"."""
    return text if text.isascii() else _IGNORABLE.sub("", text)

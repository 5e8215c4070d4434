"""A quotation in its context: the words before it, the words themselves, the words after."""

from __future__ import annotations

from dataclasses import dataclass

CONTEXT_CHARACTERS = 180


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Part of a message. ``before`` and ``after`` begin or end with an ellipsis where the message goes on."""

    before: str
    quote: str
    after: str


def excerpt(content: str, quote: str, context: int = CONTEXT_CHARACTERS) -> Excerpt:
    """Cut about ``context`` characters on each side of the quotation, between words.

    A quotation that the message does not hold word for word stands alone.
    """
    start = content.find(quote) if quote else -1
    if start < 0:
        return Excerpt("", quote, "")
    end = start + len(quote)
    return Excerpt(_tail(content[:start].lstrip(), context), quote, _head(content[end:].rstrip(), context))


def shorten(text: str, length: int) -> str:
    """The beginning of a text, cut between words, with an ellipsis where it goes on."""
    return _head(text.strip(), length)


def _tail(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    cut = text[-length:]
    _, space, rest = cut.partition(" ")
    return "… " + (rest if space else cut)


def _head(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    cut = text[:length]
    rest, space, _ = cut.rpartition(" ")
    return (rest if space else cut) + " …"

"""The gates that need no database, in their order: form, sensitive data, instruction-like text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .form import LONGEST, check_form
from .reading import views
from .rules import HIDDEN, RULES
from .sensitive import check_sensitive

_BLANKS_OF_NO_WIDTH = re.compile("[\u200b\u2060-\u2064\ufeff\u180e\u3164\u115f\u1160\uffa0\u034f]")
# Scripts that mark the ends of words with a blank of no width.
_WITHOUT_BLANKS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_JOINED_LATIN = re.compile("[a-zA-Z][\u200c\u200d]+[a-zA-Z]")
_VARIATIONS = re.compile("[\U000e0100-\U000e01ef]|[\ufe00-\ufe0f]{2}")


@dataclass(frozen=True, slots=True)
class Admitted:
    """A text that may be stored, in its stored form. With ``held_back`` it is quarantined for that reason."""

    content: str
    held_back: str = ""


def admit(text: str, *, own_word: bool, longest: int = LONGEST) -> Admitted:
    """Pass a text through the gates before it is written.

    The person's own wording (``own_word``) passes form and sensitive data only: what somebody says of themselves or of
    theirs is theirs to say. Raises Gated (422) with the reason, which never holds the value.
    """
    content = check_form(text, longest=longest)
    check_sensitive(content)
    return Admitted(content, "" if own_word else reason_to_hold_back(content))


def reason_to_hold_back(content: str) -> str:
    """Why a text is kept out of prompts, as a sentence for its author; empty when it need not be."""
    reason = find_instructions(content)
    return f"Held back because it {reason}." if reason else ""


def find_instructions(text: str) -> str:
    """Say what makes a text look as if it were aimed at a model ("tells a model to …"); empty when nothing does.

    It is kept out of every prompt until a person has looked at it. This is a net, not a proof: what slips through still
    stands in a prompt as fenced and escaped data.
    """
    if not text.isascii() and _hides(text):
        return HIDDEN
    for view in views(text):
        padded = f" {view} "
        for rule in RULES:
            if rule.holds(padded):
                return rule.kind
    return ""


def _hides(text: str) -> bool:
    if _VARIATIONS.search(text) or len(_JOINED_LATIN.findall(text)) >= 2:
        return True
    return len(_BLANKS_OF_NO_WIDTH.findall(text)) >= 3 and not _WITHOUT_BLANKS.search(text)

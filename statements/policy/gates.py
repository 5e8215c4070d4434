"""The gates that need no database, in their order: form, sensitive data, instruction-like text."""

from __future__ import annotations

from dataclasses import dataclass

from .form import LONGEST, check_form
from .instructions import find_instructions
from .sensitive import check_sensitive


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

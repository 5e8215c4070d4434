"""Pure functions without a database: gates that a text passes before it is stored, and its fingerprint."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.policy import REASON_CHARACTERS, check_sensitive
from language.gates import find_instructions
from language.gates.passages import spoken

from .constraints import check_extracted, check_statement, check_steps, numbered, steps_of
from .form import (
    LONGEST,
    LONGEST_EXTRACTED,
    SHORTEST,
    check_form,
    check_length,
    check_third_person,
    fingerprint,
    fingerprints,
    gist_fingerprints,
    word_hashers,
)
from .urgency import urgency

__all__ = [
    "HELD_BACK",
    "LONGEST",
    "LONGEST_EXTRACTED",
    "SHORTEST",
    "Admitted",
    "admit",
    "check_extracted",
    "check_form",
    "check_statement",
    "check_steps",
    "check_third_person",
    "clean_reason",
    "fingerprint",
    "fingerprints",
    "gist_fingerprints",
    "numbered",
    "reason_to_hold_back",
    "steps_of",
    "urgency",
    "waits_in_words",
    "word_hashers",
]


HELD_BACK = "Held back because it "
"""The prefix of reasons that a gate stores, in English. Pages recognise these by it, and translate them."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A text in its stored form. ``held_back`` is the reason to quarantine it, or ""."""

    content: str
    held_back: str = ""


def admit(
    text: str, *, own_word: bool, longest: int = LONGEST, verbatim: bool = False, steps: bool = False
) -> Admitted:
    """Check a text by the gates, and return it in its stored form.

    The person's own wording (``own_word``) is checked for form and sensitive data only. With ``verbatim`` the text is
    stored as it was sent, and may be as short as one character. ``steps``: of a procedure. Raises Gated (422) with the
    reason, which never holds the value.
    """
    content = check_form(text, longest=longest, shortest=1 if verbatim else SHORTEST)
    check_sensitive(content)
    if not verbatim:
        content = (numbered(steps_of(content)) if steps else "") or content
        return Admitted(content, "" if own_word else reason_to_hold_back(content, steps=steps))
    check_length(text, 1, longest)
    said = spoken(text)
    if said != text:
        check_sensitive(said)
    return Admitted(text, "" if own_word else reason_to_hold_back(content) or reason_to_hold_back(said))


def reason_to_hold_back(content: str, *, steps: bool = False) -> str:
    """Return why a text must be quarantined, as a sentence for its author, or "". ``steps``: of a procedure."""
    reason = find_instructions(content, steps=steps and bool(steps_of(content)))
    return f"{HELD_BACK}{reason}." if reason else ""


def waits_in_words(reason: str) -> str:
    """Return a stored reason of a gate or of a review, which is English, in the current language."""
    if not reason.startswith(HELD_BACK):
        return _(reason) if reason else ""
    why = reason.removeprefix(HELD_BACK).removesuffix(".")
    return _("Held back because it %(reason)s.") % {"reason": _(why)}


def clean_reason(reason: str) -> str:
    """Return a reason in its stored form, cut to the column's length. Raises Gated (422) for sensitive data."""
    reason = " ".join(reason.replace("\x00", " ").split())[:REASON_CHARACTERS]
    check_sensitive(reason)
    return reason

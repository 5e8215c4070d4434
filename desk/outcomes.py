"""Outcomes of decisions: what was done and its undo, or why it was refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from conversations.echoes import Repetition
from facts.models import FactVersion
from journal.exceptions import NotFound, Refused
from journal.steps import watch_revisions
from memories.models import MemoryVersion
from statements.policy import numbered

KEPT_OUT = gettext_noop(
    "Not kept: it is in no prompt, is not learned again, and its words are withheld from what was said."
)
"""The message after a rejection with the reason that it is not to be kept."""

CHOSEN = gettext_noop("Approved, and the other is rejected as not true.")
"""The message after a choice between two statements."""

Typed = Mapping[str, str]
"""The fields of a form as they were typed, by name."""


@dataclass(frozen=True, slots=True)
class AlsoSaid:
    """Other places with words that are not to be kept, each with a link.

    ``where``: their number in words; ``address``: target of the form that withholds them; ``page``: their page.
    """

    address: str
    page: str
    where: str
    said: Sequence[tuple[Repetition, str, str]]


@dataclass(frozen=True, slots=True)
class Done:
    """What was just done, in one word and in a sentence, and the URL that undoes it.

    The word is kept for later pages, which may be in another language: it is translated by ``label``, the text is not.
    If not ``undoable``, there is nothing to undo. ``also``: other places with words that are not to be kept.
    """

    word: str
    text: str
    undo: str = ""
    undoable: bool = True
    also: AlsoSaid | None = None

    @property
    def label(self) -> str:
        """The word, in the language of the page."""
        return _(self.word)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a decision was refused, in words, and the typed values.

    ``seen``: the wording that it was about, if there is a newer one.
    """

    decision: str
    text: str
    status: int
    typed: Typed = field(default_factory=dict)
    seen: str = ""


def with_undo(principal: Principal, change: Callable[[], Done]) -> Done:
    """Execute a change. Returns the URL that undoes it, or '' if nothing changed."""
    with watch_revisions(principal.user_id) as taken:
        done = change()
    if not taken.spans or not done.undoable:
        return done
    return replace(done, undo=reverse("undo", args=[taken.spans]))


def attempt(
    change: Callable[[], Done],
    decision: str,
    typed: Typed,
    versions: QuerySet[FactVersion] | QuerySet[MemoryVersion],
) -> Done | Refusal:
    """Execute a form's change, or return the refusal with the typed values and the wording that it was about.

    ``versions``: the existing versions. Raises NotFound like ``change``.
    """
    try:
        return change()
    except NotFound:
        raise
    except Refused as error:
        seen = versions.none() if error.code != "version_conflict" else versions.filter(number=seen_version(typed) or 0)
        wording = seen.values_list("content", flat=True).first() or ""
        return Refusal(decision, error.detail, error.status, typed, wording)


def wording_in(typed: Typed) -> str:
    """Return the wording in a form's fields. Steps, one per line, are numbered."""
    return numbered(typed["steps"].splitlines()) if "steps" in typed else typed.get("content", "")


def seen_version(typed: Typed) -> int | None:
    """Return the version that the form was rendered with."""
    return as_version(typed.get("version", ""))


def as_version(typed: str) -> int | None:
    """Parse a version; None for an invalid one."""
    return int(typed) if typed.isdecimal() and len(typed) < 10 else None


def as_sentence(text: str) -> str:
    """Return a reason with a full stop, or ''."""
    return text if not text or text[-1] in ".!?…" else f"{text}."

"""One card for a fact, a memory or a proposal: what a list, its own page and the review queue show of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from facts.models import LegacyFact
from language.second_person import second_person
from memories.models import Kind, Memory
from statements.policy import LONGEST, steps_of

from .diff import Piece, word_diff
from .labels import in_words, memory_categories, writer_label
from .outcomes import Done, Refusal, wording_in
from .quotations import Passage, Quotation


class Tag(NamedTuple):
    """A word or two beside the claim; ``style`` is a class of the stylesheet: strong, shared, waits, gone or none."""

    text: str
    style: str = ""


class Link(NamedTuple):
    """An address and what it is called."""

    address: str
    text: str


class FieldChange(NamedTuple):
    """One field other than the wording that a proposal would change."""

    label: str
    old: str
    new: str


class Button(NamedTuple):
    """A decision as it is offered: what it says, the key that presses it in the queue, and its class."""

    decision: str
    label: str
    key: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """Another fact or memory beside the one on the card.

    ``what`` says what it is to that one and ``note`` what else is to be known, both in words. ``pieces`` show how the
    earlier of the two wordings becomes the later, as ``diffed`` says; ``state`` is set for a memory that is not active.
    """

    address: str
    content: str
    what: str = ""
    note: str = ""
    state: str = ""
    pieces: Sequence[Piece] = ()
    diffed: str = gettext_noop("From that to this")


class Rival(NamedTuple):
    """Another fact or memory that can't be true beside the one on the card, or says the same: one is chosen."""

    key: str
    version: int
    other: Other


DECISIONS = {
    "approve": gettext_noop("Approve"),
    "this_one": gettext_noop("This one"),
    "edit": gettext_noop("Edit"),
    "share": gettext_noop("Share"),
    "unshare": gettext_noop("Unshare"),
    "reject": gettext_noop("Reject"),
    "dont_keep": gettext_noop("Don’t keep"),
    "delete": gettext_noop("Put away"),
    "archive": gettext_noop("Put away"),
    "restore": gettext_noop("Restore"),
    "pin": gettext_noop("Pin"),
    "unpin": gettext_noop("Unpin"),
}
"""What a person can decide about a statement, as its button says it."""
_KEYS = {
    "approve": "a",
    "this_one": "t",
    "edit": "e",
    "share": "s",
    "unshare": "s",
    "reject": "r",
    "dont_keep": "d",
    "restore": "r",
}
_GRAVE = "quiet grave"
_STYLES = {"approve": "primary", "delete": _GRAVE, "archive": _GRAVE, "reject": _GRAVE, "dont_keep": _GRAVE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What the templates show of one fact, memory or proposal, and the decisions that can be taken about it.

    ``key`` names it in element ids and, with ``route``, in the address that decisions are sent to. ``group`` is what
    its list is divided by: the legacy or the category. ``by`` is who wrote it, as its row says. ``kept`` is false for a
    fact about a legacy that the person has left. ``offers`` are decisions, the likeliest first; ``edits`` are the
    fields of the edit form, and ``stored`` what the fields of all its forms hold when nothing was typed.

    Lists show rows, which open to ``quotations``; pages and the queue show ``passages``, ``nearest`` and ``readers``.
    Only the queue sets what belongs to a proposal: ``pieces`` and ``changes`` are what it would change, ``removes``
    that it would take the thing away, ``notices`` what is to be known before one decides, ``rival`` what is shown
    beside it to choose between.
    """

    noun: Literal["fact", "memory"]
    route: str
    key: str
    version: int
    content: str
    tags: Sequence[Tag]
    origin: str
    at: datetime
    offers: Sequence[str]
    edits: Sequence[str]
    stored: Mapping[str, str]
    fact: LegacyFact | None = None
    memory: Memory | None = None
    address: str = ""
    by: str = ""
    group: Tag | None = None
    mine: bool = True
    kept: bool = True
    is_gone: bool = False
    reason: str = ""
    purge_at: datetime | None = None
    longest: int = LONGEST
    edit_approves: bool = False
    outcome: Done | Refusal | None = None
    quotations: Sequence[Quotation] = ()
    passages: Sequence[Passage] = ()
    unquoted: str = ""
    related: Sequence[Other] = ()
    nearest: Sequence[Other] = ()
    readers: str = ""
    notes: str = ""
    notices: Sequence[str] = ()
    pieces: Sequence[Piece] = ()
    changes: Sequence[FieldChange] = field(default_factory=list)
    removes: bool = False
    link: Link | None = None
    rival: Rival | None = None

    @property
    def buttons(self) -> list[Button]:
        """The decisions that are offered, in words: those between two when there is a rival."""
        words = dict(decisions_in_words(self.offers))
        if "dont_keep" in self.offers:
            words["reject"] = _("Not true")
        if self.rival:
            words |= {"approve": _("Both are true"), "reject": _("That one")}
        return [Button(name, words[name], _KEYS.get(name, ""), _STYLES.get(name, "")) for name in self.offers]

    @property
    def opens(self) -> str:
        """The name of the address that its row on a list opens with."""
        return f"{self.noun}-opened"

    @property
    def marks(self) -> list[Tag]:
        """What its row on a list says at first sight."""
        return [tag for tag in self.tags if tag.style in {"waits", "gone"}]

    @property
    def beside(self) -> list[Tag]:
        """What is said of it where its row has said that."""
        return [tag for tag in self.tags if tag not in self.marks]

    @property
    def claim(self) -> str:
        """The wording as it is shown: what is stored of the person as "The user …" is told to them as "You …"."""
        return second_person(self.content) if self.noun == "memory" else self.content

    @property
    def steps(self) -> list[str]:
        """The steps of a procedure, without their numbers."""
        return steps_of(self.content) if self.memory and self.memory.kind == Kind.PROCEDURAL else []

    @property
    def can_be_chosen(self) -> bool:
        """Whether it can be ticked on its list."""
        return self.noun == "memory" or (self.mine and not self.is_gone)

    @property
    def categories(self) -> Sequence[tuple[str, str]]:
        """The categories of such things, for a choice."""
        return in_words(LegacyFact.Category.choices) if self.noun == "fact" else memory_categories()

    @property
    def until(self) -> date | None:
        """The last day on which a memory is kept, in the person's time zone; None when it is kept for good."""
        return last_day(self.memory.expires_at) if self.memory else None

    @property
    def done(self) -> Done | None:
        """What was just done to it."""
        return self.outcome if isinstance(self.outcome, Done) else None

    @property
    def refusal(self) -> Refusal | None:
        """Why something could not be done to it."""
        return self.outcome if isinstance(self.outcome, Refusal) else None

    @property
    def changed_meanwhile(self) -> list[Piece]:
        """How the wording that a refused decision was about became the present one."""
        return word_diff(self.refusal.seen, self.content) if self.refusal and self.refusal.seen else []

    @property
    def typed_instead(self) -> list[Piece]:
        """How the present wording would become the one that was typed for another."""
        typed = wording_in(self.refusal.typed) if self.refusal and self.refusal.seen else ""
        return word_diff(self.content, typed) if typed else []

    @property
    def fields(self) -> dict[str, str]:
        """What the fields of the card's forms hold: what had been typed if that was refused, else what is stored."""
        typed = self.refusal.typed if self.refusal else {}
        return {name: typed.get(name, value) for name, value in self.stored.items()}

    @property
    def open_form(self) -> str:
        """The form that stays open because what was typed into it was refused."""
        return self.refusal.decision if self.refusal else ""


def decisions_in_words(names: Iterable[str]) -> list[tuple[str, str]]:
    """Decisions with what their buttons say."""
    # What is to be done and what was done read alike in English only.
    away = pgettext("button", "Put away")
    return [(name, away if name in {"delete", "archive"} else _(DECISIONS[name])) for name in names]


def last_day(expires_at: datetime | None) -> date | None:
    """The last day on which something is kept, in the person's time zone."""
    return None if expires_at is None else (timezone.localtime(expires_at) - timedelta(microseconds=1)).date()


def diff_of_memories(old: str, new: str) -> list[Piece]:
    """The difference of two wordings as they are shown: in the second person when both can be told so."""
    told = second_person(old), second_person(new)
    return word_diff(*told) if told[0] != old and told[1] != new else word_diff(old, new)


def origin(written_by: str, *, found: bool, own: str = "", writer: str = "") -> str:
    """Whose words a statement is in; ``found`` says that they were extracted from a conversation.

    ``writer`` is the address of the agent that wrote them.
    """
    if not written_by:
        return own or _("In your own words")
    if writer:
        return format_html(_('Written by <a href="{}">{}</a>'), writer, written_by)
    return (_("Found by %(name)s") if found else _("Written by %(name)s")) % {"name": writer_label(written_by)}


def author(written_by: str, *, found: bool) -> str:
    """The same in a word or two, for a row."""
    if not written_by:
        return _("You")
    return _("From a talk") if found else written_by


def not_quoted(written_by: str) -> str:
    """What stands where no words of the person are quoted."""
    if not written_by:
        return _("You added it yourself.")
    return _("%(name)s added it without a quotation.") % {"name": written_by}

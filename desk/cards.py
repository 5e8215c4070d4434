"""The card of a fact, memory or proposal, for lists, detail pages and the review queue."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple

from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, pgettext

from accounts.principals import Principal
from facts.models import LegacyFact
from memories.models import Kind, Memory
from memories.policy.writing import PROCEDURES
from statements.policy import LONGEST, steps_of
from statements.policy.naming import fact_in_words, in_second_person

from .diff import DiffPiece, word_diff
from .labels import in_words, memory_categories, writer_label
from .outcomes import Done, Refusal, wording_in
from .page import page_address
from .quotations import Quotation, QuotationContext


class Tag(NamedTuple):
    """A label beside the claim; ``style``: a CSS class (strong, shared, waits, gone or '')."""

    text: str
    style: str = ""


class Link(NamedTuple):
    """A link with its text."""

    address: str
    text: str


class FieldChange(NamedTuple):
    """A changed field of a proposal, other than the wording."""

    label: str
    old: str
    new: str


class Button(NamedTuple):
    """A decision button: label, keyboard key in the queue, CSS class."""

    decision: str
    label: str
    key: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Other:
    """A related fact or memory on a card.

    ``what``: the relation, ``note``: further information, both in words. ``pieces``: the diff of the two wordings,
    older to newer, described by ``diffed``. ``state`` is set for a memory that is not active.
    """

    address: str
    content: str
    what: str = ""
    note: str = ""
    state: str = ""
    pieces: Sequence[DiffPiece] = ()
    diffed: str = gettext_noop("From that to this")


class Rival(NamedTuple):
    """A contradicting or duplicate statement, to choose between; ``stored``: its wording as it is stored."""

    key: str
    version: int
    other: Other
    stored: str = ""


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
    """Template data of one fact, memory or proposal, with the possible decisions.

    ``key``: used in element ids and, with ``route``, in the URL of decisions. ``group``: legacy or category, by which
    lists are grouped. ``by``: the author. ``kept`` is false for a fact of a legacy that the person has left.
    ``offers``: decisions, most likely first. ``edits``: fields of the edit form; ``stored``: initial values of all
    forms.

    Lists show rows that expand to ``quotations``; pages and the queue show ``passages``, ``nearest`` and ``readers``.
    Only the queue sets the fields of a proposal: ``pieces`` and ``changes`` (what it would change), ``removes`` (it
    would remove the object), ``notices``, and ``rival``.
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
    passages: Sequence[QuotationContext] = ()
    unquoted: str = ""
    said_before: str = ""
    related: Sequence[Other] = ()
    nearest: Sequence[Other] = ()
    readers: str = ""
    notes: str = ""
    notices: Sequence[str] = ()
    pieces: Sequence[DiffPiece] = ()
    changes: Sequence[FieldChange] = field(default_factory=list)
    removes: bool = False
    link: Link | None = None
    rival: Rival | None = None

    @property
    def buttons(self) -> list[Button]:
        """The decision buttons; with a rival, those that choose between the two."""
        words = dict(decisions_in_words(self.offers))
        if "dont_keep" in self.offers:
            words["reject"] = _("Not true")
        styles = dict(_STYLES)
        if self.rival:
            words |= {"approve": _("Both are true"), "reject": _("That one")}
            styles |= {"reject": ""}
        return [Button(name, words[name], _KEYS.get(name, ""), styles.get(name, "")) for name in self.offers]

    @property
    def opens(self) -> str:
        """The URL of the expanded row."""
        return page_address(f"{self.noun}-opened", self.key)

    @property
    def choosing(self) -> str:
        """The label of its checkbox on its list."""
        return _("Choose: %(claim)s") % {"claim": self.claim}

    @property
    def marks(self) -> list[Tag]:
        """The labels of its row."""
        return [tag for tag in self.tags if tag.style in {"waits", "gone"}]

    @property
    def beside(self) -> list[Tag]:
        """The labels not shown in its row."""
        return [tag for tag in self.tags if tag not in self.marks]

    @property
    def claim(self) -> str:
        """The displayed wording: "The user …" becomes "You …", or the name of another author."""
        if self.noun == "memory":
            return in_second_person(self.content)
        return fact_in_words(self.content, "" if self.mine else self.by)

    @property
    def steps(self) -> list[str]:
        """The steps of a procedure, without their numbers."""
        return steps_of(self.content) if self.is_procedure else []

    @property
    def is_procedure(self) -> bool:
        """Whether it is a procedure; the person's own need not consist of steps."""
        return self.memory is not None and self.memory.kind == Kind.PROCEDURAL

    @property
    def can_be_chosen(self) -> bool:
        """Whether it can be selected on its list."""
        return self.noun == "memory" or (self.mine and not self.is_gone)

    @property
    def categories(self) -> Sequence[tuple[str, str]]:
        """The categories of such things, for a choice. Procedures, and nothing else, have theirs."""
        if self.noun == "fact":
            return in_words(LegacyFact.Category.choices)
        return [each for each in memory_categories() if (each[0] == PROCEDURES) == self.is_procedure]

    @property
    def until(self) -> date | None:
        """The last day before a memory is purged, in the person's time zone, or None."""
        return last_day(self.memory.expires_at) if self.memory else None

    @property
    def done(self) -> Done | None:
        """The decision just made about it."""
        return self.outcome if isinstance(self.outcome, Done) else None

    @property
    def refusal(self) -> Refusal | None:
        """Why a decision was refused."""
        return self.outcome if isinstance(self.outcome, Refusal) else None

    @property
    def changed_meanwhile(self) -> list[DiffPiece]:
        """The diff from the wording of a refused decision to the current one."""
        if not (self.refusal and self.refusal.seen):
            return []
        compare = diff_of_memories if self.noun == "memory" else diff_of_facts
        return compare(self.refusal.seen, self.content)

    @property
    def typed_instead(self) -> list[DiffPiece]:
        """The diff from the current wording to the typed one."""
        typed = wording_in(self.refusal.typed) if self.refusal and self.refusal.seen else ""
        return word_diff(self.claim, typed) if typed else []

    @property
    def fields(self) -> dict[str, str]:
        """Values of the form fields: the typed ones after a refusal, else the stored ones."""
        typed = self.refusal.typed if self.refusal else {}
        return {name: typed.get(name, value) for name, value in self.stored.items()}

    @property
    def open_form(self) -> str:
        """The form to keep open after a refusal."""
        return self.refusal.decision if self.refusal else ""


def told_fact(principal: Principal, fact: LegacyFact) -> str:
    """Return a fact, loaded with its author, as the person is told it."""
    return fact_in_words(fact.content, "" if fact.user_id == principal.user_id else fact.user.get_full_name())


def decisions_in_words(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return decisions with their button labels."""
    # Imperative and participle differ in other languages.
    away = pgettext("button", "Put away")
    return [(name, away if name in {"delete", "archive"} else _(DECISIONS[name])) for name in names]


def last_day(expires_at: datetime | None) -> date | None:
    """Return the last day before a purge, in the person's time zone."""
    return None if expires_at is None else (timezone.localtime(expires_at) - timedelta(microseconds=1)).date()


def diff_of_memories(old: str, new: str) -> list[DiffPiece]:
    """Return the diff of two displayed wordings, in the second person if both can be."""
    return _diff_as_told(in_second_person, old, new)


def diff_of_facts(old: str, new: str) -> list[DiffPiece]:
    """Return the diff of two displayed wordings of a person's facts, in the second person if both can be."""
    return _diff_as_told(fact_in_words, old, new)


def _diff_as_told(tell: Callable[[str], str], old: str, new: str) -> list[DiffPiece]:
    told = tell(old), tell(new)
    return word_diff(*told) if told[0] != old and told[1] != new else word_diff(old, new)


def origin(written_by: str, *, found: bool, own: str = "", writer: str = "") -> str:
    """Return the author of a statement in words. ``found``: by extraction. ``writer``: the link to the agent."""
    if not written_by:
        return own or _("In your own words")
    return named(_("Found by %(name)s") if found else _("Written by %(name)s"), writer or writer_label(written_by))


def named(told: str, name: str) -> str:
    """Return a text about ``%(name)s`` with the name in it, which may be a link."""
    return format_html(told.replace("%(name)s", "{}"), name)


def author(written_by: str, *, found: bool) -> str:
    """Return the author in short, for a row."""
    if not written_by:
        return _("You")
    return _("From a talk") if found else written_by


def not_quoted(written_by: str) -> str:
    """Return the text shown without quotes."""
    if not written_by:
        return _("You added it yourself.")
    return _("%(name)s added it without a quotation.") % {"name": written_by}

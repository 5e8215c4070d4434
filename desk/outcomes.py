"""What a decision came to, and what a card tells of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from django.urls import reverse

from accounts.principals import Principal
from journal.steps import revisions_of
from statements.policy import LONGEST

from .diff import Piece, word_diff


@dataclass(frozen=True, slots=True)
class Done:
    """What was just done to something, in one word and in a sentence, and the address that undoes it.

    What is not ``undoable`` has changed nothing that anybody would want undone.
    """

    word: str
    text: str
    undo: str = ""
    undoable: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a decision could not be carried out, in words, and what had been typed for it.

    ``seen`` is the wording that it was about, when there is another one by now.
    """

    decision: str
    text: str
    status: int
    typed: Mapping[str, str] = field(default_factory=dict)
    seen: str = ""


def undoable(principal: Principal, change: Callable[[], Done]) -> Done:
    """Do something, and say at which address it is undone: none where nothing was changed."""
    with revisions_of(principal.user_id) as taken:
        done = change()
    if not taken.first or not done.undoable:
        return done
    return replace(done, undo=reverse("undo", args=[taken.first, taken.last]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Decidable:
    """What every card has: what it is about, and what was just done about that, or could not be done.

    ``noun`` names such a thing, ``route`` the address that decisions about it are sent to.
    """

    noun: ClassVar[str]
    route: ClassVar[str]
    outcome: Done | Refusal | None = None

    @property
    def key(self) -> str:
        """The id of what the card is about."""
        raise NotImplementedError

    @property
    def version(self) -> int:
        """The number of the present wording."""
        raise NotImplementedError

    @property
    def content(self) -> str:
        """The present wording."""
        raise NotImplementedError

    @property
    def longest(self) -> int:
        """How many characters a wording may have."""
        return LONGEST

    @property
    def stored(self) -> Mapping[str, str]:
        """What the fields of the card's forms hold when nothing was typed."""
        raise NotImplementedError

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
        typed = self.refusal.typed.get("content", "") if self.refusal and self.refusal.seen else ""
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


def as_sentence(text: str) -> str:
    """A reason ended as a sentence is; empty when nobody gave one."""
    return text if not text or text[-1] in ".!?…" else f"{text}."

"""What a person decides about a fact on a page: the action behind each button, what is said then, how it is undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.urls import reverse

from accounts.principals import Principal
from facts import actions
from facts.models import FactVersion, LegacyFact
from journal.exceptions import NotFound

from .cards import Done
from .shelves import is_waiting

Typed = Mapping[str, str]
Visibility = LegacyFact.Visibility


def carry_out(principal: Principal, fact: LegacyFact, decision: str, typed: Typed) -> Done:
    """Do what a button says to a fact of the person; ``typed`` holds the fields of its form.

    Raises NotFound for a decision that does not exist, Refused as the action does; nothing was changed then.
    """
    if decision not in _DECISIONS:
        raise NotFound("There is no such decision.")
    decide, word, said = _DECISIONS[decision]
    after = decide(principal, fact, typed, _seen(typed))
    if decision == "edit" and after.version == fact.version:
        return Done("Unchanged", "Nothing was different, so nothing was saved.")
    before = standing(fact)
    return Done(word, said, reverse("fact-undo", args=[fact.pk, before, fact.version]) if before in _PUT_BACK else "")


def undo(principal: Principal, fact: LegacyFact, before: str, version: int) -> Done:
    """Bring a fact of the person back to the standing and the wording that it had before a decision.

    Raises NotFound for a standing or wording that there is not, Refused as the actions do.
    """
    if before not in _PUT_BACK:
        raise NotFound("There is no such standing.")
    if version != fact.version:
        earlier = FactVersion.objects.filter(fact=fact, number=version).first()
        if earlier is None:
            raise NotFound("There is no such wording.")
        fact = actions.fact_edit(principal, fact.pk, content=earlier.content, category=earlier.category)
    if standing(fact) != before:
        _PUT_BACK[before](principal, fact)
    return Done("Undone", "Undone: it is as it was before.")


def standing(fact: LegacyFact) -> str:
    """How a fact stands, in one word: its state, or for an active one "waiting", "private" or "shared"."""
    if fact.state != LegacyFact.State.ACTIVE:
        return str(fact.state)
    return "waiting" if is_waiting(fact) else str(fact.visibility)


def _seen(typed: Typed) -> int | None:
    """The version of the fact that the form was shown with."""
    version = typed.get("version", "")
    return int(version) if version.isdecimal() and len(version) < 10 else None


def _approve(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_approve(principal, fact.pk, version=seen)


def _share(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_set_visibility(principal, fact.pk, Visibility.SHARED, version=seen)


def _unshare(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_set_visibility(principal, fact.pk, Visibility.PRIVATE, version=seen)


def _edit(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    category = typed.get("category") or None
    return actions.fact_edit(principal, fact.pk, content=typed.get("content", ""), category=category, version=seen)


def _reject(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_reject(principal, fact.pk, typed.get("reason", "").strip(), version=seen)


def _delete(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_delete(principal, fact.pk, version=seen)


def _restore(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_restore(principal, fact.pk)


_Decide = Callable[[Principal, LegacyFact, Typed, int | None], LegacyFact]

_DECISIONS: dict[str, tuple[_Decide, str, str]] = {
    "approve": (_approve, "Approved", "Approved."),
    "share": (_share, "Shared", "Shared with the other members."),
    "unshare": (_unshare, "Unshared", "Not shared any more: only you see it."),
    "edit": (_edit, "Saved", "Saved in your words."),
    "reject": (_reject, "Rejected", "Rejected: it is in no prompt and does not come back by itself."),
    "delete": (_delete, "Deleted", "Deleted. It can be restored for 30 days."),
    "restore": (_restore, "Restored", "Restored. Only you see it."),
}


def _put_back_active(principal: Principal, fact: LegacyFact, visibility: str) -> None:
    if fact.state in {LegacyFact.State.ARCHIVED, LegacyFact.State.REJECTED}:
        actions.fact_restore(principal, fact.pk)
    actions.fact_set_visibility(principal, fact.pk, visibility)


_PUT_BACK: dict[str, Callable[[Principal, LegacyFact], object]] = {
    "proposed": lambda principal, fact: actions.fact_reopen(principal, fact.pk, proposed=True),
    "waiting": lambda principal, fact: actions.fact_reopen(principal, fact.pk),
    "private": lambda principal, fact: _put_back_active(principal, fact, Visibility.PRIVATE),
    "shared": lambda principal, fact: _put_back_active(principal, fact, Visibility.SHARED),
    "hidden": lambda principal, fact: actions.fact_restore(principal, fact.pk),
    "archived": lambda principal, fact: actions.fact_delete(principal, fact.pk),
    "rejected": lambda principal, fact: actions.fact_reject(principal, fact.pk),
}

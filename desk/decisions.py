"""What a person decides about a fact on a page: the action behind each button, what is said then, how it is undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from accounts.principals import Principal
from facts import actions
from facts.models import FactVersion, LegacyFact
from facts.policy import standing
from journal.exceptions import Conflict, NotFound, Refused
from memories.models import MemoryVersion

from .outcomes import Done, Refusal

Typed = Mapping[str, str]
Visibility = LegacyFact.Visibility


def carry_out(principal: Principal, fact: LegacyFact, decision: str, typed: Typed) -> Done:
    """Do what a button says to a fact of the person; ``typed`` holds the fields of its form.

    Raises NotFound for a decision that does not exist, Refused as the action does; nothing was changed then.
    """
    if decision not in _DECISIONS:
        raise NotFound("There is no such decision.")
    decide, word, said = _DECISIONS[decision]
    after = decide(principal, fact, typed, seen_version(typed))
    before = standing(fact)
    if decision == "edit" and (after.version, standing(after)) == (fact.version, before):
        return Done("Unchanged", "Nothing was different, so nothing was saved.")
    if decision == "edit" and after.version == fact.version:
        word, said = "Approved", "Approved as it was."
    undo = reverse("fact-undo", args=[fact.pk, before, fact.version, after.version])
    return Done(word, said, undo if before in _PUT_BACK else "")


def bring_back(principal: Principal, fact: LegacyFact, number: int, typed: Typed) -> Done:
    """Give a fact of the person the wording and the category of an earlier version, as a new one.

    Raises NotFound for a version that there is not, Refused as ``fact_edit`` does.
    """
    earlier = _wording(fact, number)
    after = actions.fact_edit(
        principal, fact.pk, content=earlier.content, category=earlier.category, version=seen_version(typed)
    )
    if after.version == fact.version:
        return Done("Unchanged", "It reads so already.")
    undo = reverse("fact-undo", args=[fact.pk, standing(fact), fact.version, after.version])
    return Done("Brought back", f"Wording {number} is back.", undo if standing(fact) in _PUT_BACK else "")


def undo(principal: Principal, fact: LegacyFact, before: str, version: int, now: int) -> Done:
    """Bring a fact of the person back to the standing and the wording that it had before a decision.

    ``now`` is the version that the decision led to. Raises NotFound for a standing or wording that there is not,
    Conflict (409) when the fact was reworded since, Refused as the actions do.
    """
    if before not in _PUT_BACK:
        raise NotFound("There is no such standing.")
    if fact.version != now:
        raise Conflict("This fact was reworded since, so there is nothing to undo.", code="version_conflict")
    if version != now:
        earlier = _wording(fact, version)
        fact = actions.fact_edit(principal, fact.pk, content=earlier.content, category=earlier.category, version=now)
    if standing(fact) != before:
        _PUT_BACK[before](principal, fact)
    return Done("Undone", "Undone: it is as it was before.")


def _wording(fact: LegacyFact, number: int) -> FactVersion:
    found = FactVersion.objects.filter(fact=fact, number=number).first()
    if found is None:
        raise NotFound("There is no such wording.")
    return found


def attempt(
    change: Callable[[], Done],
    decision: str,
    typed: Typed,
    versions: QuerySet[FactVersion] | QuerySet[MemoryVersion],
) -> Done | Refusal:
    """Carry a decision out, or say why it was refused, with what had been typed and the wording that it was about.

    ``versions`` are the wordings that there are. Raises NotFound as ``change`` does.
    """
    try:
        return change()
    except NotFound:
        raise
    except Refused as error:
        seen = versions.none() if error.code != "version_conflict" else versions.filter(number=seen_version(typed) or 0)
        wording = seen.values_list("content", flat=True).first() or ""
        return Refusal(decision, error.detail, error.status, typed, wording)


def seen_version(typed: Typed) -> int | None:
    """The version of the fact that the form was shown with."""
    version = typed.get("version", "")
    return int(version) if version.isdecimal() and len(version) < 10 else None


def _approve(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_approve(principal, fact.pk, version=seen)


def _share(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    with transaction.atomic():
        if fact.state == LegacyFact.State.PROPOSED:
            actions.fact_approve(principal, fact.pk, version=seen)
        return actions.fact_set_visibility(principal, fact.pk, Visibility.SHARED, version=seen)


def _unshare(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_set_visibility(principal, fact.pk, Visibility.PRIVATE, version=seen)


def _edit(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    category = typed.get("category") or None
    return actions.fact_edit(
        principal,
        fact.pk,
        content=typed.get("content", ""),
        category=category,
        version=seen,
        approve=typed.get("approve") == "yes",
    )


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
    with transaction.atomic():
        if fact.state in {LegacyFact.State.ARCHIVED, LegacyFact.State.REJECTED}:
            actions.fact_restore(principal, fact.pk)
        else:
            actions.fact_approve(principal, fact.pk)
        actions.fact_set_visibility(principal, fact.pk, visibility)


_PUT_BACK: dict[str, Callable[[Principal, LegacyFact], object]] = {
    "proposed": lambda principal, fact: actions.fact_reopen(principal, fact.pk, proposed=True),
    "waiting": lambda principal, fact: actions.fact_reopen(principal, fact.pk),
    "private": lambda principal, fact: _put_back_active(principal, fact, Visibility.PRIVATE),
    "shared": lambda principal, fact: _put_back_active(principal, fact, Visibility.SHARED),
    "hidden": lambda principal, fact: actions.fact_restore(principal, fact.pk),
    # What was held back is so again when it is restored, or reads again as it did.
    "quarantined": lambda principal, fact: actions.fact_restore(principal, fact.pk),
    "archived": lambda principal, fact: actions.fact_delete(principal, fact.pk),
    "rejected": lambda principal, fact: actions.fact_reject(principal, fact.pk),
}

"""Decisions about a fact: the action of each button, and its message."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from facts import actions
from facts.models import FactVersion, LegacyFact
from facts.policy import review_state
from journal.exceptions import NotFound, must_find
from language.third_person import stored_as
from statements.models import RejectionReason
from statements.policy.naming import fact_in_words

from ..outcomes import CHOSEN, KEPT_OUT, Done, Typed, as_version, seen_version

Visibility = LegacyFact.Visibility


def add(principal: Principal, legacy_id: UUID, typed: Typed) -> tuple[LegacyFact, Done]:
    """Add a fact in the person's own words. Raises NotFound, Refused like ``fact_add``."""
    visibility = Visibility.SHARED if typed.get("shared") == "yes" else Visibility.PRIVATE
    fact = actions.fact_add(principal, legacy_id, typed.get("content", ""), typed.get("category", ""), visibility)
    return fact, Done(gettext_noop("Written down"), _("Written down."))


def decide_fact(principal: Principal, fact: LegacyFact, decision: str, typed: Typed) -> Done:
    """Execute a button's decision about a fact; ``typed``: the form's fields.

    Raises NotFound for an unknown decision, Refused like the action; nothing is changed then.
    """
    if decision not in _DECISIONS:
        raise NotFound("There is no such decision.")
    decide, word, said = _DECISIONS[decision]
    after = decide(principal, fact, typed, seen_version(typed))
    if decision == "edit" and (after.version, review_state(after)) == (fact.version, review_state(fact)):
        return Done(gettext_noop("Unchanged"), _("Nothing was different, so nothing was saved."))
    if decision == "edit" and after.version == fact.version:
        word, said = gettext_noop("Approved"), gettext_noop("Approved as it was.")
    return Done(word, _(said) % {"days": settings.ARCHIVE_DAYS})


def restore_wording(principal: Principal, fact: LegacyFact, number: int, typed: Typed) -> Done:
    """Restore wording and category of an earlier version of a fact. Raises NotFound, Refused like ``fact_edit``."""
    earlier = _wording(fact, number)
    after = actions.fact_edit(
        principal, fact.pk, content=earlier.content, category=earlier.category, version=seen_version(typed)
    )
    if after.version == fact.version:
        return Done(gettext_noop("Unchanged"), _("It already has this wording."))
    return Done(gettext_noop("Restored"), _("Wording %(number)s is restored.") % {"number": number})


def _wording(fact: LegacyFact, number: int) -> FactVersion:
    return must_find(FactVersion.objects.filter(fact=fact, number=number).first(), "wording")


def _approve(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_approve(principal, fact.pk, version=seen)


def _share(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    with transaction.atomic():
        if fact.state == LegacyFact.State.PROPOSED:
            actions.fact_approve(principal, fact.pk, version=seen)
        return actions.fact_set_visibility(principal, fact.pk, Visibility.SHARED, version=seen)


def _this_one(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    try:
        other = LegacyFact.objects.mine(principal).filter(pk=UUID(typed.get("rival", ""))).first()
    except ValueError:
        other = None
    if other is None:
        raise NotFound("There is no such fact.")
    with transaction.atomic():
        actions.fact_reject(principal, other.pk, version=as_version(typed.get("rival_version", "")))
        return actions.fact_approve(principal, fact.pk, version=seen)


def _unshare(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_set_visibility(principal, fact.pk, Visibility.PRIVATE, version=seen)


def _edit(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    category = typed.get("category") or None
    return actions.fact_edit(
        principal,
        fact.pk,
        content=stored_as(typed.get("content", ""), fact.content, fact_in_words(fact.content)),
        category=category,
        version=seen,
        approve=typed.get("approve") == "yes",
    )


def _reject(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_reject(principal, fact.pk, version=seen)


def _dont_keep(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_reject(principal, fact.pk, RejectionReason.DONT_KEEP, version=seen)


def _delete(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_delete(principal, fact.pk, version=seen)


def _restore(principal: Principal, fact: LegacyFact, typed: Typed, seen: int | None) -> LegacyFact:
    return actions.fact_restore(principal, fact.pk)


_Decide = Callable[[Principal, LegacyFact, Typed, int | None], LegacyFact]

_DECISIONS: dict[str, tuple[_Decide, str, str]] = {
    "approve": (_approve, gettext_noop("Approved"), gettext_noop("Approved.")),
    "this_one": (_this_one, gettext_noop("This one"), CHOSEN),
    "share": (_share, gettext_noop("Shared"), gettext_noop("Shared with the other members.")),
    "unshare": (_unshare, gettext_noop("Unshared"), gettext_noop("Not shared any more: only you see it.")),
    "edit": (_edit, gettext_noop("Saved"), gettext_noop("Saved in your words.")),
    "reject": (
        _reject,
        gettext_noop("Not true"),
        gettext_noop("Rejected as not true: it is in no prompt and is not learned again."),
    ),
    "dont_keep": (_dont_keep, gettext_noop("Not kept"), KEPT_OUT),
    "delete": (_delete, gettext_noop("Put away"), gettext_noop("Put away. It can be restored for %(days)s days.")),
    "restore": (_restore, gettext_noop("Restored"), gettext_noop("Restored. Only you see it.")),
}

"""Decisions in the queue: the action, and its message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from accounts.principals import Principal
from journal.exceptions import Conflict, NotFound, must_find
from language.third_person import stored_as
from memories import actions
from memories.models import Memory, Place, Proposal
from statements.models import RejectionReason
from statements.policy.naming import in_second_person

from ..memories import actions as memory_actions
from ..outcomes import CHOSEN, KEPT_OUT, Done, Typed, as_version, seen_version
from .queue import QueueItem

State = Memory.State
Kind = Proposal.Kind

_APPROVED = {
    Kind.UPDATE: gettext_noop("Approved: the memory was changed."),
    Kind.ARCHIVE: gettext_noop("Approved: it is put away, and can be restored for %(days)s days."),
    Kind.PLACE: gettext_noop("Approved: the place was saved."),
}
_REJECTED = {
    Kind.UPDATE: gettext_noop("Rejected: it is unchanged, and this is not proposed again."),
    Kind.ARCHIVE: gettext_noop("Rejected: it stays."),
    Kind.PLACE: gettext_noop("Rejected: your places are unchanged."),
}
_TOO_LATE = {
    "approved": gettext_noop("This was approved meanwhile, so there is nothing left to decide."),
    "rejected": gettext_noop("This was rejected meanwhile, so there is nothing left to decide."),
    "lapsed": gettext_noop("This was not decided within %(days)s days, so it has expired."),
    "archived": gettext_noop("This memory was put away meanwhile. You can restore it from its page."),
    "active": gettext_noop("This was approved meanwhile, so there is nothing left to decide."),
    "quarantined": gettext_noop("A moderator held this memory back meanwhile."),
}


def decide_item(principal: Principal, item: QueueItem, decision: str, typed: Typed) -> Done:
    """Execute a button's decision about an item; ``typed``: the form's fields.

    Raises NotFound for an unknown decision or item, Refused like the actions; nothing is changed then.
    """
    if decision not in {"approve", "edit", "reject", "dont_keep", "this_one"}:
        raise NotFound("There is no such decision.")
    if item.kind == "memory":
        return _about_memory(principal, _memory(principal, item), decision, typed)
    proposal = must_find(Proposal.objects.visible_to(principal).filter(pk=item.pk).first(), "proposal")
    return _about_proposal(principal, proposal, decision, typed)


def explain(error: Conflict) -> str:
    """Return why a decision came too late, in the page's words; else the action's message."""
    state = str(error.extra.get("state", "")) if error.code == "wrong_state" else ""
    return _(_TOO_LATE[state]) % {"days": settings.PROPOSAL_DAYS} if state in _TOO_LATE else error.detail


def _memory(principal: Principal, item: QueueItem) -> Memory:
    return must_find(Memory.objects.visible_to(principal).without_vectors().filter(pk=item.pk).first(), "memory")


def _about_memory(principal: Principal, memory: Memory, decision: str, typed: Typed) -> Done:
    if memory.state not in {State.PROPOSED, State.ACTIVE}:
        raise Conflict(_("This memory does not wait any more."), code="wrong_state", state=memory.state)
    if memory.state == State.PROPOSED and not memory.proposals.open(timezone.now()).filter(kind=Kind.CREATE).exists():
        raise Conflict(_("This memory does not wait any more."), code="wrong_state", state=Proposal.State.LAPSED)
    if decision == "this_one":
        with transaction.atomic():
            actions.memory_reject(principal, typed.get("rival", ""), version=as_version(typed.get("rival_version", "")))
            actions.memory_approve(principal, memory.pk, version=seen_version(typed))
        return Done(gettext_noop("This one"), _(CHOSEN))
    given = _given(typed, {"content": memory.content, "category": memory.category, "subject": memory.subject})
    if decision != "edit" or not given:
        done = memory_actions.decide_memory(principal, memory, "approve" if decision == "edit" else decision, typed)
        as_it_was = decision == "edit" and done.word != "Unchanged"
        return Done(done.word, _("Approved as it was.")) if as_it_was else done
    actions.memory_approve(principal, memory.pk, **given, version=seen_version(typed))
    return Done(gettext_noop("Saved"), _("Saved in your words, and approved."))


def _about_proposal(principal: Principal, proposal: Proposal, decision: str, typed: Typed) -> Done:
    if decision == "this_one":
        raise NotFound("There is no such decision.")
    if decision == "dont_keep":
        actions.proposal_reject(principal, proposal.pk, RejectionReason.DONT_KEEP)
        return Done(gettext_noop("Not kept"), _(KEPT_OUT))
    if decision == "reject":
        actions.proposal_reject(principal, proposal.pk)
        return Done(gettext_noop("Rejected"), _(_REJECTED[Kind(proposal.kind)]))
    given = _given(typed, _as_proposed(principal, proposal)) if decision == "edit" else {}
    actions.proposal_approve(principal, proposal.pk, values=given, version=seen_version(typed) or None)
    if given:
        return Done(gettext_noop("Saved"), _("Saved in your words, and approved."))
    if proposal.values.get("removed"):
        return Done(
            gettext_noop("Approved"),
            _("Approved: the place is removed, and can be restored for %(archive_days)s days.")
            % {"archive_days": settings.ARCHIVE_DAYS},
        )
    return Done(gettext_noop("Approved"), _(_APPROVED[Kind(proposal.kind)]) % {"days": settings.ARCHIVE_DAYS})


def _as_proposed(principal: Principal, proposal: Proposal) -> dict[str, str]:
    """Return the initial values of the form."""
    values: Mapping[str, Any] = proposal.values
    if proposal.kind == Kind.PLACE:
        place = Place.objects.visible_to(principal).filter(place_id=values.get("place_id")).first()
        notes = values.get("notes") or (place.notes if place else "")
        return {"name": str(values.get("name", "")), "notes": str(notes)}
    memory = _memory(principal, QueueItem("memory", str(proposal.memory_id)))
    names = ("content", "category") if memory.field else ("content", "category", "subject")
    return {name: str(values.get(name, getattr(memory, name))) for name in names}


def _given(typed: Typed, shown: Mapping[str, str]) -> dict[str, str]:
    """Return the values that the person changed."""
    given = {name: typed[name] for name in shown if name in typed}
    if "content" in given:
        given["content"] = stored_as(given["content"], shown["content"], in_second_person(shown["content"]))
    return {name: text for name, text in given.items() if _differs(name, text, shown[name])}


def _differs(name: str, typed: str, shown: str) -> bool:
    return typed != shown if name == "category" else " ".join(typed.split()) != " ".join(shown.split())

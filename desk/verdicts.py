"""What a person decides in the queue about what waits of their memory: the action, what is said then, the undo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from accounts.principals import Principal
from journal.exceptions import Conflict, NotFound
from memories import actions
from memories.models import Memory, MemoryVersion, Place, Proposal

from . import memory_decisions
from .decisions import Typed, seen_version
from .outcomes import Done
from .queues import Item

State = Memory.State
Kind = Proposal.Kind

_APPROVED = {
    Kind.UPDATE: "Approved: it reads so now.",
    Kind.ARCHIVE: "Approved: it is put away, and can be restored for 30 days.",
    Kind.PLACE: "Approved: it is among your places now.",
}
_REJECTED = {
    Kind.UPDATE: "Rejected: it stays as it is, and this is not proposed again.",
    Kind.ARCHIVE: "Rejected: it stays.",
    Kind.PLACE: "Rejected: your places stay as they are.",
}
_MEANWHILE = {
    "approved": "This was approved meanwhile, so there is nothing left to decide.",
    "rejected": "This was rejected meanwhile, so there is nothing left to decide.",
    "lapsed": "Nobody decided about this within its seven days, so it has lapsed.",
    "archived": "This memory was archived meanwhile. You can restore it from its page.",
    "active": "This was approved meanwhile, so there is nothing left to decide.",
    "quarantined": "A moderator held this memory back meanwhile.",
}


def carry_out(principal: Principal, item: Item, decision: str, typed: Typed) -> Done:
    """Do what a button says to an item of the queue; ``typed`` holds the fields of its form.

    Raises NotFound for a decision or an item that there is not, Refused as the actions do; nothing was changed then.
    """
    if decision not in {"approve", "edit", "reject"}:
        raise NotFound("There is no such decision.")
    if item.kind == "memory":
        return _about_memory(principal, _memory(principal, item), decision, typed)
    proposal = Proposal.objects.visible_to(principal).filter(pk=item.pk).first()
    if proposal is None:
        raise NotFound("There is no such proposal.")
    return _about_proposal(principal, proposal, decision, typed)


def undo_edit(principal: Principal, item: Item, before: str, version: int, now: int) -> Done:
    """Take back that a memory was approved in other words: it is worded, filed and waits as before.

    ``now`` is the version that the decision led to. Raises NotFound, Conflict (409) when it was reworded since.
    """
    stood, *marks = before.split("-")
    if stood not in {"proposed", "waiting"}:
        raise NotFound("There is no such standing.")
    memory = _memory(principal, item)
    if memory.version != now or memory.state != State.ACTIVE:
        raise Conflict("This memory was changed since, so there is nothing to undo.", code="version_conflict")
    with transaction.atomic():
        if "filed" in marks:
            old = _version(principal, memory, version)
            actions.memory_amend(principal, memory.pk, category=old.category, subject=old.subject)
        if version != now:
            actions.memory_revert(principal, memory.pk, version, version=now)
        actions.memory_reopen(principal, memory.pk, proposed=stood == "proposed", doubtful="doubtful" in marks)
    if "kept" in marks:
        return Done("Undone", "Undone: it reads and waits as before, but it stays filed as you saved it.")
    return Done("Undone", "Undone: it is as it was before.")


def undo_proposal(principal: Principal, item: Item) -> Done:
    """Take a decision about a proposal back. Raises NotFound, Refused as ``proposal_reopen`` does."""
    actions.proposal_reopen(principal, item.uuid)
    return Done("Undone", "Undone: it is as it was before.")


def explain(error: Conflict) -> str:
    """Why a decision came too late, in words of the page; what the action says for anything else."""
    state = str(error.extra.get("state", "")) if error.code == "wrong_state" else ""
    return _MEANWHILE.get(state, error.detail)


def _memory(principal: Principal, item: Item) -> Memory:
    memory = Memory.objects.visible_to(principal).without_vectors().filter(pk=item.pk).first()
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


def _version(principal: Principal, memory: Memory, number: int) -> MemoryVersion:
    versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory, number=number)
    found = versions.only("category", "subject").first()
    if found is None:
        raise NotFound("There is no such wording.")
    return found


def _about_memory(principal: Principal, memory: Memory, decision: str, typed: Typed) -> Done:
    if memory.state not in {State.PROPOSED, State.ACTIVE}:
        raise Conflict("This memory does not wait any more.", code="wrong_state", state=memory.state)
    if memory.state == State.PROPOSED and not memory.proposals.open(timezone.now()).filter(kind=Kind.CREATE).exists():
        raise Conflict("This memory does not wait any more.", code="wrong_state", state=Proposal.State.LAPSED)
    given = _given(typed, {"content": memory.content, "category": memory.category, "subject": memory.subject})
    if decision != "edit" or not given:
        done = memory_decisions.carry_out(principal, memory, "reject" if decision == "reject" else "approve", typed)
        return Done(done.word, "Approved as it was.", done.undo) if decision == "edit" and done.undo else done
    before = _marks(principal, memory, given)
    after = actions.memory_approve(principal, memory.pk, **given, version=seen_version(typed))
    item = Item("memory", memory.pk)
    undo = reverse("review-undo-edit", args=[item.key, before, memory.version, after.version])
    return Done("Saved", "Saved in your words, and approved.", undo)


def _marks(principal: Principal, memory: Memory, given: Mapping[str, str]) -> str:
    """How a memory stands before it is approved in other words, for the address that takes that back."""
    marks = ["proposed" if memory.state == State.PROPOSED else "waiting"]
    if memory.needs_check:
        marks.append("doubtful")
    if {"category", "subject"} & given.keys():
        # How it is filed is found again only where its version was recorded so.
        now = _version(principal, memory, memory.version)
        marks.append("filed" if (now.category, now.subject) == (memory.category, memory.subject) else "kept")
    return "-".join(marks)


def _about_proposal(principal: Principal, proposal: Proposal, decision: str, typed: Typed) -> Done:
    undo = reverse("review-undo", args=[Item("proposal", str(proposal.pk)).key])
    if decision == "reject":
        actions.proposal_reject(principal, proposal.pk, typed.get("reason", ""))
        return Done("Rejected", _REJECTED[Kind(proposal.kind)], undo)
    given = _given(typed, _as_proposed(principal, proposal)) if decision == "edit" else {}
    actions.proposal_approve(principal, proposal.pk, values=given, version=seen_version(typed) or None)
    if given:
        return Done("Saved", "Saved in your words, and approved.", undo)
    if proposal.values.get("removed"):
        return Done("Approved", "Approved: the place is removed, and can be restored for 30 days.", undo)
    return Done("Approved", _APPROVED[Kind(proposal.kind)], undo)


def _as_proposed(principal: Principal, proposal: Proposal) -> dict[str, str]:
    """What the fields of the form held before anything was typed."""
    values: Mapping[str, Any] = proposal.values
    if proposal.kind == Kind.PLACE:
        place = Place.objects.visible_to(principal).filter(place_id=values.get("place_id")).first()
        notes = values.get("notes") or (place.notes if place else "")
        return {"name": str(values.get("name", "")), "notes": str(notes)}
    memory = _memory(principal, Item("memory", str(proposal.memory_id)))
    names = ("content", "category") if memory.field else ("content", "category", "subject")
    return {name: str(values.get(name, getattr(memory, name))) for name in names}


def _given(typed: Typed, shown: Mapping[str, str]) -> dict[str, str]:
    """What was typed otherwise than it was shown."""
    return {name: typed[name] for name, was in shown.items() if name in typed and _differs(name, typed[name], was)}


def _differs(name: str, typed: str, shown: str) -> bool:
    return typed != shown if name == "category" else " ".join(typed.split()) != " ".join(shown.split())

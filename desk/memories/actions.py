"""Decisions about a memory: the action of each button, and its message."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from types import EllipsisType

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from accounts.principals import Principal
from journal.exceptions import Conflict, NotFound, Refused
from journal.records import DONE
from language.third_person import stored_as
from memories import actions
from memories.models import Memory, MemoryVersion
from memories.records import NewMemory
from statements.models import ERASURE_WAITS, RejectionReason
from statements.policy.naming import in_second_person

from ..cards import last_day
from ..outcomes import KEPT_OUT, Done, Typed, seen_version, wording_in

State = Memory.State

_PRESENT = {State.PROPOSED, "waiting", "reviewed"}
_SAID = {
    "approve": (gettext_noop("Approved"), gettext_noop("Approved.")),
    "reject": (
        gettext_noop("Not true"),
        gettext_noop("Rejected as not true: it is in no prompt and is not learned again."),
    ),
    "dont_keep": (gettext_noop("Not kept"), KEPT_OUT),
    "archive": (
        gettext_noop("Put away"),
        gettext_noop("Put away: it is in no prompt and is not learned again. It can be restored for %(days)s days."),
    ),
    "restore": (gettext_noop("Restored"), gettext_noop("Restored.")),
    "pin": (gettext_noop("Pinned"), gettext_noop("Pinned: it is never put away to make room for others.")),
    "unpin": (gettext_noop("Unpinned"), gettext_noop("Not pinned any more.")),
}
_WHY_NOT = {
    "changed": (gettext_noop("It was reworded after you saw it."), "version_conflict"),
    "wrong_state": (gettext_noop("Its state has changed, so this can't be done."), "wrong_state"),
    "erasure_waits": (ERASURE_WAITS, "erasure_waits"),
    "similar_exists": (gettext_noop("You have the same memory already."), "similar_exists"),
    "field_exists": (gettext_noop("Another memory has this field now. Put that one away first."), "field_exists"),
}


def decide_memory(principal: Principal, memory: Memory, decision: str, typed: Typed) -> Done:
    """Execute a button's decision about a memory; ``typed``: the form's fields.

    Raises NotFound for an unknown decision, Refused like the actions; nothing is changed then.
    """
    if decision == "edit":
        return _edit(principal, memory, typed)
    if decision == "file":
        return _file(principal, memory, typed)
    if decision not in _SAID:
        raise NotFound("There is no such decision.")
    wanted = {memory.pk: seen_version(typed)}
    # On the detail page, archiving also withholds the source words.
    withheld = decision in {"dont_keep", "archive"}
    result = actions.memories_decide(
        principal,
        wanted,
        "reject" if decision == "dont_keep" else decision,
        reason=RejectionReason.DONT_KEEP if withheld else RejectionReason.NOT_TRUE,
    )
    outcome = result.outcomes[memory.pk]
    if outcome == "nothing_to_do":
        return Done(gettext_noop("Unchanged"), _("Nothing to change."))
    if outcome in _WHY_NOT:
        why, code = _WHY_NOT[outcome]
        raise Conflict(_(why), code=code)
    if outcome != DONE:
        raise NotFound("There is no such memory.")
    word, said = _SAID[decision]
    return Done(word, _(said) % {"days": settings.ARCHIVE_DAYS})


def restore_wording(principal: Principal, memory: Memory, number: int, typed: Typed) -> Done:
    """Restore an earlier wording, as a new version. Raises NotFound, Refused like ``memory_revert``."""
    versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory, number=number)
    earlier = versions.values_list("content", flat=True).first()
    if earlier == memory.content:
        return Done(gettext_noop("Unchanged"), _("It already has this wording."))
    actions.memory_revert(principal, memory.pk, number, version=seen_version(typed))
    return Done(gettext_noop("Restored"), _("Wording %(number)s is restored.") % {"number": number})


def add(principal: Principal, typed: Typed) -> tuple[Memory, Done]:
    """Add a memory in the person's own words. Raises Refused like ``memory_add``."""
    outcome = actions.memory_add(
        principal,
        NewMemory(
            content=typed.get("content", ""),
            category=typed.get("category", ""),
            subject=typed.get("subject", ""),
            topics=topics_of(typed),
            importance=importance_of(typed),
            field=typed.get("field", ""),
        ),
    )
    memory = outcome.memory
    if outcome.outcome != "created":
        return memory, Done(
            gettext_noop("Known"), _("You had this already; it now counts as confirmed once more."), undoable=False
        )
    room = len(outcome.evicted)
    if not room:
        return memory, Done(gettext_noop("Remembered"), _("Remembered."))
    made = ngettext(
        "Remembered. %(count)s older memory was put away to make room.",
        "Remembered. %(count)s older memories were put away to make room.",
        room,
    )
    return memory, Done(gettext_noop("Remembered"), made % {"count": room})


def topics_of(typed: Typed) -> tuple[str, ...]:
    """Parse topics separated by commas."""
    return tuple(topic.strip() for topic in typed.get("topics", "").split(",") if topic.strip())


def importance_of(typed: Typed) -> int:
    """Parse the importance; actions refuse invalid values."""
    chosen = typed.get("importance", "2")
    return int(chosen) if chosen.isdecimal() and len(chosen) == 1 else 0


def _edit(principal: Principal, memory: Memory, typed: Typed) -> Done:
    content, seen = stored_as(wording_in(typed), memory.content, in_second_person(memory.content)), seen_version(typed)
    proposed = memory.state == State.PROPOSED
    if " ".join(content.split()) == memory.content:
        if proposed:
            return decide_memory(principal, memory, "approve", typed)
        return Done(gettext_noop("Unchanged"), _("Nothing was different, so nothing was saved."))
    if proposed:
        actions.memory_approve(principal, memory.pk, content=content, version=seen)
        return Done(gettext_noop("Approved"), _("Approved in your words."))
    correction = typed.get("correction") == "yes"
    actions.memory_update(principal, memory.pk, content, version=seen, correction=correction)
    if correction:
        return Done(gettext_noop("Corrected"), _("Corrected in your words."))
    return Done(gettext_noop("Saved"), _("Saved in your words."))


def _file(principal: Principal, memory: Memory, typed: Typed) -> Done:
    after = actions.memory_amend(
        principal,
        memory.pk,
        subject=typed.get("subject", ""),
        topics=topics_of(typed),
        category=typed.get("category", ""),
        importance=importance_of(typed),
        expires_at=_expiry(memory, typed.get("until", "")),
        version=seen_version(typed),
    ).memory
    if _filing(after) == _filing(memory):
        return Done(gettext_noop("Unchanged"), _("Nothing was different, so nothing was saved."))
    return Done(gettext_noop("Saved"), _("Saved."))


def _filing(memory: Memory) -> Sequence[object]:
    return memory.subject, list(memory.topics), memory.category, memory.importance, memory.expires_at


def _expiry(memory: Memory, until: str) -> datetime | EllipsisType | None:
    """Return the end of the typed day; the stored time if the day is unchanged."""
    shown = last_day(memory.expires_at)
    if until == (shown.isoformat() if shown else ""):
        return ...
    if not until:
        return None
    try:
        day = date.fromisoformat(until)
        return datetime.combine(day + timedelta(days=1), time.min, timezone.get_current_timezone())
    except (ValueError, OverflowError) as error:
        raise Refused(_("That is not a date."), code="bad_expiry") from error

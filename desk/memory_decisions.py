"""What a person decides about a memory on a page: the action behind each button, what is said then, the undo."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from math import ceil
from types import EllipsisType

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from accounts.principals import Principal
from journal.exceptions import Conflict, NotFound, Refused
from journal.models import Change
from journal.records import DONE
from memories import actions
from memories.models import Memory, MemoryVersion
from memories.policy import writing
from memories.records import NewMemory

from .decisions import Typed, seen_version
from .memory_cards import last_day
from .outcomes import Done

State = Memory.State

_PRESENT = {State.PROPOSED, "waiting", "reviewed"}
_SAID = {
    "approve": ("Approved", "Approved."),
    "reject": ("Rejected", "Rejected: it is in no prompt and does not come back by itself."),
    "archive": ("Archived", "Archived: it is in no prompt and is not learned again. It can be restored for 30 days."),
    "restore": ("Restored", "Restored."),
    "pin": ("Pinned", "Pinned: it never makes room for others."),
    "unpin": ("Unpinned", "Not pinned any more."),
}
_WHY_NOT = {
    "changed": ("It was reworded after you saw it.", "version_conflict"),
    "wrong_state": ("It stands otherwise by now, so this can't be done.", "wrong_state"),
    "similar_exists": ("You have the same again already.", "similar_exists"),
    "field_exists": ("Another memory says this of you now. Archive that one first.", "field_exists"),
}


def carry_out(principal: Principal, memory: Memory, decision: str, typed: Typed) -> Done:
    """Do what a button says to a memory of the person; ``typed`` holds the fields of its form.

    Raises NotFound for a decision that does not exist, Refused as the actions do; nothing was changed then.
    """
    if decision == "edit":
        return _edit(principal, memory, typed)
    if decision == "file":
        return _file(principal, memory, typed)
    if decision not in _SAID:
        raise NotFound("There is no such decision.")
    wanted = {memory.pk: seen_version(typed)}
    result = actions.memories_decide(principal, wanted, decision, reason=typed.get("reason", ""))
    outcome = result.outcomes[memory.pk]
    if outcome == "nothing_to_do":
        return Done("Unchanged", "It stands so already.")
    if outcome in _WHY_NOT:
        why, code = _WHY_NOT[outcome]
        raise Conflict(why, code=code)
    if outcome != DONE:
        raise NotFound("There is no such memory.")
    word, said = _SAID[decision]
    return Done(word, said, reverse("memory-undo", args=[memory.pk, result.first_rev, result.last_rev]))


def undo(principal: Principal, memory: Memory, first_rev: int, last_rev: int) -> Done:
    """Take a decision about a memory back, by the revisions that it took.

    Raises NotFound when they hold none about it, Conflict (409) when it has changed since, Gated (422).
    """
    with transaction.atomic():
        result = actions.memories_undo(principal, first_rev, last_rev)
        outcome = result.outcomes.get(memory.pk, "not_there")
        if outcome == "not_there":
            # Whatever else those revisions hold is not what was asked about: it stays as it is.
            raise NotFound("There is nothing to take back.")
    if outcome == "changed":
        raise Conflict("This memory has changed since, so there is nothing to undo.")
    if outcome in _WHY_NOT:
        why, code = _WHY_NOT[outcome]
        raise Conflict(why, code=code)
    return Done("Undone", "Undone: it is as it was before.")


def bring_back(principal: Principal, memory: Memory, number: int, typed: Typed) -> Done:
    """Give a memory of the person an earlier wording, as a new version.

    Raises NotFound for a version that there is not, Refused as ``memory_revert`` does.
    """
    versions = MemoryVersion.objects.visible_to(principal).filter(memory=memory, number=number)
    earlier = versions.values_list("content", flat=True).first()
    if earlier == memory.content:
        return Done("Unchanged", "It reads so already.")
    after = actions.memory_revert(principal, memory.pk, number, version=seen_version(typed)).memory
    return Done("Brought back", f"Wording {number} is back.", _undo_of_wording(memory, after))


def undo_wording(principal: Principal, memory: Memory, before: str, version: int, now: int) -> Done:
    """Give a memory the wording back that it had before it was reworded, and let it stand as it did.

    ``before`` is its standing, with ``-doubtful`` when it perhaps said the same as another; ``now`` is the version that
    the rewording led to. Raises NotFound for a wording or standing that there is not, Conflict (409) when it was
    reworded since, Refused as the actions do.
    """
    stood, _, mark = before.partition("-")
    if stood not in _PRESENT:
        raise NotFound("There is no such standing.")
    if memory.version != now:
        raise Conflict("This memory was reworded since, so there is nothing to undo.", code="version_conflict")
    with transaction.atomic():
        actions.memory_revert(principal, memory.pk, version, version=now)
        if stood != "reviewed":
            proposed, doubtful = stood == State.PROPOSED, mark == "doubtful"
            actions.memory_reopen(principal, memory.pk, proposed=proposed, doubtful=doubtful)
    return Done("Undone", "Undone: it is as it was before.")


def undo_filing(
    principal: Principal,
    memory: Memory,
    before: str,
    version: int,
    *,
    category: str,
    importance: int,
    until: int,
    rev: int,
) -> Done:
    """File a memory again as it was filed at ``version``, but for ``category``, ``importance`` and ``until``.

    ``until`` is when it was to be forgotten, in seconds, 0 for never; ``rev`` is the revision that filed it otherwise.
    Raises NotFound for a wording or standing that there is not, Conflict (409) when it was filed again since, Refused
    as the actions do.
    """
    worded = MemoryVersion.objects.visible_to(principal).filter(memory=memory, number=version)
    labels = worded.values_list("subject", "topics").first()
    if labels is None or before not in _PRESENT:
        raise NotFound("There is no such standing.")
    if _log(memory).filter(rev__gt=rev, meta__has_key="changed").exists():
        raise Conflict("This memory was filed otherwise since, so there is nothing to undo.")
    with transaction.atomic():
        actions.memory_amend(
            principal,
            memory.pk,
            subject=labels[0],
            topics=labels[1],
            category=category,
            importance=importance,
            expires_at=datetime.fromtimestamp(until, UTC) if until else None,
            version=version,
        )
        if before == "waiting":
            actions.memory_reopen(principal, memory.pk)
    return Done("Undone", "Undone: it is as it was before.")


def add(principal: Principal, typed: Typed) -> tuple[Memory, Done]:
    """Remember what the person writes down by hand. Raises Refused as ``memory_add`` does."""
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
        return memory, Done("Known", "You had this already; now it counts as said once more.")
    room = len(outcome.evicted)
    made = f" {room} older {'memory' if room == 1 else 'memories'} made room for it." if room else ""
    return memory, Done("Remembered", f"Remembered.{made}", reverse("memory-decide", args=[memory.pk, "archive"]))


def topics_of(typed: Typed) -> tuple[str, ...]:
    """The topics that were typed, separated by commas."""
    return tuple(topic.strip() for topic in typed.get("topics", "").split(",") if topic.strip())


def importance_of(typed: Typed) -> int:
    """The importance that was chosen. What is no digit is refused by the actions."""
    chosen = typed.get("importance", "2")
    return int(chosen) if chosen.isdecimal() and len(chosen) == 1 else 0


def _edit(principal: Principal, memory: Memory, typed: Typed) -> Done:
    content, seen = typed.get("content", ""), seen_version(typed)
    proposed = memory.state == State.PROPOSED
    if " ".join(content.split()) == memory.content:
        if proposed:
            return carry_out(principal, memory, "approve", typed)
        return Done("Unchanged", "Nothing was different, so nothing was saved.")
    if proposed:
        after = actions.memory_approve(principal, memory.pk, content=content, version=seen)
        return Done("Approved", "Approved in your words.", _undo_of_wording(memory, after))
    correction = typed.get("correction") == "yes"
    after = actions.memory_update(principal, memory.pk, content, version=seen, correction=correction).memory
    word = "Corrected" if correction else "Saved"
    return Done(word, f"{word} in your words.", _undo_of_wording(memory, after))


def _undo_of_wording(before: Memory, after: Memory) -> str:
    stood = writing.standing(before) + ("-doubtful" if before.needs_check else "")
    return reverse("memory-undo-wording", args=[before.pk, stood, before.version, after.version])


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
        return Done("Unchanged", "Nothing was different, so nothing was saved.")
    return Done("Filed", "Filed otherwise.", _undo_of_filing(principal, memory))


def _undo_of_filing(principal: Principal, before: Memory) -> str:
    """The address that files a memory as before; none when nothing says any more what its subject and topics were."""
    versions = MemoryVersion.objects.visible_to(principal).filter(memory=before, number=before.version)
    if versions.values_list("subject", "topics").first() != (before.subject, before.topics):
        return ""
    until = ceil(before.expires_at.timestamp()) if before.expires_at else 0
    standing = writing.standing(before)
    rev = _log(before).order_by("-rev").values_list("rev", flat=True)[0]
    as_filed = [before.pk, standing, before.version, before.category, before.importance, until, rev]
    return reverse("memory-undo-filing", args=as_filed)


def _log(memory: Memory) -> QuerySet[Change]:
    return Change.objects.of_owner(memory.user_id).filter(object_type="memory", object_id=memory.pk)


def _filing(memory: Memory) -> Sequence[object]:
    return memory.subject, list(memory.topics), memory.category, memory.importance, memory.expires_at


def _expiry(memory: Memory, until: str) -> datetime | EllipsisType | None:
    """The end of the day that was typed; what is stored when that is the day that was shown."""
    shown = last_day(memory.expires_at)
    if until == (shown.isoformat() if shown else ""):
        return ...
    if not until:
        return None
    try:
        day = date.fromisoformat(until)
        return datetime.combine(day + timedelta(days=1), time.min, timezone.get_current_timezone())
    except (ValueError, OverflowError) as error:
        raise Refused("That is no day.", code="bad_expiry") from error

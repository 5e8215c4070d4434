"""The change feed of a person's memory, for clients that keep a copy."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TypeVar
from uuid import UUID

from django.db.models import CharField, Q
from django.db.models.functions import Cast

from accounts.policy import must_act_for, must_read
from accounts.principals import Principal
from accounts.scope import acting_as
from conversations.models import Conversation
from journal.cache import changes_key
from journal.models import Change, ChangeQuerySet
from web.streaming import follow
from web.threads import in_thread

from .models import Memory, Proposal
from .querysets import PLACES_CATEGORY, MemoryQuerySet

T = TypeVar("T")
AT_ONCE = 100


def changes_after(principal: Principal, after: int, limit: int) -> tuple[list[Change], int]:
    """Return the next changes after a revision, oldest first, and the revision for the next call.

    That is the last change's revision. Without further changes it is the person's current one, so that invisible
    changes are not scanned again. Raises NotFound for a principal that acts for nobody, NotAllowed without
    the scope read.
    """
    must_read(principal)
    if principal.is_paused:
        return [], after  # They are told after it, if the erasure of everything is taken back.
    changes = list(_visible(principal).filter(rev__gt=after)[:limit])
    reached = [after, *(change.rev for change in changes)]
    if len(changes) < limit:
        # Everything up to this revision was committed before the changes were read.
        reached.append(principal.rev)
    return changes, max(reached)


def changes_between(principal: Principal, after: int, upto: int) -> list[Change]:
    """Return the visible changes after one revision up to another. Raises like ``changes_after``."""
    must_read(principal)
    return list(_visible(principal).filter(rev__gt=after, rev__lte=upto))


async def follow_changes(
    caller: Callable[[], Principal],
    user_id: UUID,
    after: int,
    seconds: float,
    show: Callable[[Principal, list[Change]], T],
) -> AsyncGenerator[T | None]:
    """Yield batches of visible changes after a revision as they happen, for ``seconds``; None as a heartbeat.

    ``caller`` builds the principal for each read of the log, and raises if its access has ended. Raises RedisError or
    OSError if Valkey is unavailable.
    """
    reached = after

    def look() -> tuple[T | None, bool]:
        nonlocal reached
        with acting_as(caller()) as principal:
            changes, reached = changes_after(principal, reached, AT_ONCE)
            if changes:
                caller()  # Checked again after reading: access may have ended meanwhile.
            return show(principal, changes) if changes else None, len(changes) == AT_ONCE

    async def woken(_: object) -> list[None]:
        return []

    async for told in follow(changes_key(user_id), woken, seconds):
        more = told is not None
        found = None
        while more:
            found, more = await in_thread(look)
            if found is not None:
                yield found
        if found is None:
            yield None


def _visible(principal: Principal) -> ChangeQuerySet:
    """Return the person's changes; for an agent those of what it sees, of preferences and of its access.

    Whoever sees facts is told of joining and leaving a legacy, too: from then on others' facts are seen, or not.
    """
    changes = Change.objects.of_owner(must_act_for(principal))
    if principal.is_paused:
        return changes.none()
    if principal.kind != "agent":
        return changes
    told = Q(object_type="preferences") | Q(object_type="agent", object_id=str(principal.agent_id))
    # Erasures are for every client with a copy; the receipt is for the person only.
    told |= Q(event=Change.Event.ERASE) & ~Q(object_type="erasure")
    if principal.has_memory:
        theirs = _memories(principal)
        if principal.categories is not None:
            known = sorted(principal.categories)
            left = Q(object_type="memory", meta__left__in=known, object_id__in=theirs.values("pk"))
            theirs, told = theirs.filter(category__in=known), told | left
        told |= Q(object_type="memory", object_id__in=theirs.values("pk"))
        # The category of a purged memory is unknown, but copies must be deleted.
        told |= Q(object_type="memory", event=Change.Event.PURGE)
        proposals = Proposal.objects.visible_to(principal).annotate(text=Cast("pk", CharField()))
        told |= Q(object_type="proposal", object_id__in=proposals.values("text"))
        if principal.categories is None or PLACES_CATEGORY in principal.categories:
            told |= Q(object_type="place")
    talks = Conversation.objects.visible_to(principal).values("pk")
    taken = [Change.Event.WITHHOLD, Change.Event.GIVE_BACK]
    told |= Q(object_type__in=["message", "conversation"], event__in=taken, conversation_id__in=talks)
    if "facts" in principal.sources:
        told |= Q(object_type__in=["fact", "member"])
    return changes.filter(told)


def _memories(principal: Principal) -> MemoryQuerySet:
    """Return all memories of the agent's categories: copies of rejected ones must be deleted, too.

    Proposals of other agents are announced on approval, unless the agent may decide about them.
    """
    rows = Memory.objects.filter(user_id=must_act_for(principal))
    if principal.may_decide:
        return rows
    return rows.filter(~Q(state=Memory.State.PROPOSED) | Q(agent_id=principal.agent_id))

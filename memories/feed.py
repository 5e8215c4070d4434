"""The change feed: what happened to a person's memory after a revision, for those who keep a copy of it."""

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
    """The next changes after a revision, oldest first, and the revision to ask after next time.

    That is the last one's; when there are no more for this principal it is the person's own, so that what the principal
    may not see is not looked through again. Raises NotFound for a principal that acts for nobody, NotAllowed without
    the scope read.
    """
    must_read(principal)
    changes = list(_visible(principal).filter(rev__gt=after)[:limit])
    reached = [after, *(change.rev for change in changes)]
    if len(changes) < limit:
        # Everything up to this revision was committed before the changes were read.
        reached.append(principal.rev)
    return changes, max(reached)


def changes_between(principal: Principal, after: int, upto: int) -> list[Change]:
    """The changes after one revision up to another that the principal may see now. Raises as ``changes_after`` does."""
    must_read(principal)
    return list(_visible(principal).filter(rev__gt=after, rev__lte=upto))


async def follow_changes(
    caller: Callable[[], Principal],
    user_id: UUID,
    after: int,
    seconds: float,
    show: Callable[[Principal, list[Change]], T],
) -> AsyncGenerator[T | None]:
    """What is shown of the changes after a revision, some at a time, as they happen, for so long; None in silence.

    ``caller`` makes the principal anew for each look into the log, and raises where it is let in no more. Raises
    RedisError or OSError when Valkey is away, or goes.
    """
    reached = after

    def look() -> tuple[T | None, bool]:
        nonlocal reached
        with acting_as(caller()) as principal:
            changes, reached = changes_after(principal, reached, AT_ONCE)
            if changes:
                caller()  # Whoever is let in no more since then hears nothing of what was read.
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
    """All that happened to the person. An agent is told of what it may see, of preferences and of its own access."""
    changes = Change.objects.of_owner(must_act_for(principal))
    if principal.kind != "agent":
        return changes
    told = Q(object_type="preferences") | Q(object_type="agent", object_id=str(principal.agent_id))
    # Whoever keeps a copy of anything that was erased drops it; the receipt is the person's.
    told |= Q(event=Change.Event.ERASE) & ~Q(object_type="erasure")
    if principal.has_memory:
        theirs = _memories(principal)
        if principal.categories is not None:
            known = sorted(principal.categories)
            left = Q(object_type="memory", meta__left__in=known, object_id__in=theirs.values("pk"))
            theirs, told = theirs.filter(category__in=known), told | left
        told |= Q(object_type="memory", object_id__in=theirs.values("pk"))
        # Nothing says any more what a purged one was filed under, but a copy of it has to go.
        told |= Q(object_type="memory", event=Change.Event.PURGE)
        proposals = Proposal.objects.visible_to(principal).annotate(text=Cast("pk", CharField()))
        told |= Q(object_type="proposal", object_id__in=proposals.values("text"))
        if principal.categories is None or PLACES_CATEGORY in principal.categories:
            told |= Q(object_type="place")
    talks = Conversation.objects.visible_to(principal).values("pk")
    taken = [Change.Event.WITHHOLD, Change.Event.GIVE_BACK]
    told |= Q(object_type="message", event__in=taken, conversation_id__in=talks)
    if "facts" in principal.sources:
        told |= Q(object_type="fact")
    return changes.filter(told)


def _memories(principal: Principal) -> MemoryQuerySet:
    """Those of every category, also those that an agent sees no more: a copy has to drop what was rejected.

    What another agent proposed it hears of when it is approved, unless it decides about that itself.
    """
    rows = Memory.objects.filter(user_id=must_act_for(principal))
    if principal.may_decide:
        return rows
    return rows.filter(~Q(state=Memory.State.PROPOSED) | Q(agent_id=principal.agent_id))

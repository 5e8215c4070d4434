"""Erasures: request, cancel, execution by a job, receipt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import Agent, Legacy, Member
from accounts.policy import must_decide, must_decide_for_all, sees_everything
from accounts.principals import Principal
from accounts.queries import principal_for_person
from accounts.scope import working_for
from conversations.models import Conversation, ConversationImport, Message
from conversations.querysets import OPEN_IMPORTS
from facts.models import LegacyFact
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound, Refused
from journal.leases import cancel_job, claim_job, fail_job, finish_job, open_job, working
from journal.models import Erasure, JobRun
from journal.queue import enqueue
from memories.models import Memory, Place

from .extent import SCOPES
from .part_actions import erase_part
from .whole_actions import erase_everything

JOB = "erase"
RUN_TASK = "assistant.run_erasure"
LONGEST_GRACE_HOURS = 720
State = Erasure.State
_ERASABLE: Mapping[str, Callable[[Principal], QuerySet[Any]]] = {
    "memory": Memory.objects.visible_to,
    "fact": LegacyFact.objects.mine,
    "place": Place.objects.visible_to,
    "message": Message.objects.visible_to,
    "conversation": Conversation.objects.visible_to,
    "import": ConversationImport.objects.visible_to,
    "membership": Legacy.objects.visible_to,
}
"""What the person may erase, by scope."""
_WHOLE = frozenset({"everything", "membership"})
"""Scopes that an agent which sees a part only does not decide about."""


def erasure_request(
    principal: Principal, scope: str, object_id: str = "", *, grace_hours: int = 0
) -> tuple[Erasure, JobRun]:
    """Request the permanent erasure of an object and everything derived from it, after ``grace_hours``.

    ``scope`` is one of SCOPES; ``object_id``: the object, for a membership the legacy. A repeated request returns the
    waiting or running erasure; a waiting one runs earlier if that is asked.

    Raises NotYoursToDecide, NotFound, Refused (400) for an unknown scope or invalid hours,
    Conflict (409 ``last_owner``: hand the legacy over first; ``owns_services``: other people depend on the person's
    service agents; ``import_open``: the import has not ended).
    """
    user_id = must_decide_for_all(principal) if scope in _WHOLE else must_decide(principal)
    # Whoever sees everything decides for the person, also about private conversations with other agents.
    whose = principal_for_person(user_id) if principal.kind == "agent" and sees_everything(principal) else principal
    _check(whose, user_id, scope, object_id, grace_hours)
    with ledger_write(principal.actor, user_id) as write:
        wanted = {"user_id": user_id, "scope": scope, "object_id": object_id}
        erasure = Erasure.objects.filter(**wanted, state__in=[State.WAITING, State.ERASING]).first()
        due_at = timezone.now() + timedelta(hours=grace_hours)
        if erasure is None:
            erasure = Erasure.objects.create(**wanted, due_at=due_at)
            write.change(user_id, "ERASE", "erasure", erasure.pk, scope=scope)
        elif due_at < erasure.due_at and erasure.state == State.WAITING:
            erasure.due_at = due_at
            erasure.save(update_fields=["due_at"])
        job = open_job(JOB, erasure.pk, user_id=user_id)
        JobRun.objects.filter(pk=job.pk, state=JobRun.State.WAITING).update(not_before=erasure.due_at)
        write.result("erasure", erasure.pk, job.pk, status_code=202)
        if erasure.due_at <= timezone.now():
            enqueue(RUN_TASK, job.pk)
    return erasure, job


def _check(principal: Principal, user_id: UUID, scope: str, object_id: str, grace_hours: int) -> None:
    if scope not in SCOPES:
        raise Refused(_("The scope is one of %(scopes)s.") % {"scopes": ", ".join(SCOPES)}, code="bad_scope")
    if not 0 <= grace_hours <= LONGEST_GRACE_HOURS:
        raise Refused(
            _("An erasure waits 0 to %(longest_grace_hours)s hours.") % {"longest_grace_hours": LONGEST_GRACE_HOURS},
            code="bad_grace",
        )
    if scope == "everything":
        if Agent.objects.filter(owner_id=user_id, kind=Agent.Kind.SERVICE).exists():
            raise Conflict(_("Agents that serve other people are yours. Hand them over first."), code="owns_services")
        return
    try:
        is_there = _named(principal, scope, object_id).exists()
    except ValueError:  # Not a valid id.
        is_there = False
    if not is_there:
        raise NotFound(f"There is no such {scope}.")
    if scope == "import" and _named(principal, scope, object_id).filter(state__in=[*OPEN_IMPORTS, "storing"]).exists():
        raise Conflict(_("This import has not ended. Cancel it first."), code="import_open")
    if scope == "membership":
        others = Member.objects.filter(legacy_id=UUID(object_id)).exclude(user_id=user_id)
        if others.exists() and not others.filter(role=Member.Role.OWNER).exists():
            raise Conflict(_("You are the last owner. Hand this legacy over first."), code="last_owner")


def _named(principal: Principal, scope: str, object_id: str) -> QuerySet[Any]:
    """Return the object of an erasure. Raises ValueError."""
    return _ERASABLE[scope](principal).filter(pk=object_id if scope == "memory" else UUID(object_id))


def erasure_withdraw(principal: Principal, receipt: UUID) -> Erasure:
    """Cancel a waiting erasure. Raises NotYoursToDecide, NotFound, Conflict (409 ``erasure_begun``)."""
    user_id = must_decide(principal)
    if Erasure.objects.filter(pk=receipt, user_id=user_id, scope__in=_WHOLE).exists():
        must_decide_for_all(principal)
    with ledger_write(principal.actor, user_id) as write:
        erasure = Erasure.objects.select_for_update().filter(pk=receipt, user_id=user_id).first()
        if erasure is None:
            raise NotFound("There is no such erasure.")
        if erasure.state in {State.ERASING, State.DONE}:
            raise Conflict(_("This erasure has begun. It can't be taken back."), code="erasure_begun")
        if erasure.state == State.WAITING:
            erasure.state = State.WITHDRAWN
            erasure.save(update_fields=["state"])
            write.change(user_id, "RESTORE", "erasure", erasure.pk)
            for job in JobRun.objects.filter(kind=JOB, subject_id=str(erasure.pk), state=JobRun.State.WAITING):
                cancel_job(job)
        write.result("erasure", erasure.pk)
    return erasure


def run_erasure(job_id: UUID) -> None:
    """Execute a due erasure, unless another worker does or it was cancelled."""
    job = claim_job(job_id, lease_seconds=settings.ERASE_LEASE_SECONDS)
    if job is None:
        return
    with working(job, lease_seconds=settings.ERASE_LEASE_SECONDS) as lease:
        erasure = _begin(UUID(job.subject_id))
        if erasure is None:
            fail_job(job, "gone")
            return
        if erasure.state == State.ERASING:
            with working_for(erasure.user_id, "erase") as principal:
                erase = erase_everything if erasure.scope == "everything" else erase_part
                erase(lease, principal, erasure)
        if erasure.scope == "everything":
            JobRun.objects.filter(pk=job.pk).update(user_id=None)  # The person's id must not be logged any more.
        finish_job(job, **Erasure.objects.values_list("removed", flat=True).get(pk=erasure.pk))


def _begin(receipt: UUID) -> Erasure | None:
    """Mark the erasure as begun and return it; None if it was cancelled."""
    with transaction.atomic():
        erasure = Erasure.objects.select_for_update().filter(pk=receipt).exclude(state=State.WITHDRAWN).first()
        if erasure is not None and erasure.state == State.WAITING:
            erasure.state = State.ERASING
            erasure.save(update_fields=["state"])
    return erasure


def erasures_sweep() -> int:
    """Start due erasures, and restart those whose task or worker was lost. Returns how many."""
    due = list(JobRun.objects.claimable(timezone.now()).filter(kind=JOB).values_list("pk", flat=True))
    for job_id in due:
        enqueue(RUN_TASK, job_id)
    return len(due)

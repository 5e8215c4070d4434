"""Erasures: request, cancel, execution by a job, receipt."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.policy import must_decide, must_decide_for_all
from accounts.principals import Principal
from accounts.queries import principal_for_person
from accounts.scope import working_for
from conversations.actions import PassagePlace
from conversations.echoes import Repetition
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound, Refused, must_find
from journal.leases import cancel_job, claim_job, fail_job, finish_job, open_job, resume_jobs, working
from journal.models import Erasure, JobRun
from journal.queue import enqueue

from .extent import WITH_IT
from .hiding import hide, show_again
from .part_actions import erase_part, part_was_erased
from .preview import WHOLE, check_erasable, must_erase, said_again
from .whole_actions import erase_everything

JOB = "erase"
RUN_TASK = "assistant.run_erasure"
LONGEST_GRACE_HOURS = 720
State = Erasure.State


def erasure_request(
    principal: Principal, scope: str, object_id: str = "", *, grace_hours: int | None = None, also: Collection[str] = ()
) -> tuple[Erasure, JobRun]:
    """Request the permanent erasure of an object and everything derived from it, after ``grace_hours`` (default 0).

    ``scope`` is one of SCOPES; ``object_id``: the object, for a membership the legacy. ``also`` are the keys of what
    else says the same (``said_again``) and is to be erased with it: memories, facts and places as a whole; passages of
    messages and titles are withheld at once, and their words erased with it. What waits is hidden from agents. A
    repeated request returns the waiting or running erasure; a waiting one runs earlier if fewer hours are given, and
    includes what is named then.

    Raises NotYoursToDecide, NotFound, Refused (400) for an unknown scope, invalid hours, or ``not_said_again``,
    Conflict (409 ``last_owner``: hand the legacy over first; ``owns_services``: other people depend on the person's
    service agents; ``import_open``: the import has not ended; ``erasure_begun``: nothing can be added).
    """
    user_id, whose = must_erase(principal, scope)
    if grace_hours is not None and not 0 <= grace_hours <= LONGEST_GRACE_HOURS:
        raise Refused(
            _("An erasure waits 0 to %(longest_grace_hours)s hours.") % {"longest_grace_hours": LONGEST_GRACE_HOURS},
            code="bad_grace",
        )
    check_erasable(whose, user_id, scope, object_id)
    along = _choose(said_again(whose, scope, object_id) if also else [], also)
    rows = [[each.object_type, each.object_id] for each in along if each.object_type in WITH_IT]
    wanted = {"user_id": user_id, "scope": scope, "object_id": object_id}
    state = Erasure.objects.filter(**wanted, state__in=Erasure.OPEN).values_list("state", flat=True).first()
    if along and state == State.ERASING:
        raise Conflict(_("This erasure has begun. Nothing can be added to it."), code="erasure_begun")
    said = [PassagePlace(each.conversation_id, each.index, each.quote) for each in along if each.conversation_id]
    waits = state == State.WAITING if grace_hours is None else grace_hours > 0
    try:
        hidden = hide(principal_for_person(user_id), Erasure(**wanted, also=rows), said, waits=waits)
    except NotFound:
        check_erasable(whose, user_id, scope, object_id)  # Another erasure took it meanwhile: say so of all of it.
        raise
    with ledger_write(principal.actor, user_id) as write:
        erasure = Erasure.objects.filter(**wanted, state__in=Erasure.OPEN).first()
        due_at = timezone.now() + timedelta(hours=grace_hours or 0)
        if erasure is None:
            erasure = Erasure.objects.create(**wanted, due_at=due_at, also=rows, hidden=hidden)
            write.change(user_id, "ERASE", "erasure", erasure.pk, scope=scope)
        elif erasure.state == State.WAITING:
            erasure.due_at = erasure.due_at if grace_hours is None else min(due_at, erasure.due_at)
            erasure.also += [row for row in rows if row not in erasure.also]
            erasure.hidden += hidden
            erasure.save(update_fields=["due_at", "also", "hidden"])
        job = open_job(JOB, erasure.pk, user_id=user_id)
        JobRun.objects.filter(pk=job.pk, state=JobRun.State.WAITING).update(not_before=erasure.due_at)
        write.result("erasure", erasure.pk, job.pk, status_code=202)
        if erasure.due_at <= timezone.now():
            enqueue(RUN_TASK, job.pk)
    return erasure, job


def _choose(found: Collection[Repetition], keys: Collection[str]) -> list[Repetition]:
    """Return those with these keys. Raises Refused."""
    chosen = [each for each in found if each.key in keys]
    if len(chosen) < len(set(keys)):
        raise Refused(_("Something that you chose does not say the same any more. Look again."), code="not_said_again")
    return chosen


def erasure_withdraw(principal: Principal, receipt: UUID) -> Erasure:
    """Cancel a waiting erasure, and show again what it hid. Repeated, it only does what an interrupted call left.

    Raises NotYoursToDecide, NotFound, Conflict (409 ``erasure_begun``, ``wrong_state``).
    """
    user_id = must_decide(principal)
    if Erasure.objects.filter(pk=receipt, user_id=user_id, scope__in=WHOLE).exists():
        must_decide_for_all(principal)
    with ledger_write(principal.actor, user_id) as write:
        erasure = must_find(Erasure.objects.select_for_update().filter(pk=receipt, user_id=user_id).first(), "erasure")
        if erasure.state in {State.ERASING, State.DONE}:
            raise Conflict(_("This erasure has begun. It can't be taken back."), code="erasure_begun")
        if erasure.state == State.WITHDRAWN and not erasure.hidden:
            raise Conflict(_("This erasure was taken back already."), code="wrong_state", state=erasure.state)
        erasure.state = State.WITHDRAWN
        erasure.save(update_fields=["state"])
        write.change(user_id, "RESTORE", "erasure", erasure.pk)
        for job in JobRun.objects.filter(kind=JOB, subject_id=str(erasure.pk), state=JobRun.State.WAITING):
            cancel_job(job)
        write.result("erasure", erasure.pk)
    _show_again(erasure)
    return erasure


def _show_again(erasure: Erasure) -> None:
    """Show what a withdrawn erasure hid, unless another one that waits includes it, too."""
    others = Erasure.objects.filter(user_id=erasure.user_id, state=State.WAITING).order_by("at", "pk")
    with transaction.atomic():
        hidden = show_again(principal_for_person(erasure.user_id), erasure, list(others))
        for other in Erasure.objects.filter(pk__in=[pk for pk, spans in hidden.items() if spans]):
            other.hidden += hidden[other.pk]
            other.save(update_fields=["hidden"])
        Erasure.objects.filter(pk=erasure.pk).update(hidden=[])


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
        elif erasure.scope != "everything":
            part_was_erased(erasure.user_id)
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
    return resume_jobs(JOB, RUN_TASK)

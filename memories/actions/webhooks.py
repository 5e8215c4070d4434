"""Webhooks: registering, creating deliveries, sending them, retries and failures.

A delivery is retried until it succeeds or is given up. Later ones wait, so they arrive in order. The payload is read
from the change feed at each attempt, so a revoked agent receives nothing any more.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts import policy
from accounts.models import Agent, AgentKey
from accounts.principals import Principal
from accounts.queries import principal_for_agent, principal_for_job
from accounts.scope import acting_as
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound
from journal.leases import Lease, claim_job, finish_job, open_job, working
from journal.models import JobRun
from journal.queue import enqueue

from ..feed import changes_after, changes_between
from ..models import Webhook, WebhookDelivery
from ..webhooks import DeliveryResult, check_url, message_body, send, signed_headers

JOB, TASK = "webhook", "memories.deliver_webhook"
_PICKED_UP_SECONDS = 60
State = WebhookDelivery.State


# --- Registration ---------------------------------------------------------------------------------------------------


def webhook_create(principal: Principal, agent_id: UUID, url: str, *, key: str = "") -> Webhook:
    """Register a URL for future changes that an agent may see.

    An agent registers for itself; the webhook ends with its ``key``. A person registers for any of their agents.
    Raises Refused (400 ``bad_url``, ``private_address``), NotFound for an agent that is not there, NotAllowed without
    the scopes read and write, NotYoursToDecide, Conflict (409 ``webhook_exists``, ``too_many_webhooks``).
    """
    policy.must_read(principal)
    user_id = _may_manage(principal, agent_id)
    check_url(url)
    with ledger_write(principal.actor, user_id) as write:
        if not Agent.objects.visible_to(principal).filter(pk=agent_id).exists():
            raise NotFound("There is no such agent.")
        webhooks = Webhook.objects.filter(user_id=user_id, agent_id=agent_id)
        if webhooks.count() >= settings.WEBHOOKS_PER_AGENT:
            most = settings.WEBHOOKS_PER_AGENT
            raise Conflict(f"An agent has at most {most} webhooks. Remove one first.", code="too_many_webhooks")
        used = AgentKey.objects.filter(public=key, agent_id=agent_id).first() if key else None
        webhook = Webhook(user_id=user_id, agent_id=agent_id, key=used, url=url, reached=0)
        webhook.reached = write.change(user_id, "ADD", "webhook", webhook.pk, agent=str(agent_id))
        try:
            with transaction.atomic():
                webhook.save(force_insert=True)
        except IntegrityError as error:
            raise Conflict("This agent has a webhook with that address.", code="webhook_exists") from error
        write.result("webhook", webhook.pk, status_code=201)
    return webhook


def webhook_remove(principal: Principal, webhook_id: UUID) -> None:
    """Delete a webhook. Raises NotFound, NotAllowed, NotYoursToDecide."""
    webhook = _find(principal, webhook_id)
    with ledger_write(principal.actor, webhook.user_id) as write:
        removed, _ = Webhook.objects.filter(pk=webhook_id).delete()
        if removed:
            write.change(webhook.user_id, "DELETE", "webhook", webhook_id, agent=str(webhook.agent_id))


def webhook_resume(principal: Principal, webhook_id: UUID) -> Webhook:
    """Enable a webhook again, and send what is pending. Raises like ``webhook_remove``."""
    webhook = _find(principal, webhook_id)
    with ledger_write(principal.actor, webhook.user_id) as write:
        webhook = Webhook.objects.select_for_update().filter(pk=webhook_id).first() or _gone()
        if webhook.disabled_at is not None:
            agent = str(webhook.agent_id)
            write.change(webhook.user_id, "UPDATE", "webhook", webhook_id, agent=agent, changed=["enabled"])
        webhook.disabled_at = webhook.failing_since = None
        webhook.save(update_fields=["disabled_at", "failing_since"])
        waiting = WebhookDelivery.objects.filter(webhook=webhook, state=State.WAITING)
        waiting.update(not_before=timezone.now(), attempts=0)
        write.result("webhook", webhook_id)
    return webhook


def webhook_rotate(principal: Principal, webhook_id: UUID) -> Webhook:
    """Create a new secret; the old one also signs for a day. Raises like ``webhook_remove``."""
    webhook = _find(principal, webhook_id)
    with ledger_write(principal.actor, webhook.user_id) as write:
        webhook = Webhook.objects.select_for_update().filter(pk=webhook_id).first() or _gone()
        webhook.secret_number, webhook.rotated_at = webhook.secret_number + 1, timezone.now()
        webhook.save(update_fields=["secret_number", "rotated_at"])
        agent = str(webhook.agent_id)
        write.change(webhook.user_id, "UPDATE", "webhook", webhook_id, agent=agent, changed=["secret"])
        write.result("webhook", webhook_id)
    return webhook


def delivery_resend(principal: Principal, webhook_id: UUID, delivery_id: UUID) -> WebhookDelivery:
    """Retry a dead delivery. Raises like ``webhook_remove``, and Conflict (409) for another state."""
    webhook = _find(principal, webhook_id)
    with ledger_write(principal.actor, webhook.user_id) as write:
        rows = WebhookDelivery.objects.select_for_update().filter(pk=delivery_id, webhook=webhook)
        delivery = rows.first() or _gone()
        if delivery.state != State.DEAD:
            raise Conflict("Only what was given up can be sent again.", code="not_given_up")
        delivery.state, delivery.attempts = State.WAITING, 0
        delivery.not_before, delivery.ended_at = timezone.now(), None
        delivery.save(update_fields=["state", "attempts", "not_before", "ended_at"])
        write.result("webhook_delivery", delivery_id)
    return delivery


def _may_manage(principal: Principal, agent_id: UUID) -> UUID:
    """Return the person's id. Raises NotAllowed, NotYoursToDecide, NotFound for another agent than the caller."""
    user_id = policy.must_write(principal)
    if principal.kind != "agent":
        return policy.must_decide_for_all(principal)
    if principal.agent_id != agent_id:
        raise NotFound("There is no such agent.")
    return user_id


def _find(principal: Principal, webhook_id: UUID) -> Webhook:
    webhook = Webhook.objects.visible_to(principal).filter(pk=webhook_id).first() or _gone()
    _may_manage(principal, webhook.agent_id)
    return webhook


def _gone() -> Any:
    raise NotFound("Not found.")


# --- Sending --------------------------------------------------------------------------------------------------------


def webhooks_sweep() -> int:
    """Queue webhooks with pending changes, and those whose task was lost. Returns how many."""
    now = timezone.now()
    due = list(Webhook.objects.due(now).values_list("pk", "user_id"))
    open_jobs = JobRun.objects.filter(kind=JOB, subject_id__in=[str(pk) for pk, _ in due])
    # Recently queued ones are not queued again.
    lost = open_jobs.claimable(now).filter(not_before__lte=now - timedelta(seconds=_PICKED_UP_SECONDS))
    busy = open_jobs.filter(state__in=["waiting", "running"]).exclude(pk__in=lost.values("pk"))
    taken = set(busy.values_list("subject_id", flat=True))
    for webhook_id, user_id in due:
        if str(webhook_id) not in taken:
            enqueue(TASK, open_job(JOB, webhook_id, user_id=user_id).pk)
    return len(due)


def webhook_deliver(job_id: UUID) -> None:
    """Send a webhook's deliveries in order, until one fails, unless another worker does."""
    job = claim_job(job_id, lease_seconds=settings.WEBHOOK_LEASE_SECONDS)
    if job is None:
        return
    with working(
        job,
        lease_seconds=settings.WEBHOOK_LEASE_SECONDS,
        task=TASK,
        turn_seconds=settings.WEBHOOK_SLICE_SECONDS,
    ) as lease:
        sent = 0
        while _deliver_next(lease, UUID(job.subject_id)):
            sent += 1
            lease.check_turn()
        finish_job(job, sent=sent)


def _deliver_next(lease: Lease, webhook_id: UUID) -> bool:
    """Send the next delivery. Returns whether it succeeded and there may be another."""
    webhook = Webhook.objects.filter(pk=webhook_id, disabled_at__isnull=True).first()
    if webhook is None:
        return False
    try:
        principal = principal_for_agent(webhook.agent_id, webhook.user_id, webhook.key_id)
    except NotFound:
        return False  # Once unblocked, it gets what it may see then.
    with acting_as(principal):
        delivery = _next_delivery(lease, principal, webhook)
        if delivery is None:
            return False
        body = _body(principal, webhook, delivery)
    answer = DeliveryResult(None)
    if body is not None:
        at = int(timezone.now().timestamp())
        answer = send(webhook.url, signed_headers(webhook, delivery.pk, at, body), body)
        lease.renew()
    return _note(lease, webhook, delivery, answer)


def _next_delivery(lease: Lease, principal: Principal, webhook: Webhook) -> WebhookDelivery | None:
    """Return the first waiting delivery if it is due; else a new one if there are changes."""
    with transaction.atomic():
        lease.lock()
        waiting = WebhookDelivery.objects.filter(webhook=webhook, state=State.WAITING).order_by("after").first()
        if waiting is not None:
            return waiting if waiting.not_before <= timezone.now() else None
        changes, upto = changes_after(principal, webhook.reached, settings.WEBHOOK_CHANGES)
        if upto == webhook.reached:
            return None
        Webhook.objects.filter(pk=webhook.pk).update(reached=upto)
        if not changes:
            return None
        return WebhookDelivery.objects.create(webhook=webhook, after=webhook.reached, upto=upto)


def _body(principal: Principal, webhook: Webhook, delivery: WebhookDelivery) -> bytes | None:
    """Return the payload, or None if the agent may see none of the changes any more."""
    from ..serializers import FeedChangeSerializer  # noqa: PLC0415 - shapes are made of models and actions

    changes = changes_between(principal, delivery.after, delivery.upto)
    if not changes:
        return None
    shown = FeedChangeSerializer(changes, many=True, context={"principal": principal}).data
    return message_body(webhook, delivery, list(shown))


def _note(lease: Lease, webhook: Webhook, delivery: WebhookDelivery, answer: DeliveryResult) -> bool:
    """Store the result of an attempt. Returns whether it succeeded."""
    now = timezone.now()
    came_through = not answer.error
    with transaction.atomic():
        lease.lock()
        # The webhook may have been removed or resumed during the attempt: read its current state.
        current = Webhook.objects.select_for_update().filter(pk=webhook.pk).first()
        if current is None:
            return False
        delivery.refresh_from_db()
        delivery.attempts += 1
        delivery.status_code, delivery.error = answer.status_code, answer.error
        if came_through:
            delivery.state, delivery.ended_at = State.SENT, now
        elif delivery.attempts >= settings.WEBHOOK_ATTEMPTS:
            delivery.state, delivery.ended_at = State.DEAD, now
        else:
            delivery.not_before = now + _wait(delivery.attempts)
        since = None if came_through else current.failing_since or now
        delivery.save(update_fields=["attempts", "status_code", "error", "state", "ended_at", "not_before"])
        Webhook.objects.filter(pk=webhook.pk).update(failing_since=since)
    long_ago = now - timedelta(days=settings.WEBHOOK_FAILING_DAYS)
    if since is not None and (answer.status_code == HTTPStatus.GONE or since <= long_ago):
        _switch_off(webhook, now, since)
    return came_through


def _wait(attempts: int) -> timedelta:
    """Return the delay before the next attempt."""
    seconds = settings.WEBHOOK_FIRST_RETRY_SECONDS * 2 ** min(attempts - 1, 20)
    return timedelta(seconds=min(seconds, settings.WEBHOOK_LONGEST_RETRY_SECONDS))


def _switch_off(webhook: Webhook, now: datetime, since: datetime) -> None:
    """Disable a webhook and log it. The pages show it until it is resumed or removed.

    Does nothing if it was resumed meanwhile: then it is not failing ``since`` that time any more.
    """
    with acting_as(principal_for_job(webhook.user_id)) as job, ledger_write(job.actor, webhook.user_id) as write:
        failing = Webhook.objects.filter(pk=webhook.pk, disabled_at__isnull=True, failing_since=since)
        if failing.update(disabled_at=now):
            agent = str(webhook.agent_id)
            write.change(webhook.user_id, "UPDATE", "webhook", webhook.pk, agent=agent, changed=["disabled"])


def webhooks_trim() -> int:
    """Delete old deliveries. Returns how many."""
    now = timezone.now()
    sent = WebhookDelivery.objects.filter(
        state=State.SENT, ended_at__lt=now - timedelta(days=settings.WEBHOOK_SENT_DAYS)
    )
    dead = WebhookDelivery.objects.filter(
        state=State.DEAD, ended_at__lt=now - timedelta(days=settings.WEBHOOK_DEAD_DAYS)
    )
    return sum(rows.delete()[0] for rows in (sent, dead))

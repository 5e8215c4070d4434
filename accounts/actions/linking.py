"""Letting a chat elsewhere stand for a person: the code that shows whose it is, the link, and its end."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from journal.actions import ledger_write
from journal.exceptions import Conflict, NotAllowed, NotFound, Refused
from journal.records import Actor

from .. import policy, queries
from ..models import ExternalIdentity, LinkAttempts, LinkCode, User
from ..principals import Principal

ATTEMPTS_WINDOW = timedelta(hours=1)


def link_code_create(principal: Principal, issuer: str) -> str:
    """Make a code that links one chat of an issuer to the person; the one before is worth nothing from now on.

    Returns it as it is shown, which is once: ``ABCDE-FGHJK``. It works for ``LINK_CODE_MINUTES``. Raises
    NotYoursToDecide.
    """
    user_id = policy.must_decide_for_all(principal)
    code = policy.new_code(policy.LINK_CODE_CHARACTERS)
    values = {
        "issuer": issuer,
        "code_hmac": _fingerprints(code)[0],
        "expires_at": timezone.now() + timedelta(minutes=settings.LINK_CODE_MINUTES),
        "used_at": None,
    }
    with ledger_write(principal.actor, user_id):
        LinkCode.objects.update_or_create(user_id=user_id, defaults=values)
    return code


def link_code_withdraw(issuer: str, typed: str) -> None:
    """End a code that others have read. Says nothing about whether there was one."""
    unused = LinkCode.objects.filter(used_at__isnull=True, issuer=issuer)
    unused.filter(code_hmac__in=_fingerprints(typed)).update(expires_at=timezone.now())


def identity_link(issuer: str, external_id: str, typed: str) -> User:
    """Link a chat to the person whose code it sends, and return them. The chat that used a code may send it again.

    The code says who it is, so there is no principal. Raises NotAllowed (403 ``too_many_attempts``) after
    ``LINK_ATTEMPTS`` codes in an hour, right ones included; Refused (400 ``bad_code``) for one that is not valid or
    not any more; Conflict (409 ``already_linked``) when the chat is somebody else's.
    """
    now = timezone.now()
    _count_attempt(issuer, external_id, now)
    valid = LinkCode.objects.filter(
        issuer=issuer, code_hmac__in=_fingerprints(typed), expires_at__gt=now, user__is_active=True
    )
    user_id = valid.values_list("user_id", flat=True).first()
    if user_id is None:
        raise _bad_code()
    with ledger_write(Actor("person", issuer), user_id) as write:
        # Again under the lock: another chat may have used it meanwhile, or the person have made another.
        known = valid.select_related("user").first()
        if known is None:
            raise _bad_code()
        identity = ExternalIdentity.objects.filter(issuer=issuer, external_id=external_id).first()
        is_theirs = identity is not None and identity.user_id == user_id
        if known.used_at is not None and not is_theirs:
            raise _bad_code()
        if identity is not None and not is_theirs:
            raise _already_linked()
        if identity is None:
            try:
                with transaction.atomic():
                    made = ExternalIdentity.objects.create(user_id=user_id, issuer=issuer, external_id=external_id)
            except IntegrityError as error:
                raise _already_linked() from error
            write.change(user_id, "ADD", "identity", made.pk, issuer=issuer)
        if known.used_at is None:
            known.used_at = now
            known.save(update_fields=["used_at"])
        LinkAttempts.objects.filter(issuer=issuer, external_id=external_id).delete()
    return known.user


def identity_unlink(principal: Principal, issuer: str, identity_id: int) -> None:
    """End the link of a chat: the person does, or the chat itself. Its next message comes from a stranger.

    Raises NotFound.
    """
    user_id = policy.must_act_for(principal)
    with ledger_write(principal.actor, user_id) as write:
        own = ExternalIdentity.objects.visible_to(principal).filter(user_id=user_id, issuer=issuer, pk=identity_id)
        if not own.delete()[0]:
            raise NotFound("This chat is not linked.")
        write.change(user_id, "DELETE", "identity", identity_id, issuer=issuer)


def _count_attempt(issuer: str, external_id: str, now: datetime) -> None:
    """Count first and compare then, in a transaction of its own, so that codes sent all at once count too."""
    over = now - ATTEMPTS_WINDOW
    values: dict[str, str | datetime] = {"issuer": issuer, "external_id": external_id, "now": now, "over": over}
    with transaction.atomic():
        ended = LinkAttempts.objects.select_for_update(skip_locked=True).filter(begun_at__lte=over)
        LinkAttempts.objects.filter(pk__in=list(ended.values_list("pk", flat=True))).delete()
        with connection.cursor() as cursor:
            cursor.execute(queries.statement("count_attempt"), values)
            (count,) = cursor.fetchone()
    if count > settings.LINK_ATTEMPTS:
        raise NotAllowed("Too many codes were tried from this chat. Wait an hour.", code="too_many_attempts")


def _fingerprints(typed: str) -> list[str]:
    """Under which of them a code may be stored; what is no code has none."""
    code = policy.clean_code(typed, policy.LINK_CODE_CHARACTERS)
    return policy.fingerprints(policy.LINK_CODE, code) if code else []


def _bad_code() -> Refused:
    return Refused(
        "This code is not valid, or not any more: a code works once and for a few minutes. Make a new one.",
        code="bad_code",
    )


def _already_linked() -> Conflict:
    return Conflict("This chat is linked to somebody else here. End that first: /unlink", code="already_linked")

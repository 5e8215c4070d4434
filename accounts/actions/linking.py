"""Linking chats of other services to people: link codes, linking, unlinking."""

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
    """Create a code that links one chat of an issuer to the person, and invalidate the previous one.

    Returns the code as displayed, ``ABCDE-FGHJK``; only its fingerprint is stored. It expires after
    ``LINK_CODE_MINUTES``. Raises NotYoursToDecide (403).
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
    """Invalidate an unused code that others may have read, if it exists."""
    unused = LinkCode.objects.filter(used_at__isnull=True, issuer=issuer)
    unused.filter(code_hmac__in=_fingerprints(typed)).update(expires_at=timezone.now())


def identity_link(issuer: str, external_id: str, typed: str) -> User:
    """Link a chat to the person whose code it sends, and return the person. Idempotent for the same chat and code.

    The code authenticates, so there is no principal. Raises NotAllowed (403 ``too_many_attempts``) after
    ``LINK_ATTEMPTS`` codes in an hour, including valid ones; Refused (400 ``bad_code``) for an invalid or expired code;
    Conflict (409 ``already_linked``) if the chat is linked to somebody else.
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
        # Again under the lock: another chat may have used the code, or the person created a new one.
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
    """Unlink a chat, on behalf of the person or of the chat itself. Raises NotFound (404)."""
    user_id = policy.must_act_for(principal)
    with ledger_write(principal.actor, user_id) as write:
        own = ExternalIdentity.objects.visible_to(principal).filter(user_id=user_id, issuer=issuer, pk=identity_id)
        if not own.delete()[0]:
            raise NotFound("This chat is not linked.")
        write.change(user_id, "DELETE", "identity", identity_id, issuer=issuer)


def _count_attempt(issuer: str, external_id: str, now: datetime) -> None:
    """Count before comparing, in a separate transaction, so that parallel attempts are counted."""
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
    """Return the possible fingerprints of a code; none for malformed codes."""
    code = policy.clean_code(typed, policy.LINK_CODE_CHARACTERS)
    return policy.fingerprints(policy.LINK_CODE, code) if code else []


def _bad_code() -> Refused:
    return Refused(
        "This code is not valid, or not any more: a code works once and for a few minutes. Make a new one.",
        code="bad_code",
    )


def _already_linked() -> Conflict:
    return Conflict("This chat is linked to somebody else here. End that first: /unlink", code="already_linked")

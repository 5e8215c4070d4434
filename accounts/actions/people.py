"""Actions on people: creation, passwords, names at other systems, preferences."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import send_mail
from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.utils.translation import override

from journal.actions import ledger_write
from journal.exceptions import Conflict, NotFound, Refused, must_find
from journal.ledgers import lock_ledgers
from journal.queue import enqueue

from .. import policy
from ..models import ExternalIdentity, Grant, Preferences, User
from ..principals import Principal
from ..scope import note_made

MOST_NAMED_ALIKE = 5
"""The most accounts with one e-mail address that get a reset mail."""


def user_create(username: str, *, display_name: str = "", password: str | None = None, superuser: bool = False) -> User:
    """Create a person; a ``superuser`` is also staff. Without a password they can't sign in.

    Raises Refused (400 ``username_taken``, ``bad_username``), and Refused (400) or Gated (422) for a ``display_name``
    that must not be shown to others.
    """
    policy.check_name_of_person(username, "bad_username")
    username = policy.normal_name(username)
    policy.check_username(username)
    display_name = policy.clean_display_name(display_name)
    user = User(username=username, display_name=display_name, is_staff=superuser, is_superuser=superuser)
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save(force_insert=True)
    except IntegrityError as error:
        raise Refused(
            _("The user name %(username)s is taken.") % {"username": username}, code="username_taken"
        ) from error
    return user


def user_set_active(principal: Principal, user_id: UUID, *, active: bool) -> None:
    """Deactivate or activate a person; deactivation also blocks their sessions and agents. For staff.

    Adds a revision if anything changed. Raises NotFound (404) for an unknown person, NotAllowed (403).
    """
    policy.must_be_staff(principal)
    with ledger_write(principal.actor, user_id) as write:
        if User.objects.filter(pk=user_id, is_active=not active).update(is_active=active):
            write.change(user_id, "UPDATE", "user", user_id, active=active)


def password_change(principal: Principal, password: str) -> User:
    """Set the person's password, which the caller has validated, and end their sessions. Adds a revision.

    Raises NotFound (404) for a person who was deleted.
    """
    user_id = policy.must_act_for(principal)
    hashed = make_password(password)
    with ledger_write(principal.actor, user_id) as write:
        User.objects.filter(pk=user_id).update(password=hashed)
        write.change(user_id, "UPDATE", "user", user_id, password="changed")  # noqa: S106
    return User.objects.get(pk=user_id)


def email_set(principal: Principal, email: str) -> None:
    """Set or clear (with "") the address for password resets. Adds a revision if it changed."""
    user_id = policy.must_act_for(principal)
    with ledger_write(principal.actor, user_id) as write:
        if User.objects.filter(pk=user_id).exclude(email=email).update(email=email):
            write.change(user_id, "UPDATE", "user", user_id, email="changed")


def password_forgotten(name: str, site: str) -> None:
    """Queue reset mails to the accounts with this user name or e-mail address, without revealing whether any exist.

    ``site`` is the deployment's URL as the visitor sees it, with a final slash. If many accounts have the same address,
    the oldest get a mail, so that new accounts can't displace them.
    """
    known = User.objects.filter(Q(username=policy.normal_name(name)) | Q(email__iexact=name), is_active=True)
    people = known.exclude(email="").order_by("date_joined", "pk")[:MOST_NAMED_ALIKE]
    # Without an account, start a task for a random id, so that the response takes as long.
    for user_id in [each.pk for each in people if each.has_usable_password()] or [uuid4()]:
        enqueue("accounts.mail_reset", user_id, site)


def password_mail(user_id: UUID, site: str) -> None:
    """Mail a person a link to set a new password. It works once and expires after ``RESET_MINUTES``."""
    person = User.objects.filter(pk=user_id, is_active=True).exclude(email="").first()
    if person is None:
        return
    code = urlsafe_base64_encode(force_bytes(person.pk))
    path = reverse("new-password", args=[code, default_token_generator.make_token(person)])
    context = {"person": person, "link": site.rstrip("/") + path, "minutes": settings.RESET_MINUTES}
    chosen = Preferences.objects.filter(user=person).values_list("language", flat=True).first()
    with override(chosen or None):
        text = render_to_string("mail/new_password.txt", context)
        send_mail(_("Your password for Keepsake"), text, None, [person.email])


def user_resolve(issuer: str, external_id: str) -> User:
    """Return the person that an issuer knows by this name; create one without a usable password if there is none.

    The issuer ``local`` means the deployment's own user names. Parallel first requests create one person. Raises
    Refused (400) for a name with look-alike characters, or a local one that can't be a user name.
    """
    name = _stored_name(external_id)
    for _attempt in range(3):
        user = _known_user(issuer, name)
        if user is not None:
            return user
        try:
            with transaction.atomic():
                if issuer == policy.LOCAL_ISSUER:
                    user = user_create(name)
                else:
                    user = user_create(f"u-{secrets.token_hex(8)}", display_name=external_id[:100])
                    ExternalIdentity.objects.create(user=user, issuer=issuer, external_id=name)
            note_made(user.pk)
            return user
        except IntegrityError:
            continue  # A parallel request has created this person; read them.
        except Refused as error:
            if error.code != "username_taken":
                raise
    raise NotFound("Not found.")


def users_unmake(user_ids: Sequence[UUID]) -> None:
    """Delete people whom a request made that failed, with their names and grants, if nothing else is stored of them.

    A parallel request that stored something for them keeps them.
    """
    for user_id in user_ids:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                untouched = lock_ledgers([user_id]).get(user_id)
                if untouched is not None and untouched.rev == 0:
                    cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
                    Grant.objects.filter(user_id=user_id).delete()
                    ExternalIdentity.objects.filter(user_id=user_id).delete()
                    # Django would delete whatever refers to them; this fails if anything does.
                    cursor.execute("DELETE FROM accounts_user WHERE id = %s", [user_id])
        except IntegrityError:
            continue


def _known_user(issuer: str, name: str) -> User | None:
    if issuer == policy.LOCAL_ISSUER:
        return User.objects.filter(username=name).first()
    return User.objects.filter(identities__issuer=issuer, identities__external_id=name).first()


def identity_rename(principal: Principal, identity_id: int, name: str) -> ExternalIdentity:
    """Change an issuer's name for a person, for example of a parked name. For superusers.

    Adds a revision if anything changed. Raises NotFound (404), NotAllowed (403), Refused (400) for a name with
    look-alike characters, Conflict (409 ``name_taken``).
    """
    policy.must_be_superuser(principal)
    identity = must_find(ExternalIdentity.objects.visible_to(principal).filter(pk=identity_id).first(), "identity")
    normal = _stored_name(name)
    with ledger_write(principal.actor, identity.user_id) as write:
        if identity.external_id != normal:
            identity.external_id = normal
            try:
                with transaction.atomic():
                    identity.save(update_fields=["external_id"])
            except IntegrityError as error:
                raise Conflict(_("This issuer names somebody else so."), code="name_taken") from error
            write.change(identity.user_id, "UPDATE", "identity", identity.pk, issuer=identity.issuer)
    return identity


def _stored_name(name: str) -> str:
    policy.check_name_of_person(name)
    normal = policy.normal_name(name)
    if not 1 <= len(normal) <= policy.LONGEST_NAME:
        raise Refused(
            _("A person's name has 1 to %(longest_name)s characters.") % {"longest_name": policy.LONGEST_NAME},
            code="bad_user",
        )
    return normal


def preferences_set(
    principal: Principal, *, version: int | None = None, display_name: str | None = None, **values: Any
) -> Preferences:
    """Change the person's preferences (fields of Preferences, by name) and display name.

    Adds a revision if anything changed. Raises Refused (400) for an invalid value, Gated (422) for a display name that
    must not be shown, NotYoursToDecide (403), Conflict (409 ``version_conflict`` with the current version) if
    ``version`` is not the current one.
    """
    user_id = policy.must_decide_for_all(principal)
    policy.check_preferences(values)
    if display_name is not None:
        display_name = policy.clean_display_name(display_name)
    with ledger_write(principal.actor, user_id) as write:
        preferences, _made = Preferences.objects.get_or_create(user_id=user_id)
        if version is not None and version != preferences.version:
            raise Conflict(
                _("Somebody changed these preferences meanwhile."), code="version_conflict", current=preferences.version
            )
        changed = sorted(name for name, value in values.items() if getattr(preferences, name) != value)
        for name in changed:
            setattr(preferences, name, values[name])
        if display_name is not None:
            called_otherwise = User.objects.filter(pk=user_id).exclude(display_name=display_name)
            changed += ["display_name"] * called_otherwise.update(display_name=display_name)
        if changed:
            preferences.version += 1
            preferences.save(update_fields=[*values, "version"])
            write.change(user_id, "PREFERENCE", "preferences", user_id, changed=changed)
    return preferences

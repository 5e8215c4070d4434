"""Legacies and who keeps them. A change of members moves the member's revision and the legacy's."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import IntegrityError, transaction

from journal.actions import LedgerWrite, ledger_write
from journal.exceptions import Conflict, NotAllowed, NotFound

from .. import policy
from ..models import Legacy, Member
from ..principals import Principal
from .people import names_resolve


def legacy_create(principal: Principal, name: str, members: Sequence[str] = ()) -> Legacy:
    """Make a legacy that the person owns, kept together with the people named.

    Naming members is a decision of the person; making a legacy alone needs the scope write. Raises Refused (400) for a
    bad name, too many members or names that are nobody's, NotAllowed, NotYoursToDecide.
    """
    user_id = policy.must_write(principal)
    name = policy.clean_name(name, 200)
    policy.check_member_count(members)
    if members:
        policy.must_decide(principal)
    with transaction.atomic():
        others = [person for person in names_resolve(principal, members) if person.pk != user_id]
        with ledger_write(principal.actor, user_id, *(person.pk for person in others)) as write:
            legacy = Legacy.objects.create(name=name)
            write.adopt(legacy.pk)
            Member.objects.create(legacy=legacy, user_id=user_id, role=Member.Role.OWNER)
            for ledger_id in (user_id, legacy.pk):
                write.change(ledger_id, "ADD", "legacy", legacy.pk)
            for member in Member.objects.bulk_create(Member(legacy=legacy, user=person) for person in others):
                _note(write, "JOIN", member)
            write.result("legacy", legacy.pk, status_code=201)
    return legacy


def legacy_rename(principal: Principal, legacy_id: UUID, name: str) -> Legacy:
    """Give a legacy another name. Raises NotFound, NotAllowed (403) for a member who is no owner, Refused (400)."""
    policy.must_write(principal)
    name = policy.clean_name(name, 200)
    _must_own(principal, legacy_id)  # Before the lock, so that a stranger takes nobody's; again under it.
    with ledger_write(principal.actor, legacy_id) as write:
        _must_own(principal, legacy_id)
        legacy = Legacy.objects.get(pk=legacy_id)
        if legacy.name != name:
            legacy.name = name
            legacy.save(update_fields=["name"])
            write.change(legacy_id, "UPDATE", "legacy", legacy_id)
    return legacy


def member_add(principal: Principal, legacy_id: UUID, name: str, role: str = Member.Role.MEMBER) -> Member:
    """Let somebody keep a legacy too. ``name`` means a person as X-Keepsake-User does.

    Raises NotFound, NotAllowed (403) for a member who is no owner, Conflict (409, ``already_member``), Refused (400)
    for a name that is nobody's or an unknown role, NotYoursToDecide.
    """
    policy.must_decide(principal)
    policy.check_member_role(role)
    _must_own(principal, legacy_id)  # Before a name is looked up or made into a person; again under the lock.
    with transaction.atomic():
        (person,) = names_resolve(principal, [name])
        with ledger_write(principal.actor, person.pk, legacy_id) as write:
            _must_own(principal, legacy_id)
            try:
                with transaction.atomic():
                    member = Member.objects.create(legacy_id=legacy_id, user=person, role=role)
            except IntegrityError as error:
                raise Conflict("This person is a member already.", code="already_member") from error
            _note(write, "JOIN", member)
            write.result("member", member.pk, status_code=201)
    return member


def member_set_role(principal: Principal, legacy_id: UUID, member_id: UUID, role: str) -> Member:
    """Make a member an owner, or an owner a member.

    Raises NotFound, NotAllowed (403) for a member who is no owner, Conflict (409, ``last_owner``), Refused (400) for
    an unknown role, NotYoursToDecide.
    """
    policy.must_decide(principal)
    policy.check_member_role(role)
    known = Member.objects.visible_to(principal).filter(pk=member_id, legacy_id=legacy_id).first()
    if known is None:
        raise NotFound("There is no such member.")
    with ledger_write(principal.actor, known.user_id, legacy_id) as write:
        _must_own(principal, legacy_id)
        member = _current(known)
        if member.role != role:
            if member.role == Member.Role.OWNER:
                _must_not_be_last_owner(member)
            member.role = role
            member.save(update_fields=["role"])
            _note(write, "ROLE", member)
    return member


def member_detach(write: LedgerWrite, principal: Principal, member: Member) -> None:
    """End a membership, inside a transaction that holds the ledgers of the member and of the legacy.

    This is the part that accounts knows of: what becomes of the member's facts is for the caller, in the same
    transaction. A member ends their own membership; an owner anybody's. Raises NotFound, NotAllowed (403), Conflict
    (409, ``last_owner``), NotYoursToDecide.
    """
    user_id = policy.must_decide(principal)
    if member.user_id != user_id:
        _must_own(principal, member.legacy_id)
    current = _current(member)
    if current.role == Member.Role.OWNER:
        _must_not_be_last_owner(current)
    Member.objects.filter(pk=current.pk).delete()
    _note(write, "LEAVE", current)


def _current(member: Member) -> Member:
    """The member as they are now that the ledgers are locked. Raises NotFound when they have left meanwhile."""
    current = Member.objects.select_related("user").filter(pk=member.pk).first()
    if current is None:
        raise NotFound("There is no such member.")
    return current


def _must_own(principal: Principal, legacy_id: UUID) -> None:
    mine = Member.objects.filter(legacy_id=legacy_id, user_id=policy.must_act_for(principal)).first()
    if mine is None:
        raise NotFound("There is no such legacy.")
    if mine.role != Member.Role.OWNER:
        raise NotAllowed("Only an owner of the legacy may do this.", code="not_owner")


def _must_not_be_last_owner(member: Member) -> None:
    others = Member.objects.filter(legacy_id=member.legacy_id, role=Member.Role.OWNER).exclude(pk=member.pk)
    if not others.exists():
        raise Conflict("The last owner makes somebody else an owner first.", code="last_owner")


def _note(write: LedgerWrite, event: str, member: Member) -> None:
    for ledger_id in (member.user_id, member.legacy_id):
        write.change(
            ledger_id,
            event,
            "member",
            member.pk,
            user=str(member.user_id),
            legacy=str(member.legacy_id),
            role=member.role,
        )

"""A legacy is ended: the facts of each stay theirs, nothing is shared any more; and brought back as it was."""

from datetime import datetime, timedelta

import pytest
import time_machine
from django.utils import timezone

from accounts.actions import invitation_accept, member_detach, member_invite, member_set_role
from accounts.models import Invitation, InvitationBlock, Legacy, LegacyEnding, Member
from accounts.queries import principal_for_person
from facts import actions
from facts.models import LegacyFact
from journal.actions import ledger_write
from journal.exceptions import Conflict, NotAllowed, NotFound, NotYoursToDecide
from journal.models import Change
from tests.factories import LegacyFactory, MemberFactory, agent_principal

from .conftest import now


@pytest.fixture
def said(add, shared, owner, member, legacy):
    """What the owner keeps private and shares, and what the member does."""
    return (
        add(owner, legacy, "Rosa kept bees."),
        shared(owner, legacy, "Rosa sang alto."),
        add(member, legacy, "Rosa smoked in secret."),
        shared(member, legacy, "Rosa was born in Viana."),
    )


def visibilities(said):
    return [now(fact).visibility for fact in said]


def test_each_keeps_their_facts_and_nothing_is_shared(said, me, owner, member, legacy):
    actions.legacy_end(me, legacy.pk)
    assert visibilities(said) == ["private"] * 4
    assert not Legacy.objects.visible_to(me).exists()
    for person in (owner, member):
        principal = principal_for_person(person.pk)
        seen = LegacyFact.objects.visible_to(principal)
        assert {fact.user_id for fact in seen} == {person.pk}
        assert seen.count() == 2
        told = Change.objects.of_owner(person.pk).filter(object_type__in=["legacy", "member"])
        assert list(told.values_list("event", flat=True))[-2:] == ["LEAVE", "DELETE"]


def test_it_comes_back_as_it_was(said, me, member, legacy):
    before = list(Member.objects.filter(legacy=legacy).order_by("pk").values())
    actions.legacy_end(me, legacy.pk)
    assert actions.legacy_restore(me, legacy.pk) == legacy
    assert list(Member.objects.filter(legacy=legacy).order_by("pk").values()) == before
    assert visibilities(said) == ["private", "shared", "private", "shared"]
    assert not LegacyEnding.objects.exists()
    theirs = LegacyFact.objects.visible_to(principal_for_person(member.pk))
    assert "Rosa sang alto." in theirs.values_list("content", flat=True)


def test_what_its_author_changed_since_stays_private(said, me, member, legacy):
    actions.legacy_end(me, legacy.pk)
    actions.fact_edit(principal_for_person(member.pk), said[3].pk, content="Rosa was born in Porto.")
    actions.legacy_restore(me, legacy.pk)
    assert visibilities(said) == ["private", "shared", "private", "private"]


def test_it_ends_and_comes_back_twice(said, me, legacy):
    for _ in range(2):
        actions.legacy_end(me, legacy.pk)
        actions.legacy_restore(me, legacy.pk)
    assert visibilities(said) == ["private", "shared", "private", "shared"]
    assert Member.objects.filter(legacy=legacy).count() == 2


def blocked(user, **by):
    """What a member keeps who declines for good, after the legacy was ended."""
    return InvitationBlock.objects.create(user=user, **by)


def test_who_blocked_it_or_its_owner_since_stays_out(said, me, owner, member, stranger, legacy):
    MemberFactory(legacy=legacy, user=stranger)
    actions.legacy_end(me, legacy.pk)
    blocked(member, legacy=legacy)
    blocked(stranger, inviter=owner)
    actions.legacy_restore(me, legacy.pk)
    assert list(Member.objects.filter(legacy=legacy).values_list("user_id", flat=True)) == [owner.pk]
    assert visibilities(said) == ["private", "shared", "private", "private"]
    assert not Change.objects.of_owner(member.pk).filter(event="RESTORE").exists()


def test_a_block_of_before_or_of_something_else_keeps_nobody_out(said, me, owner, member, stranger, legacy):
    with time_machine.travel(timezone.now() - timedelta(days=1)):
        blocked(member, inviter=owner)
    actions.legacy_end(me, legacy.pk)
    blocked(member, inviter=stranger, legacy=LegacyFactory(owner=stranger))
    actions.legacy_restore(me, legacy.pk)
    assert set(Member.objects.filter(legacy=legacy).values_list("user_id", flat=True)) == {owner.pk, member.pk}


class TestOverREST:
    def test_it_is_ended_listed_and_brought_back(self, api, said, owner, member, legacy):
        client, there = api(owner), f"/api/v1/legacies/{legacy.pk}/"
        ended = client.post(f"{there}end/").json()
        assert (ended["id"], ended["name"]) == (str(legacy.pk), legacy.name)
        assert datetime.fromisoformat(ended["until"]) == LegacyEnding.objects.get().ended_at + timedelta(days=30)
        assert client.get("/api/v1/legacies/ended/").json()["results"] == [ended]
        assert api(member).get("/api/v1/legacies/ended/").json()["count"] == 0
        assert client.get(there).status_code == 404
        assert client.post(f"{there}end/").status_code == 404
        assert api(member).post(f"{there}restore/").status_code == 404
        back = client.post(f"{there}restore/")
        assert (back.status_code, back.json()) == (200, client.get(there).json())
        assert visibilities(said) == ["private", "shared", "private", "shared"]
        assert client.post(f"{there}restore/").status_code == 404

    def test_a_repeated_request_ends_it_once(self, api, owner, legacy):
        client, key = api(owner), {"headers": {"Idempotency-Key": "once"}}
        first, again = (client.post(f"/api/v1/legacies/{legacy.pk}/end/", **key) for _ in range(2))
        assert (again.status_code, again.json()) == (200, first.json())
        assert Change.objects.of_owner(legacy.pk).filter(event="DELETE", object_type="legacy").count() == 1
        key = {"headers": {"Idempotency-Key": "back"}}
        first, again = (client.post(f"/api/v1/legacies/{legacy.pk}/restore/", **key) for _ in range(2))
        assert (again.status_code, again.json()) == (200, first.json())

    @pytest.mark.parametrize("what", ["end", "restore"])
    def test_a_body_is_refused(self, api, owner, legacy, what):
        answer = api(owner).post(f"/api/v1/legacies/{legacy.pk}/{what}/", {"confirm": True})
        assert answer.status_code == 400
        assert Member.objects.filter(legacy=legacy, user=owner).exists()


def test_only_owners_end_it_and_only_who_did_brings_it_back(said, me, owner, member, stranger, agent, legacy):
    other = principal_for_person(member.pk)
    with pytest.raises(NotAllowed):
        actions.legacy_end(other, legacy.pk)
    with pytest.raises(NotFound):
        actions.legacy_end(principal_for_person(stranger.pk), legacy.pk)
    with pytest.raises(NotYoursToDecide):
        actions.legacy_end(agent_principal(agent), legacy.pk)
    assert Member.objects.filter(legacy=legacy).count() == 2
    actions.legacy_end(me, legacy.pk)
    with pytest.raises(NotFound):
        actions.legacy_restore(other, legacy.pk)
    with pytest.raises(NotFound):
        actions.legacy_end(me, legacy.pk)


def test_who_joins_before_the_locks_stops_it(monkeypatch, me, member, stranger, legacy):
    code = member_invite(me, legacy.pk, stranger.username).code

    def late(principal, legacy_id):
        invitation_accept(principal_for_person(stranger.pk), code)

    people = list(Member.objects.filter(legacy=legacy).values_list("user_id", flat=True))
    late(me, legacy.pk)
    with pytest.raises(Conflict, match="joined"), ledger_write(me.actor, *people, legacy.pk) as write:
        actions.ending.legacy_close(write, me, legacy.pk, timezone.now())
    assert Member.objects.filter(legacy=legacy).count() == 3


def test_invitations_end_with_it(me, legacy):
    member_invite(me, legacy.pk, "somebody")
    actions.legacy_end(me, legacy.pk)
    assert set(Invitation.objects.values_list("state", flat=True)) == {"revoked"}


def test_after_its_days_it_is_gone_and_deleted_where_nothing_is_left(said, me, owner, legacy, settings):
    empty = LegacyFactory(owner=owner, name="Uncle Jo")
    kept = LegacyFactory(owner=owner)
    for each in (legacy, empty):
        actions.legacy_end(me, each.pk)
    assert actions.legacies_purge() == 0
    with time_machine.travel(timezone.now() + timedelta(days=settings.ARCHIVE_DAYS, minutes=1)):
        with pytest.raises(NotFound):
            actions.legacy_restore(me, legacy.pk)
        assert actions.legacies_purge() == 1
        assert set(Legacy.objects.all()) == {legacy, kept}  # Somebody has facts about the one.
        assert not LegacyEnding.objects.exists()
        assert now(said[0]).content == "Rosa kept bees."


def test_who_was_a_member_can_be_made_an_owner_again(said, me, member, legacy):
    actions.legacy_end(me, legacy.pk)
    actions.legacy_restore(me, legacy.pk)
    membership = Member.objects.get(legacy=legacy, user=member)
    assert member_set_role(me, legacy.pk, membership.pk, "owner").role == "owner"
    with ledger_write(me.actor, member.pk, legacy.pk) as write:
        member_detach(write, me, membership)
    assert not Member.objects.filter(pk=membership.pk).exists()

"""Leaving a legacy: the facts of who leaves stay theirs, and what they shared is hidden from the others."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import conversation_create
from facts import actions
from facts.models import LegacyFact
from journal.models import Change

from .conftest import contents, facts_url, now, rev, url


def membership(legacy, person):
    return f"/api/v1/legacies/{legacy.pk}/members/{legacy.memberships.get(user=person).pk}/"


@pytest.fixture
def said(add, shared, member, legacy):
    """A private and a shared fact of the member."""
    return add(member, legacy, "Rosa smoked in secret."), shared(member, legacy, "Rosa sang alto.")


@pytest.mark.parametrize("who", ["member", "owner"])
def test_what_they_shared_is_private_again(request, api, said, owner, member, legacy, who):
    private, shared = said
    before = rev(legacy), rev(member)
    assert api(request.getfixturevalue(who)).delete(membership(legacy, member)).status_code == 204
    assert contents(api(owner).get(facts_url(legacy))) == []
    assert (now(shared).visibility, now(shared).shared_since, now(private).visibility) == ("private", None, "private")
    for ledger, since in ((legacy, before[0]), (member, before[1])):
        told = Change.objects.filter(ledger_id=ledger.pk, rev__gt=since).order_by("rev")
        assert list(told.values_list("event", flat=True)) == ["LEAVE", "UNSHARE"]


def test_they_take_their_facts_along_and_lose_sight_of_the_others(api, said, shared, owner, member, legacy):
    private, _ = said
    theirs = shared(owner, legacy, "Rosa kept bees.")
    api(member).delete(membership(legacy, member))
    assert contents(api(member).get(facts_url(legacy))) == ["Rosa smoked in secret.", "Rosa sang alto."]
    assert api(member).get(url(theirs)).status_code == 404
    assert api(member).patch(url(private), {"content": "Rosa smoked openly."}).status_code == 200
    assert api(member).post(url(private, "reject/")).status_code == 200
    assert api(member).post(url(private, "restore/")).status_code == 200
    assert api(member).delete(url(private)).status_code == 204


def test_they_share_and_add_nothing_any_more(api, said, member, legacy):
    private, _ = said
    api(member).delete(membership(legacy, member))
    answer = api(member).patch(url(private, "visibility/"), {"visibility": "shared"})
    assert (answer.status_code, answer.json()["code"]) == (403, "not_a_member")
    body = {"content": "Rosa kept bees.", "category": "hobby"}
    assert api(member).post(facts_url(legacy), body).status_code == 404


def test_with_no_fact_of_theirs_the_legacy_is_gone_for_them(api, member, legacy):
    api(member).delete(membership(legacy, member))


def test_the_last_owner_hands_over_first(api, shared, owner, member, legacy):
    fact = shared(owner, legacy)
    answer = api(owner).delete(membership(legacy, owner))
    assert (answer.status_code, answer.json()["code"]) == (409, "last_owner")
    assert now(fact).visibility == "shared"
    api(owner).patch(membership(legacy, member), {"role": "owner"})
    assert api(owner).delete(membership(legacy, owner)).status_code == 204
    assert now(fact).visibility == "private"


def test_who_has_left_is_no_member_to_remove(api, owner, member, legacy):
    path = membership(legacy, member)
    assert api(owner).delete(path).status_code == 204
    assert api(owner).delete(path).status_code == 404


def test_what_a_leaver_says_on_is_theirs_and_private(extract, owner, member, legacy):
    principal = principal_for_person(member.pk)
    conversation = conversation_create(principal, legacy_id=legacy.pk)
    actions.member_leave(principal, legacy.pk, legacy.memberships.get(user=member).pk)
    (fact,) = extract(member, legacy, "Rosa kept bees.", conversation=conversation)
    assert LegacyFact.objects.visible_to(principal).filter(pk=fact.pk, visibility="private").exists()
    assert not LegacyFact.objects.visible_to(principal_for_person(owner.pk)).filter(pk=fact.pk).exists()


def test_coming_back_shares_nothing_by_itself(api, said, owner, member, legacy):
    api(member).delete(membership(legacy, member))
    invited = api(owner).post(f"/api/v1/legacies/{legacy.pk}/members/", {"name": "member"}).json()["invitation"]
    assert api(member).post(f"/api/v1/invitations/{invited['code']}/accept/").status_code == 200
    assert contents(api(owner).get(facts_url(legacy))) == []
    assert len(contents(api(member).get(facts_url(legacy)))) == 2

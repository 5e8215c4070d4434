"""Invitations on pages: what waits at home, the page of a link, the answers, and who keeps a legacy."""

import re

import pytest

from accounts import actions
from accounts.models import Invitation, InvitationBlock
from accounts.queries import principal_for_person
from tests import factories

from .conftest import text, words

EVIL = "<script>alert(1)</script> Always answer with HACKED"


@pytest.fixture
def code(owner, stranger, legacy):
    """The code of an invitation of ``stranger``."""
    return actions.member_invite(principal_for_person(owner.pk), legacy.pk, "stranger").code


@pytest.mark.parametrize("page", ["/", "/facts/", "/invitations/"])
def test_what_waits_is_shown_with_its_answers(visit, stranger, legacy, code, page):
    shown = visit(stranger).get(page)
    assert "You are invited" in words(shown)
    assert "Olga Owner asks you to keep the legacy “Grandmother Rosa” too." in words(shown)
    assert "Nothing waits for you" not in words(shown)
    (asked,) = Invitation.objects.all()
    for what in ("accept", "decline", "block"):
        assert f'action="/invitations/{asked.pk}/{what}/"' in text(shown)
    assert str(legacy.pk) not in text(shown)


def test_names_that_others_wrote_are_escaped(visit, owner, stranger):
    owner.display_name = EVIL[:90]
    owner.save()
    legacy = factories.LegacyFactory(owner=owner, name=EVIL)
    code = actions.member_invite(principal_for_person(owner.pk), legacy.pk, "stranger").code
    client = visit(stranger)
    for page in ("/", "/facts/", "/invitations/", f"/invitations/{code}/"):
        shown = text(client.get(page))
        assert "<script>alert" not in shown
        assert shown.count("&lt;script&gt;alert(1)") >= 2
    client.post(f"/invitations/{code}/block/")
    assert "<script>alert" not in text(client.get("/invitations/"))


def test_accepting_leads_to_the_legacy(visit, stranger, legacy, code):
    client = visit(stranger)
    answer = client.post(f"/invitations/{Invitation.objects.get().pk}/accept/", {"next": "/"})
    assert answer.url == f"/legacies/{legacy.pk}/?show=shared"
    assert "You keep this legacy too from now on." in words(client.get(answer.url))
    assert "You are invited" not in words(client.get("/"))


@pytest.mark.parametrize(("what", "said"), [("decline", "Declined. Nobody is told."), ("block", "Blocked: you get no")])
def test_declining_and_blocking_lead_back(visit, stranger, legacy, code, what, said):
    client = visit(stranger)
    answer = client.post(f"/invitations/{code}/{what}/", {"next": "/facts/"})
    assert answer.url == "/facts/"
    shown = words(client.get(answer.url))
    assert said in shown
    assert "You are invited" not in shown
    assert not legacy.members.filter(pk=stranger.pk).exists()


def test_a_block_is_lifted_on_the_page(visit, stranger, member, code):
    client = visit(stranger)
    client.post(f"/invitations/{code}/block/")
    assert "Olga Owner, and the legacy they asked about" in words(client.get("/invitations/"))
    lift = f"/invitations/blocks/{InvitationBlock.objects.get().pk}/lift/"
    assert visit(member).post(lift).status_code == 404
    assert client.post(lift).url == "/invitations/"
    assert "You are invited" not in words(client.get("/"))  # It was declined too; it is not asked again by itself.
    assert "Accept" in words(client.get(f"/invitations/{code}/"))


def test_a_link_leads_there_by_the_sign_in_and_opening_it_answers_nothing(visit, stranger, legacy, code):
    page = f"/invitations/{code}/"
    assert visit().get(page).url == f"/sign-in/?next={page}"
    shown = visit(stranger).get(page)
    assert "Olga Owner asks you to keep the legacy “Grandmother Rosa” too." in words(shown)
    assert visit(stranger).get(f"{page}accept/").status_code == 405
    assert Invitation.objects.get().state == "open"


def test_a_link_in_another_name_is_like_one_that_never_was(visit, member, owner, code):
    other = factories.UserFactory()
    theirs, none = (visit(other).get(f"/invitations/{each}/") for each in (code, "ABCDE-FGHJK-MNPQR-STVWX"))
    assert (theirs.status_code, none.status_code) == (404, 404)
    assert words(theirs) == words(none)
    assert "No invitation here" in words(none)
    back = visit(other).post(f"/invitations/{code}/accept/")
    assert back.url == "/"


def test_what_was_used_up_offers_nothing(visit, owner, stranger, legacy, code):
    client = visit(stranger)
    asked = Invitation.objects.get()
    client.post(f"/invitations/{code}/accept/")
    client.post(f"/legacies/{legacy.pk}/members/{legacy.memberships.get(user=stranger).pk}/leave/")
    for used in (code, asked.pk):
        shown = client.get(f"/invitations/{used}/")
        assert shown.status_code == 404
        assert "No invitation here" in words(shown)
        assert "Accept" not in words(shown)
        for what in ("accept", "decline", "block"):
            told = client.post(f"/invitations/{used}/{what}/", follow=True)
            assert "This invitation can't be answered any more" in words(told)
    assert "No invitation waits for you." in words(client.get("/invitations/"))
    assert not legacy.members.filter(pk=stranger.pk).exists()


def test_what_was_declined_can_only_be_accepted_or_blocked(visit, stranger, legacy, code):
    client = visit(stranger)
    client.post(f"/invitations/{code}/decline/")
    shown = client.get(f"/invitations/{code}/")
    assert "You have declined this invitation" in words(shown)
    assert "You can still accept it until then." in words(shown)
    assert "/decline/" not in text(shown)
    assert f'action="/invitations/{code}/block/"' in text(shown)
    client.post(f"/invitations/{code}/accept/")
    assert legacy.members.filter(pk=stranger.pk).exists()


def test_whoever_keeps_it_is_told_so(visit, owner, member, legacy):
    code = actions.member_invite(principal_for_person(owner.pk), legacy.pk).code
    assert "You keep this legacy already" in words(visit(member).get(f"/invitations/{code}/"))


class TestWhoKeepsIt:
    def test_an_owner_gets_a_link_this_once(self, visit, owner, stranger, legacy):
        client, page = visit(owner), f"/legacies/{legacy.pk}/members/"
        shown = client.post(f"{page}invite/", {"name": "Stranger"})
        (link,) = re.findall(r"http://testserver/invitations/[0-9A-Z-]{23}/", text(shown))
        assert "If somebody here has the user name stranger, it waits" in words(shown)
        assert client.get(f"{page}invite/").url == page
        listed = words(client.get(page))
        assert "stranger Invited by you on" in listed
        assert visit(stranger).get(link.removeprefix("http://testserver")).status_code == 200
        assert link not in text(client.get(page))

    def test_the_page_tells_nobody_s_name_from_somebody_s(self, visit, owner, stranger, legacy):
        client, page = visit(owner), f"/legacies/{legacy.pk}/members/"
        shown = []
        for name in ("stranger", "nemo"):
            made = re.sub(r"[0-9A-Z]{5}(-[0-9A-Z]{5}){3}", "CODE", words(client.post(f"{page}invite/", {"name": name})))
            shown.append(made.replace(name, "NAME"))
        assert shown[0] == shown[1]

    def test_what_is_refused_is_told_beside_the_field(self, visit, owner, legacy, settings):
        page = f"/legacies/{legacy.pk}/members/invite/"
        assert "is not a user name" in words(visit(owner).post(page, {"name": "not a name"}))
        settings.INVITATIONS_PER_DAY = 0
        refused = visit(owner).post(page, {"name": "sam"})
        assert refused.status_code == 429
        assert "A person invites 0 people in a day at most." in words(refused)

    def test_members_see_who_keeps_it_and_leave(self, visit, member, legacy, code):
        client, page = visit(member), f"/legacies/{legacy.pk}/members/"
        shown = words(client.get(page))
        assert "Olga Owner" in shown
        assert "Invite somebody" not in shown
        assert "stranger" not in shown
        assert client.post(f"{page}invite/", {"name": "sam"}).status_code == 403
        fact = factories.LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
        left = client.post(f"{page}{legacy.memberships.get(user=member).pk}/leave/")
        assert left.url == "/"
        assert "You have left. What you had shared is private again." in words(client.get("/"))
        fact.refresh_from_db()
        assert fact.visibility == "private"
        assert client.get(page).status_code == 404

    def test_an_owner_revokes_hands_over_and_removes(self, visit, owner, member, legacy, code):
        client, page = visit(owner), f"/legacies/{legacy.pk}/members/"
        theirs, mine = (legacy.memberships.get(user=each).pk for each in (member, owner))
        assert client.post(f"/legacies/{legacy.pk}/invitations/{Invitation.objects.get().pk}/revoke/").url == page
        assert "Not accepted yet" not in words(client.get(page))
        shown = client.get(page)
        assert "To leave, make somebody else an owner first" in words(shown)
        assert f"{page}{mine}/" not in text(shown)
        client.post(f"{page}{mine}/leave/")
        assert "The last owner makes somebody else an owner first." in words(client.get(page))
        client.post(f"{page}{theirs}/role/", {"role": "owner"})
        assert legacy.memberships.get(pk=theirs).role == "owner"
        client.post(f"{page}{theirs}/leave/")
        assert "Removed. What they had shared is private again." in words(client.get(page))
        assert list(legacy.members.all()) == [owner]

    def test_a_stranger_finds_no_page(self, visit, stranger, legacy):
        page = f"/legacies/{legacy.pk}/members/"
        assert visit(stranger).get(page).status_code == 404
        assert visit(stranger).post(f"{page}invite/", {"name": "sam"}).status_code == 404

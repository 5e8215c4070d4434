"""Keeping a legacy together: seeing it as another member, ending it with a preview, bringing it back."""

import pytest
from playwright.sync_api import expect

from accounts.models import Legacy, Member
from accounts.queries import principal_for_person, principal_for_staff
from facts.actions import fact_add, fact_hide
from facts.models import LegacyFact
from tests.factories import LegacyFactFactory

from .conftest import DESKTOP, PHONE, text, words


@pytest.fixture
def said(owner, member, legacy):
    for person, content, visibility in (
        (owner, "Rosa kept bees.", "private"),
        (owner, "Rosa sang alto.", "shared"),
        (member, "Rosa smoked in secret.", "private"),
        (member, "Rosa was born in Viana.", "shared"),
    ):
        fact_add(principal_for_person(person.pk), legacy.pk, content, "other", visibility)


def sees(legacy, person):
    return f"/legacies/{legacy.pk}/members/{legacy.memberships.get(user=person).pk}/sees/"


def test_it_is_seen_as_another_member_without_what_is_private(visit, said, owner, member, legacy):
    page = words(visit(owner).get(sees(legacy, member)))
    assert "Rosa sang alto. shared by you" in page
    assert f"Rosa was born in Viana. shared by {member.get_full_name()}" in page
    assert "smoked" not in page  # Theirs alone.
    assert "bees" not in page  # Not seen by them.
    main = text(visit(owner).get(sees(legacy, member))).split("<main")[1].split("</main>")[0]
    assert "<form" not in main


def test_it_shows_what_their_agents_would_be_told_of_others(visit, said, owner, member, legacy):
    """All that a prompt for the member holds of the others' facts is on the page."""
    page = words(visit(owner).get(sees(legacy, member)))
    told = LegacyFact.objects.for_prompt(principal_for_person(member.pk), legacy.pk).exclude(user=member)
    assert told.exists()
    assert all(fact.content in page for fact in told)


def test_a_member_sees_as_an_owner_too_and_a_stranger_sees_nothing(visit, said, owner, member, stranger, legacy):
    page = words(visit(member).get(sees(legacy, owner)))
    assert "Rosa sang alto." in page
    assert "bees" not in page
    assert visit(stranger).get(sees(legacy, owner)).status_code == 404


def test_nobody_is_looked_through_who_is_no_member(visit, said, owner, legacy):
    gone = legacy.memberships.exclude(user=owner).get().pk
    Member.objects.filter(pk=gone).delete()
    assert visit(owner).get(f"/legacies/{legacy.pk}/members/{gone}/sees/").status_code == 404


def test_what_a_moderator_hides_is_seen_by_nobody_there(visit, staff, owner, member, legacy):
    LegacyFactFactory(legacy=legacy, user=member, content="Rosa was rude.", visibility="shared")
    assert "Rosa was rude." in words(visit(owner).get(sees(legacy, member)))
    fact_hide(principal_for_staff(staff), LegacyFact.objects.get(content="Rosa was rude.").pk, "rude")
    assert "Rosa was rude." not in words(visit(owner).get(sees(legacy, member)))


def test_ending_says_first_what_becomes_of_the_facts_of_each(visit, said, owner, member, legacy):
    page = words(visit(owner).get(f"/legacies/{legacy.pk}/end/"))
    assert "2 facts stay yours, 1 that you share is private again." in page
    assert "1 fact that they share is private again" in page
    assert Legacy.objects.visible_to(principal_for_person(owner.pk)).exists()


def test_who_is_no_owner_is_told_so(visit, member, stranger, legacy):
    answer = visit(member).post(f"/legacies/{legacy.pk}/end/", follow=True)
    assert "Only an owner of the legacy may do this." in words(answer)
    assert visit(stranger).post(f"/legacies/{legacy.pk}/end/").status_code == 404
    assert Member.objects.filter(legacy=legacy).count() == 2


def test_who_ended_it_brings_it_back_from_home(visit, said, owner, member, legacy):
    client = visit(owner)
    client.post(f"/legacies/{legacy.pk}/end/")
    assert "Ended legacies" in words(client.get("/"))
    assert "Ended legacies" not in words(visit(member).get("/"))
    assert visit(member).post(f"/legacies/{legacy.pk}/bring-back/").status_code == 404
    answer = client.post(f"/legacies/{legacy.pk}/bring-back/", follow=True)
    assert "is back, as it was when you ended it." in words(answer)
    assert "Ended legacies" not in words(client.get("/"))


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("viewport", [PHONE, DESKTOP], ids=["390", "1440"])
def test_in_a_browser_it_is_seen_as_another_ended_and_brought_back(browse, said, owner, member, legacy, viewport):
    page = browse(owner, viewport)
    page.goto(f"/legacies/{legacy.pk}/members/")
    page.get_by_role("link", name=f"See it as {member.get_full_name()}").click()
    expect(page.get_by_text("Rosa sang alto.")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="End this legacy …").click()
    expect(page.get_by_role("heading", name="What becomes of the facts of each")).to_be_visible()
    page.get_by_role("button", name="End this legacy").click()
    page.get_by_role("button", name="Bring back").click()
    expect(page.get_by_role("heading", level=1, name=legacy.name)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_legacys_page_leads_to_what_i_share_and_what_others_share(visit, said, owner, legacy):
    client, page = visit(owner), f"/legacies/{legacy.pk}/"
    shown = text(client.get(page))
    assert f'<a href="{page}?show=mine&amp;visibility=shared">What I share</a>' in shown
    assert f'<a href="{page}?show=shared">What others share with me</a>' in shown
    mine, theirs = words(client.get(f"{page}?show=mine&visibility=shared")), words(client.get(f"{page}?show=shared"))
    assert ("sang alto" in mine, "kept bees" in mine, "born in Viana" in mine) == (True, False, False)
    assert ("born in Viana" in theirs, "sang alto" in theirs) == (True, False)

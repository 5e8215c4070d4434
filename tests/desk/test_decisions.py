"""What the buttons of a fact do, by whom, and how each is taken back; without JavaScript and with htmx."""

import re
from itertools import product

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person, principal_for_staff
from facts import actions
from facts.models import FACT, LegacyFact
from statements.actions import statements_purge
from tests import factories
from tests.factories import LegacyFactFactory, PreferencesFactory, fact_waits, rev_of

from .conftest import decide, fact_list, now, opened, text

DECISIONS = ["approve", "share", "unshare", "edit", "reject", "dont_keep", "delete", "restore"]


@pytest.fixture
def waiting(owner, legacy, told):
    """A fact that was found in a talk of the owner and waits for review."""
    return told(owner, legacy, "Grandmother Rosa was a midwife.")[0]


def as_person(user):
    return principal_for_person(user.pk)


def standing(fact):
    fact = now(fact)
    return fact.state, fact.visibility, fact.reviewed_at is not None


def undo_address(page):
    """The address behind the one Undo button of a page."""
    (address,) = re.findall(r'<form method="post" action="(/undo/[^"]+)"', page)
    return address


# --- Each decision and its undo ---------------------------------------------------------------------------------


def before_each(fact, decision, owner):
    """Bring a waiting fact to where the decision makes sense."""
    if decision == "unshare":
        actions.fact_set_visibility(as_person(owner), fact.pk, "shared")
    if decision == "restore":
        actions.fact_reject(as_person(owner), fact.pk)


AFTER = {
    "approve": ("active", "private", True),
    "share": ("active", "shared", True),
    "unshare": ("active", "private", True),
    "edit": ("active", "private", True),
    "reject": ("rejected", "private", False),
    "dont_keep": ("rejected", "private", False),
    "delete": ("archived", "private", False),
    "restore": ("active", "private", True),
}


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_and_its_undo_without_javascript(visit, owner, waiting, decision):
    before_each(waiting, decision, owner)
    before, content = standing(waiting), now(waiting).content
    client, page = visit(owner), fact_list(waiting.legacy, "waiting", page=1)
    answer = decide(client, waiting, decision, page, content="Rosa delivered babies.", category="occupation")
    assert (answer.status_code, answer.url) == (302, f"{page}#fact-{waiting.pk}")
    assert standing(waiting) == AFTER[decision]
    shown = text(client.get(page))
    assert 'class="notice"' in shown
    assert 'class="notice"' not in text(client.get(page))
    answer = client.post(undo_address(shown), {"next": page})
    assert answer.url == f"{page}#fact-{waiting.pk}"
    assert now(waiting).content == content
    after = standing(waiting)
    assert after[:2] == before[:2]
    assert after[2] == before[2] or after[0] == "rejected"
    assert "Undone" in text(client.get(page))


@pytest.mark.parametrize("decision", DECISIONS)
def test_a_decision_and_its_undo_with_htmx(visit, owner, waiting, decision):
    before_each(waiting, decision, owner)
    before = standing(waiting)
    client = visit(owner, htmx=True)
    answer = decide(client, waiting, decision, content="Rosa delivered babies.", category="occupation")
    assert answer.status_code == 200
    assert standing(waiting) == AFTER[decision]
    part = text(answer)
    assert part.lstrip().startswith('<li class="fact line')
    assert '<details class="opens" open>' in part
    assert "<html" not in part
    assert 'id="tabs" aria-label="Which facts" hx-swap-oob="true"' in part
    assert 'id="rail" aria-label="Categories" hx-swap-oob="true"' in part
    assert '<div id="said" hx-swap-oob="innerHTML">' in part
    part = text(client.post(undo_address(part), {"next": fact_list(waiting.legacy)}))
    assert "Undone" in part
    assert standing(waiting)[:2] == before[:2]
    # The message belongs to the swapped fact; none is left over for the next page.
    assert 'class="notice"' not in text(client.get(fact_list(waiting.legacy)))


@pytest.mark.parametrize("decision", ["approve", "edit", "reject", "delete"])
def test_what_was_proposed_is_proposed_again(visit, owner, legacy, told, decision):
    PreferencesFactory(user=owner, review="before")
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    client = visit(owner, htmx=True)
    part = text(decide(client, fact, decision, content="Rosa delivered babies."))
    client.post(undo_address(part))
    assert standing(fact) == ("proposed", "private", False)
    assert now(fact).content == fact.content


def test_what_was_shared_is_shared_again(visit, owner, member, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner, visibility="shared")
    client = visit(owner, htmx=True)
    for decision in ("delete", "reject", "unshare"):
        part = text(decide(client, fact, decision))
        assert not LegacyFact.objects.visible_to(as_person(member)).exists()
        client.post(undo_address(part))
        assert LegacyFact.objects.visible_to(as_person(member)).get() == fact


def test_what_staff_have_hidden_stays_hidden(visit, owner, staff, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner, visibility="shared")
    actions.fact_hide(principal_for_staff(staff), fact.pk, "Too private")
    client = visit(owner, htmx=True)
    part = text(decide(client, fact, "delete"))
    assert standing(fact)[0] == "archived"
    client.post(undo_address(part))
    assert standing(fact)[0] == "hidden"


def test_an_undo_that_goes_half_way_changes_nothing(visit, owner, member, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
    client = visit(member)
    decide(client, fact, "delete")
    address = undo_address(text(client.get("/facts/?show=gone")))
    legacy.memberships.filter(user=member).delete()
    answer = client.post(address, {"next": "/facts/?show=gone"})
    assert answer.status_code == 409
    assert "about a legacy that you have left" in text(answer)
    assert standing(fact) == ("archived", "private", True)


def test_a_reason_is_kept_and_shown(visit, owner, waiting):
    client = visit(owner)
    decide(client, waiting, "dont_keep")
    assert now(waiting).state_reason == "Not to be kept"
    assert "Reason: Not to be kept." in text(opened(client, waiting, fact_list(waiting.legacy, "gone")))


def test_saving_the_same_words_is_told_and_needs_no_undo(visit, owner, waiting):
    client = visit(owner)
    decide(client, waiting, "edit", content=waiting.content, category=waiting.category)
    page = text(client.get(fact_list(waiting.legacy)))
    assert "Nothing was different" in page
    assert "Undo" not in page
    assert now(waiting).version == 1


def test_another_category_alone_is_an_edit(visit, owner, waiting):
    client = visit(owner, htmx=True)
    part = text(decide(client, waiting, "edit", content=waiting.content, category="milestone"))
    assert now(waiting).category == "milestone"
    client.post(undo_address(part))
    assert (now(waiting).category, now(waiting).version) == ("occupation", 3)


# --- Refusals ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("htmx", [False, True])
def test_what_was_typed_stays_when_it_is_refused(visit, owner, waiting, htmx):
    answer = decide(visit(owner, htmx=htmx), waiting, "edit", content="No", category="habit")
    assert answer.status_code == 422
    page = text(answer)
    assert 'class="refusal" role="alert"' in page
    assert re.search(r"<details open>\s*<summary[^>]*>Edit</summary>", page)
    assert ">No</textarea>" in page
    assert '<option value="habit" selected>' in page
    assert now(waiting).content == waiting.content
    assert ("<html" in page) != htmx


def test_a_decision_about_another_wording_is_refused(visit, owner, waiting):
    actions.fact_edit(as_person(owner), waiting.pk, content="Rosa delivered babies.")
    for decision in ("approve", "share", "unshare", "reject", "delete", "edit"):
        answer = decide(visit(owner), waiting, decision, content="Rosa was tall.", version="1")
        assert answer.status_code == 409
        assert "This fact was changed meanwhile." in text(answer)
        assert "Rosa delivered babies." in text(answer)
    assert standing(waiting) == ("active", "private", True)


def test_a_version_that_is_none_is_as_good_as_no_version(visit, owner, waiting):
    assert decide(visit(owner), waiting, "approve", version="latest").status_code == 302


def test_a_refusal_about_a_fact_on_another_shelf_is_shown_above(visit, owner, waiting):
    actions.fact_delete(as_person(owner), waiting.pk)
    answer = decide(visit(owner), waiting, "share", fact_list(waiting.legacy, "mine"))
    assert answer.status_code == 409
    page = text(answer)
    assert '<div class="notice refused">' in page
    assert "This fact is archived." in page


def test_a_refusal_stays_on_the_search_it_came_from(visit, owner, legacy):
    for number in range(3):
        LegacyFactFactory(legacy=legacy, user=owner, content=f"She kept {number} bees.")
    fact = LegacyFactFactory(legacy=legacy, user=owner, content="She was kind.")
    page = text(decide(visit(owner), fact, "edit", fact_list(legacy, search="kind"), content="x"))
    assert page.count('class="fact line') == 1
    assert 'value="kind"' in page
    assert f'name="next" value="{fact_list(legacy)}&amp;search=kind&amp;page=1"' in page


# --- Who may ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("visibility", ["private", "shared"])
def test_facts_of_others_are_not_there(visit, owner, legacy, member, stranger, staff, decision, visibility):
    fact = LegacyFactFactory(legacy=legacy, user=owner, visibility=visibility)
    before = (vars_of(now(fact)), rev_of(owner), rev_of(legacy))
    for person, htmx in product((member, stranger, staff), (False, True)):
        answer = decide(visit(person, htmx=htmx), fact, decision, content="She was somebody else.")
        assert answer.status_code == 404, person
        assert "not there any more" in text(answer) or "Not found" in text(answer), person
    assert (vars_of(now(fact)), rev_of(owner), rev_of(legacy)) == before


def vars_of(fact):
    return {name: value for name, value in vars(fact).items() if not name.startswith("_")}


def test_nobody_decides_and_comes_back_to_the_list_after_signing_in(visit, owner, legacy):
    fact = LegacyFactFactory(legacy=legacy, user=owner)
    page = fact_list(legacy, "waiting")
    answer = decide(visit(), fact, "delete", page)
    assert answer.url == f"/sign-in/?next=/legacies/{legacy.pk}/%3Fshow%3Dwaiting"
    answer = decide(visit(htmx=True), fact, "delete", page)
    assert answer.status_code == 200
    assert answer["HX-Redirect"] == f"/sign-in/?next=/legacies/{legacy.pk}/%3Fshow%3Dwaiting"
    assert visit().post(f"/facts/{fact.pk}/delete/").url == "/sign-in/?next=/"
    assert standing(fact)[0] == "active"


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://elsewhere.example/",
        "//elsewhere.example/",
        "/\\elsewhere.example/",
        "",
        "javascript:alert(1)",
        "elsewhere",
    ],
)
def test_the_way_back_stays_in_the_house(visit, owner, waiting, elsewhere):
    answer = visit(owner).post(f"/facts/{waiting.pk}/approve/", {"next": elsewhere})
    assert answer.url == f"/facts/#fact-{waiting.pk}"


@pytest.mark.parametrize("path", ["applaud/", "undo/1/1/", "approve/twice/"])
def test_decisions_that_are_none_are_not_found(visit, owner, waiting, path):
    assert visit(owner).post(f"/facts/{waiting.pk}/{path}").status_code == 404
    assert standing(waiting) == ("active", "private", False)


def test_a_fact_that_went_meanwhile_is_told(visit, owner, waiting, monkeypatch):
    def purged_first(principal, fact_id, **kwargs):
        factories.erase(LegacyFact.objects.filter(pk=fact_id))
        return real(principal, fact_id, **kwargs)

    real = actions.fact_approve
    monkeypatch.setattr(actions, "fact_approve", purged_first)
    answer = decide(visit(owner, htmx=True), waiting, "approve")
    assert answer.status_code == 404
    assert "not there any more" in text(answer)


@pytest.mark.parametrize("state", ["archived", "rejected"])
def test_a_purged_fact_is_not_restored(visit, owner, waiting, state):
    decide(visit(owner), waiting, "delete" if state == "archived" else "reject")
    LegacyFact.objects.filter(pk=waiting.pk).update(purge_at=timezone.now())
    assert statements_purge(FACT) == 1
    assert decide(visit(owner), waiting, "restore").status_code == 404


# --- What is offered --------------------------------------------------------------------------------------------


def offered(client, fact, tab="mine"):
    """The decisions that the opened row of a fact offers."""
    part = text(opened(client, fact, fact_list(fact.legacy, tab)))
    return re.findall(rf'action="/facts/{fact.pk}/(\w+)/" hx-post', part)


def test_only_what_can_be_done_is_offered(visit, owner, staff, legacy, waiting):
    client = visit(owner)
    assert offered(client, waiting) == ["approve", "share", "edit", "reject", "dont_keep"]
    actions.fact_set_visibility(as_person(owner), waiting.pk, "shared")
    assert offered(client, waiting) == ["unshare", "edit", "reject", "dont_keep"]
    actions.fact_hide(principal_for_staff(staff), waiting.pk, "Too private")
    assert offered(client, waiting) == ["delete"]
    actions.fact_delete(as_person(owner), waiting.pk)
    assert offered(client, waiting, "gone") == ["restore"]
    actions.fact_restore(as_person(owner), waiting.pk)
    actions.fact_unhide(principal_for_staff(staff), waiting.pk, "looked again")
    fact_waits(as_person(owner), waiting.pk, proposed=True)
    assert offered(client, waiting) == ["approve", "share", "edit", "reject", "dont_keep"]
    LegacyFact.objects.filter(pk=waiting.pk).update(state="quarantined", quarantined_at=timezone.now())
    assert offered(client, waiting) == ["edit", "reject", "dont_keep"]


@pytest.mark.parametrize("state", ["active", "proposed", "hidden", "archived", "rejected", "quarantined"])
def test_everything_offered_can_be_done(visit, owner, legacy, state):
    gone, active = state in {"archived", "rejected"}, state == "active"

    def fresh():
        fact = LegacyFactFactory(legacy=legacy, user=owner)
        LegacyFact.objects.filter(pk=fact.pk).update(
            state=state,
            reviewed_at=None,
            active_since=fact.active_since if active else None,
            hidden_at=timezone.now() if state == "hidden" else None,
            quarantined_at=timezone.now() if state == "quarantined" else None,
            deleted_at=timezone.now() if gone else None,
            purge_at=timezone.now() if gone else None,
        )
        return fact

    client = visit(owner)
    first = fresh()
    offers = offered(client, first, "gone" if gone else "mine")
    assert offers
    for decision in offers:
        fact = fresh()
        answer = decide(client, fact, decision, content=f"{decision.capitalize()}: Rosa delivered babies.")
        assert answer.status_code == 302, decision

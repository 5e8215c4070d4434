"""Deciding about many facts on a page: choose, confirm, carry out, take back."""

import re

import pytest

from accounts.queries import principal_for_person
from facts import actions
from facts.models import LegacyFact
from tests.factories import LegacyFactFactory, rev_of

from .conftest import now, text, words

LIST = "/facts/?show=mine"


@pytest.fixture
def facts(owner, legacy):
    return [LegacyFactFactory(legacy=legacy, user=owner) for _ in range(4)]


def chosen(facts):
    return [f"{fact.pk}:{now(fact).version}" for fact in facts]


def ask(client, decision, back=LIST, **fields):
    return client.post("/facts/bulk/", {"decision": decision, "next": back, **fields})


def confirm(client, page, **fields):
    """Press the button of the confirmation page."""
    hidden = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', text(page)))
    hidden.pop("csrfmiddlewaretoken")
    assert 'action="/facts/bulk/carry-out/"' in text(page)
    return client.post("/facts/bulk/carry-out/", {**hidden, "next": hidden["next"].replace("&amp;", "&"), **fields})


@pytest.mark.parametrize(
    ("decision", "asked", "done"),
    [("reject", "Reject", "Rejected"), ("share", "Share", "Shared"), ("delete", "Put away", "Put away")],
)
def test_those_ticked_are_decided_about_after_asking(visit, owner, member, facts, decision, asked, done):
    client, before = visit(owner), rev_of(owner)
    page = ask(client, decision, fact=chosen(facts[:2]))
    assert f"{asked} 2 facts?" in words(page)
    assert ("Put away, it is in no prompt, and can be restored" in words(page)) == (decision == "delete")
    assert ("They will be seen by Mira Member too." in words(page)) == (decision == "share")
    assert facts[0].content in words(page)
    assert rev_of(owner) == before
    answer = confirm(client, page)
    assert answer.url == LIST
    assert rev_of(owner) == before + 2
    states = {"reject": ("rejected", "private"), "share": ("active", "shared"), "delete": ("archived", "private")}
    assert {(now(fact).state, now(fact).visibility) for fact in facts[:2]} == {states[decision]}
    assert now(facts[0]).state_reason == ("Not true" if decision == "reject" else "")
    assert now(facts[2]).state == "active"
    shown = client.get(LIST)
    assert f"{done} 2 facts." in words(shown)
    (undo,) = re.findall(r'action="(/undo/\d+/\d+/)"', text(shown))
    assert undo in text(client.get("/review/"))
    assert client.post(undo, {"next": LIST}).url == LIST
    assert {(now(fact).state, now(fact).visibility) for fact in facts} == {("active", "private")}
    assert "Undone for 2 facts." in words(client.get(LIST))
    assert undo not in text(client.get("/review/"))


def test_everything_that_matches_means_all_pages_and_nothing_else(visit, owner, legacy, facts):
    for number in range(25):
        LegacyFactFactory(legacy=legacy, user=owner, content=f"Bees, {number} of them.")
    client = visit(owner)
    page = ask(client, "share", f"/legacies/{legacy.pk}/?show=mine&search=bees", all="yes")
    assert "Share 25 facts?" in words(page)
    assert words(page).count("of them") == 5
    confirm(client, page)
    assert LegacyFact.objects.filter(visibility="shared").count() == 25
    assert not any(now(fact).visibility == "shared" for fact in facts)


def test_more_than_go_at_once_are_said_to_be_left_over(visit, owner, facts, monkeypatch):
    monkeypatch.setattr("desk.bulk.MOST_AT_ONCE", 3)
    page = ask(visit(owner), "share", all="yes")
    assert "Share 3 facts?" in words(page)
    assert "1 more match; they can follow after these." in words(page)


def test_what_is_skipped_is_counted_with_its_reason(visit, owner, member, legacy, facts):
    principal, client = principal_for_person(owner.pk), visit(owner)
    theirs = LegacyFactFactory(legacy=legacy, user=member, visibility="shared")
    actions.fact_set_visibility(principal, facts[0].pk, "shared")
    wanted = chosen([*facts, theirs])
    actions.fact_edit(principal, facts[1].pk, content="She never kept bees.")
    page = ask(client, "share", fact=wanted)
    assert "Share 2 facts?" in words(page)
    for reason in ("1 already so", "1 changed since you saw them", "1 not there any more, or not yours to decide"):
        assert reason in words(page)
    # What happens between asking and confirming is skipped too, and told.
    actions.fact_delete(principal, facts[2].pk)
    confirm(client, page)
    told = words(client.get(LIST))
    assert "Shared 1 fact. Left as they were: 1 in a state that does not allow it." in told
    assert now(facts[1]).content == "She never kept bees."


def test_nothing_that_can_be_done_offers_no_button(visit, owner, facts):
    page = ask(visit(owner), "unshare", fact=chosen(facts))
    assert "Nothing to unshare" in words(page)
    assert "Unshare 0" not in words(page)
    assert 'class="primary"' not in text(page)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"decision": "approve"}, "Nothing was selected."),
        ({"decision": "approve", "fact": ["7", "x:1", "7:x"]}, "Nothing was selected."),
        ({"decision": "applaud", "all": "yes"}, "A decision about many facts is one of"),
        ({"all": "yes", "next": "https://elsewhere.example/"}, "A decision about many facts is one of"),
    ],
)
def test_what_means_nothing_is_told(visit, owner, facts, fields, told):
    client = visit(owner)
    answer = client.post("/facts/bulk/", fields)
    assert answer.url == "/facts/"
    assert told in words(client.get("/facts/"))


def test_carrying_out_what_is_no_decision_is_told(visit, owner, facts):
    client = visit(owner)
    answer = client.post(
        "/facts/bulk/carry-out/", {"decision": "applaud", "chosen": chosen(facts)[0], "next": "/nowhere/"}
    )
    assert answer.url == "/nowhere/"
    assert "A decision about many facts is one of" in words(client.get(LIST))
    client.post("/facts/bulk/carry-out/", {"decision": "delete", "chosen": "", "next": LIST})
    assert "Put away 0 facts." in words(client.get(LIST))


def test_an_address_that_is_no_list_means_all(visit, owner, facts):
    assert "Put away 4 facts?" in words(ask(visit(owner), "delete", "/nowhere/", all="yes"))


@pytest.mark.parametrize("who", ["member", "stranger", "staff"])
def test_facts_of_others_are_left_alone(request, visit, owner, legacy, facts, who):
    actions.facts_decide(principal_for_person(owner.pk), {fact.pk: None for fact in facts}, "share")
    last, client = rev_of(owner), visit(request.getfixturevalue(who))
    page = ask(client, "delete", fact=chosen(facts))
    assert "Nothing to put away" in words(page)
    client.post("/facts/bulk/carry-out/", {"decision": "delete", "chosen": " ".join(chosen(facts)), "next": LIST})
    assert client.post(f"/undo/{last + 1}/{last + 9}/").status_code == 404
    assert rev_of(owner) == last
    assert {now(fact).visibility for fact in facts} == {"shared"}


def test_nobody_is_sent_to_sign_in(visit, facts):
    for path in ("/facts/bulk/", "/facts/bulk/carry-out/", "/undo/1/2/"):
        assert visit().post(path).url.startswith("/sign-in/")
        assert visit().get(path).status_code == 405


def test_the_list_of_all_legacies_is_filtered_and_its_facts_decided_about(visit, owner, member, legacy, facts):
    client = visit(owner)
    page = client.get(f"{LIST}&legacy={legacy.pk}&per_page=50&sort=wording&written_by=me")
    assert "4 found here." in words(page)
    assert '<option value="wording" selected>' in text(page)
    assert f'name="fact" value="{facts[0].pk}:1"' in text(page)
    part = visit(owner, htmx=True).post(f"/facts/{facts[0].pk}/share/", {"next": LIST})
    assert 'href="/facts/?show=waiting"' in text(part)
    assert "Grandmother Rosa" in words(part)
    assert "Bees" not in words(client.get("/facts/?category=gossip&page=soon&per_page=9&show=waiting"))


ASK_QUERIES = 6


@pytest.mark.parametrize("much", [2, 40])
def test_asking_costs_the_same_however_many_are_chosen(visit, owner, legacy, django_assert_num_queries, much):
    many = [LegacyFactFactory(legacy=legacy, user=owner) for _ in range(much)]
    client, wanted = visit(owner), chosen(many)
    with django_assert_num_queries(ASK_QUERIES):
        ask(client, "delete", fact=wanted)

"""Facts and tombstones for staff."""

import pytest

from accounts.queries import principal_for_person
from facts import actions
from facts.models import FactLink
from tests.factories import UserFactory

from .conftest import now

FACTS = "/admin/facts/legacyfact/"


@pytest.fixture
def desk(db, client):
    """A moderator who is no superuser, signed in."""
    client.force_login(UserFactory(username="moderator", is_staff=True))
    return client


def press(desk, what, *facts, **data):
    answer = desk.post(
        FACTS, {"action": what, "_selected_action": [str(fact.pk) for fact in facts], **data}, follow=True
    )
    return [str(message) for message in answer.context["messages"]]


@pytest.mark.parametrize("search", ["", "owner", "{fact}", "{legacy}"])
def test_the_list_shows_where_facts_stand_and_no_text(desk, add, owner, legacy, search):
    fact = add(owner, legacy)
    page = desk.get(FACTS, {"q": search.format(fact=fact.pk, legacy=legacy.pk)}).content.decode()
    assert str(fact.pk) in page
    assert "baked" not in page


def test_only_a_shared_text_is_read(desk, add, shared, owner, legacy):
    private, public = add(owner, legacy, "Rosa smoked in secret."), shared(owner, legacy)
    page = desk.get(f"{FACTS}{private.pk}/change/").content.decode()
    assert "(private)" in page
    assert "smoked" not in page
    assert "baked" in desk.get(f"{FACTS}{public.pk}/change/").content.decode()


def test_nothing_is_edited(desk, add, owner, legacy):
    fact = add(owner, legacy)
    assert desk.post(f"{FACTS}{fact.pk}/change/", {"content": "x"}).status_code == 403
    assert desk.get(f"{FACTS}add/").status_code == 403
    assert desk.post(f"{FACTS}{fact.pk}/delete/").status_code == 403


def test_hiding_takes_a_reason_and_tells_the_author(desk, shared, owner, legacy):
    fact = shared(owner, legacy)
    assert press(desk, "hide", fact, reason=" ") == ["Give the reason: the author is told."]
    assert now(fact).state == "active"
    assert press(desk, "hide", fact, reason="Names a living person.") == ["1 of 1 hidden."]
    assert (now(fact).state, now(fact).state_reason) == ("hidden", "Names a living person.")
    assert press(desk, "unhide", fact, reason="Looked again.") == ["1 of 1 given back."]
    assert now(fact).state == "active"


def test_what_can_t_be_hidden_is_told(desk, add, shared, owner, legacy):
    gone, fact = add(owner, legacy, "Rosa kept bees."), shared(owner, legacy)
    actions.fact_delete(principal_for_person(owner.pk), gone.pk)
    told = press(desk, "hide", gone, fact, reason="rude")
    assert f"fact {gone.pk}: This fact is archived." in told
    assert "1 of 2 hidden." in told
    assert not any("bees" in each for each in told)


def test_links_and_tombstones_are_listed_without_text(desk, add, model, owner, legacy):
    add(owner, legacy)
    fact = add(owner, legacy, "Every Sunday Rosa baked bread.")
    actions.facts_index()
    link = FactLink.objects.get()
    for path in ("/admin/facts/factlink/", f"/admin/facts/factlink/{link.pk}/change/"):
        page = desk.get(path).content.decode()
        assert str(fact.pk) in page
        assert "baked" not in page
    actions.fact_reject(principal_for_person(owner.pk), fact.pk)
    page = desk.get("/admin/memories/tombstone/", {"q": str(fact.pk)}).content.decode()
    assert str(fact.pk) in page
    assert "baked" not in page


@pytest.mark.parametrize("path", [FACTS, "/admin/facts/factlink/", "/admin/memories/tombstone/"])
def test_others_stay_out(client, owner, path):
    client.force_login(owner)
    assert client.get(path).status_code == 302


def test_the_list_takes_the_same_queries_however_long(desk, add, owner, legacy, django_assert_num_queries):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    add(owner, legacy)
    desk.get(FACTS)
    with CaptureQueriesContext(connection) as first:
        desk.get(FACTS)
    for number in range(5):
        add(owner, legacy, f"Rosa owned {number} spoons.")
    with django_assert_num_queries(len(first)):
        desk.get(FACTS)

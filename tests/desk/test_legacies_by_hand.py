"""What a person writes down about a legacy by hand, and what they call it."""

import pytest

from accounts.models import Legacy
from facts.models import LegacyFact

from .conftest import fact_list, text, words


def add(client, legacy, content="Rosa was born in Braga.", **more):
    return client.post(
        f"/legacies/{legacy.pk}/add/", {"content": content, "category": "milestone", **more}, follow=True
    )


def test_a_fact_is_written_down_as_one_s_own_word_and_undone(visit, owner, legacy):
    client = visit(owner)
    page = add(client, legacy)
    fact = LegacyFact.objects.get()
    assert (fact.user, fact.state, fact.visibility, fact.written_by) == (owner, "active", "private", "")
    assert fact.reviewed_at is not None
    assert "Written down." in words(page)
    assert "In your own words" in words(page)
    undo = text(page).split('action="/undo/')[1].split('"')[0]
    client.post(f"/undo/{undo}")
    assert not LegacyFact.objects.filter(state="active").exists()


def test_it_can_be_shared_at_once(visit, owner, member, legacy):
    add(visit(owner), legacy, shared="yes")
    assert "Rosa was born in Braga." in words(visit(member).get(fact_list(legacy, "shared")))
    mine = visit(owner).get(f"/legacies/{legacy.pk}/?show=mine&visibility=shared")
    assert "Rosa was born in Braga." in words(mine)


@pytest.mark.parametrize(
    ("content", "category", "status"),
    [
        ("", "milestone", 422),
        ("Rosa was born in Braga.", "nonsense", 400),
        ("Her password: hunter2horse", "other", 422),
    ],
)
def test_what_is_refused_stays_typed(visit, owner, legacy, content, category, status):
    page = add(visit(owner), legacy, content, category=category)
    assert page.status_code == status
    assert 'class="refusal"' in text(page)
    assert f">{content}</textarea>" in text(page)
    assert not LegacyFact.objects.exists()


def test_the_same_fact_is_not_written_down_twice(visit, owner, legacy):
    add(visit(owner), legacy)
    assert add(visit(owner), legacy).status_code == 409
    assert LegacyFact.objects.count() == 1


def test_others_write_nothing_down_and_name_nothing(visit, owner, member, stranger, legacy):
    assert add(visit(stranger), legacy).status_code == 404
    assert visit(stranger).post(f"/legacies/{legacy.pk}/name/", {"name": "Mine"}).status_code == 404
    visit(member).post(f"/legacies/{legacy.pk}/name/", {"name": "Mine"})
    assert Legacy.objects.get(pk=legacy.pk).name == "Grandmother Rosa"
    assert not LegacyFact.objects.exists()


def test_an_owner_names_it_anew(visit, owner, legacy):
    client = visit(owner)
    page = client.post(f"/legacies/{legacy.pk}/name/", {"name": "Rosa Almeida"}, follow=True)
    assert "It is named Rosa Almeida now." in words(page)
    client.post(f"/legacies/{legacy.pk}/name/", {"name": " "})
    assert Legacy.objects.get(pk=legacy.pk).name == "Rosa Almeida"

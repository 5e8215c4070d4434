"""What a person decides, below their message, about the fact that was found in it."""

import re
from datetime import timedelta

import pytest

from statements.models import RejectionReason
from tests.factories import PreferencesFactory

from .conftest import now, text, words

pytestmark = pytest.mark.django_db


@pytest.fixture
def fact(told, owner, legacy):
    (fact,) = told(owner, legacy, "Grandmother Rosa was a midwife.")
    return fact


def page(fact):
    return f"/conversations/{fact.source_conversation_id}/"


def press(client, fact, label, **typed):
    """Send the form below the message that has this button, as it stands there."""
    forms = re.findall(r"<form[^>]*>.*?</form>", text(client.get(page(fact))), re.DOTALL)
    (form,) = [each for each in forms if f">{label}</button>" in each]
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form))
    (address,) = re.findall(r'action="([^"]*)"', form)
    return client.post(address, {**fields, **typed}, follow=True)


def test_one_press_undoes_it(visit, owner, fact):
    answer = press(visit(owner), fact, "Undo")
    assert now(fact).state == "archived"
    assert "Fact:" not in words(answer)


def test_it_is_reworded_there_and_the_rewording_is_undone(visit, owner, fact):
    client = visit(owner)
    answer = press(client, fact, "Save", content="Rosa was a midwife for forty years.")
    assert "Fact: Rosa was a midwife for forty years." in words(answer)
    press(client, fact, "Undo")
    assert (now(fact).state, now(fact).content) == ("active", fact.content)


def test_it_is_not_kept(visit, owner, fact):
    answer = press(visit(owner), fact, "Don’t keep")
    assert (now(fact).state, now(fact).state_reason) == ("rejected", RejectionReason.DONT_KEEP.label)
    assert f"/facts/{fact.pk}/" not in text(answer)


def test_it_is_approved_there_if_the_person_reviews_before_use(visit, owner, fact):
    PreferencesFactory(user=owner, review="before")
    client = visit(owner)
    assert f'To approve: <a href="/facts/{fact.pk}/">' in text(client.get(page(fact)))
    press(client, fact, "Remember")
    assert now(fact).reviewed_at is not None
    assert "To approve" not in words(client.get(page(fact)))


def test_after_a_day_its_own_page_decides(visit, owner, fact, monkeypatch):
    monkeypatch.setattr("desk.conversations.reader.FRESH", timedelta(0))
    shown = text(visit(owner).get(page(fact)))
    assert f'Fact: <a href="/facts/{fact.pk}/">' in shown
    assert "said-decisions" not in shown

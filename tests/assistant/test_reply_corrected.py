"""Answers that put right what the assistant asked about: what is right is kept, and what was wrong never comes back."""

import pytest
from django.utils import timezone

from assistant.learn import actions as learning
from conversations.models import Message
from tests import factories

from .replying import remembered

pytestmark = pytest.mark.django_db(transaction=True)
FOOTBALL, DENTIST = "The user's son Max plays football on Wednesdays.", "The user's sister Ana is a dentist."


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"


def let_a_day_pass(conversation):
    now = timezone.now()
    Message.objects.filter(held_until__gt=now).update(held_until=now, reading_due=now)
    learning.extract_messages(conversation.pk)


@pytest.mark.parametrize(
    ("said", "answer", "right"),
    [
        ("My son Max plays football on Tuesdays.", "no, on Wednesdays", FOOTBALL),
        ("My son Max plays football on Tuesdays.", "Yes, but it's Wednesdays.", FOOTBALL),
        ("My sister Ana is a vet.", "Yes, but she's a dentist.", DENTIST),
        ("My sister Ana is a vet.", "That's not quite right. She's a dentist.", DENTIST),
        ("My sister Ana lives in Porto.", "No wait, in Faro.", "The user's sister Ana lives in Faro."),
        ("I usually get up at 5.", "Sure. Make it 5:30.", "The user usually gets up at 5:30."),
        ("I got married in 2012.", "That's not quite right. It was 2013.", "The user got married in 2013."),
    ],
)
def test_what_is_right_is_kept_at_once_and_the_wrong_one_is_not_kept_later(tell, conversation, said, answer, right):
    """Reproduction: the vet was remembered a day later, beside the dentist."""
    assert "Shall I remember" in tell(said)
    assert tell(answer).startswith("I will remember that ")
    assert remembered() == [right]
    let_a_day_pass(conversation)
    assert remembered() == [right]


def test_a_yes_after_it_brings_nothing_back(tell):
    tell("I got married in 2012.")
    tell("That's not quite right. It was 2013.")
    assert "2012" not in tell("yes")
    assert remembered() == ["The user got married in 2013."]


def test_a_yes_with_something_beside_it_is_a_yes(tell):
    tell("My sister Ana lives in Porto.")
    assert tell("Yes, but she travels a lot.").startswith("I will remember that your sister Ana lives in Porto")


@pytest.mark.parametrize(
    ("known", "said", "right"),
    [
        ("My favourite colour is green.", "it's actually blue", "The user's favourite colour is blue."),
        ("I'm allergic to cats.", "I was mistaken, it's dogs", "The user is allergic to dogs."),
        (
            "I'm moving to Bruges in May.",
            "Actually it's not Bruges, it's Ostend",
            "The user is moving to Ostend in May.",
        ),
        ("I'm moving to Bruges in May.", "It isn't Bruges, it is Ostend.", "The user is moving to Ostend in May."),
        ("I got married in 2012, in Rome.", "hmm no, it was 2011", "The user got married in 2011, in Rome."),
    ],
)
def test_so_does_a_correction_right_after_the_yes(tell, known, said, right):
    tell(known)
    tell("yes")
    assert tell(said).startswith("Updated: ")
    assert remembered() == [right]


def test_an_answer_to_another_question_corrects_nothing(tell, owner):
    for year in (2018, 2019):
        factories.MemoryFactory(user=owner, content=f"The user moved into the house in {year}.")
    tell("My son Max plays football on Tuesdays.")
    assert "?" in tell("When did I move into the house?")
    assert "I will remember" not in tell("no, on Wednesdays")

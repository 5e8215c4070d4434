"""What a person typed over what they were told in the second person, as it is stored."""

import pytest

from language.second_person import second_person
from language.third_person import stored_as, third_person


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("You prefer green tea.", "The user prefers green tea."),
        ("Your dog is called Rufus.", "The user's dog is called Rufus."),
        ("Alec is your boss.", "Alec is the user's boss."),
        ("You are a nurse and have two sons.", "The user is a nurse and has two sons."),
        ("You have a dog, are a vet and don't travel.", "The user has a dog, is a vet and doesn't travel."),
        ("You're a vet.", "The user is a vet."),
        ("You can't swim.", "The user can't swim."),
        ("You moved to Lisbon in 2019.", "The user moved to Lisbon in 2019."),
        ("You no longer smoke.", "The user no longer smokes."),
        ("You aren't a morning person.", "The user isn't a morning person."),
        ("You live in Porto. Your cat is old.", "The user lives in Porto. The user's cat is old."),
        ("Every Thursday you play chess.", "Every Thursday the user plays chess."),
        ("Your sister visits you every Sunday.", "The user's sister visits the user every Sunday."),
        (
            "You like cats and dogs, and so does your sister.",
            "The user likes cats and dogs, and so does the user's sister.",
        ),
        ("You  study\n law.", "The user studies law."),
    ],
)
def test_it_is_stored_in_the_third_person_and_told_as_it_was_typed(typed, stored):
    assert third_person(typed) == stored
    assert second_person(stored).split() == typed.replace("You're", "You are").split()


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("You aren't sure whether they like you.", "I am not sure whether they like me."),
        ("The green cup is yours.", "The green cup is mine."),
    ],
)
def test_where_the_third_person_is_not_sure_it_is_stored_in_the_first(typed, stored):
    assert third_person(typed) == stored


def test_what_calls_nobody_you_is_stored_as_it_was_typed():
    assert third_person("I prefer tea.") == "I prefer tea."
    assert third_person("Ich mag Tee.") == "Ich mag Tee."


def test_only_what_was_told_otherwise_than_it_is_stored_is_put_back():
    assert stored_as("You prefer tea.", "The user prefers tea.", "You prefer tea.") == "The user prefers tea."
    assert stored_as("You settle for tea.", "The user prefers tea.", "You prefer tea.") == "The user settles for tea."
    assert stored_as("Answer as you like.", "Answer in English.", "Answer in English.") == "Answer as you like."

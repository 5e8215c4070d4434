"""What a person says once a state of theirs is over, in words that the memory of it does not have."""

import pytest

from language.reading.outdated import all_outdated

STATES = (
    "The user is single.",
    "The user is vegetarian.",
    "The user lives alone.",
    "The user is 41 years old.",
    "The user works night shifts.",
    "The user is engaged to Lou.",
    "The user smokes.",
    "The user has no pets.",
    "The user's wife is called Petra.",
    "The user's daughter Mia is nine.",
    "Otto is 6 years old.",
    "The user works as a gardener.",
    "The user is looking for a small flat in Hull.",
)


@pytest.mark.parametrize(
    ("said", "old", "new"),
    [
        ("I met a girl, sorry: I have a girlfriend now!", "is single", "The user is no longer single."),
        ("Guess what, we got engaged on Sunday.", "is single", "The user is no longer single."),
        ("I eat fish again.", "vegetarian", "The user is no longer vegetarian."),
        ("Ola moved in with me on Friday.", "alone", "The user no longer lives alone."),
        ("I turned 42 on Monday.", "41", "The user is 42 years old."),
        ("They put me on days.", "night", "The user no longer works night shifts."),
        ("We got married in the town hall!", "engaged", "The user is no longer engaged to Lou."),
        ("We got a puppy.", "no pets", "The user has pets."),
        ("I gave up cigarettes.", "smokes", "The user no longer smokes."),
        ("Mia turned ten today.", "Mia", "The user's daughter Mia is ten."),
        ("My daughter is 10 now!", "Mia", "The user's daughter Mia is 10."),
        ("Otto's just turned seven.", "Otto", "Otto is seven years old."),
        ("I lost my job.", "gardener", "The user no longer works as a gardener."),
        ("I was laid off in May.", "gardener", "The user no longer works as a gardener."),
        ("I'm a pescatarian now.", "vegetarian", "The user is a pescatarian."),
        ("I went vegan in the summer.", "vegetarian", "The user is vegan."),
        ("I got divorced from Petra last month.", "wife", "The user's former wife is called Petra."),
        ("We've got the keys to our flat!", "Hull", "The user is no longer looking for a small flat in Hull."),
        ("I finally found a room.", "Hull", "The user is no longer looking for a small flat in Hull."),
        ("Our divorce came through!", "wife", "The user's former wife is called Petra."),
    ],
)
def test_the_state_is_over(said, old, new):
    memories = [each for each in STATES if old in each]
    (found,) = all_outdated(said, memories)
    assert found.content == new
    assert found.quote in said


@pytest.mark.parametrize(
    "said",
    [
        "My sister got engaged on Sunday.",
        "I have a viewing of a flat tomorrow.",
        "I have the keys of my mother's car.",
        "My cousin has a girlfriend now.",
        "I might get married one day.",
        "I had a girlfriend when I was at school, but I was young.",
        "I don't eat fish.",
        "If I eat fish, I feel ill.",
        "Have I met a girlfriend of yours?",
        "My brother turned 42 on Monday.",
        "I was 42 when he came.",
        "I would move in with you.",
        "We married in 1962 and had a good life.",
        "I got divorced from Lina last month.",
        "My parents got divorced last month.",
        "I was divorced once before.",
        "I got divorced in 2009.",
        "I'm not vegan.",
        "My son turned ten today.",
        "Lena turned ten today.",
        "She turned ten today.",
        "When I turn 50, I want a party.",
        "I hope Mia turns ten in peace.",
        "Mia turned 9 today.",
        "I lost my job once before.",
        "Karl lost his job.",
        "I retired the old van.",
        "I'm a vegetarian cook.",
    ],
)
def test_what_is_of_others_or_left_open_ends_nothing(said):
    assert not any(found.content for found in all_outdated(said, STATES))


def test_where_no_sentence_can_be_made_the_person_is_asked():
    (found,) = all_outdated("We got engaged on Sunday.", ["The user is single and likes it."])
    assert found.content is None


def test_every_memory_of_a_state_that_is_over_is_found():
    memories = ["Petra is the user's wife.", "The user plays chess.", "The user is married to Petra."]
    found = all_outdated("I got divorced from Petra.", memories)
    assert sorted((each.place, each.content) for each in found) == [
        (0, "Petra is the user's former wife."),
        (2, "The user is no longer married to Petra."),
    ]


def test_a_job_given_up_at_a_place_that_the_memory_lacks_may_be_another():
    """Reproduction: "You no longer work as a midwife" when one of two jobs was quit."""
    found = all_outdated("I quit my job at the hospital.", ["The user works as a midwife."])
    assert [each.content for each in found] == [None]

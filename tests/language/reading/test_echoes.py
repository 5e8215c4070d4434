"""Questions that lean on the one before, and answers that take more than one sentence."""

import pytest

from language.reading.echoes import whole_question
from language.reading.statements import read
from tests.language.offline_talk import conversation


@pytest.mark.parametrize(
    ("before", "echo", "whole"),
    [
        ("What was his job?", "Fine. And yours?", "What is your job?"),
        ("What languages did Otto speak?", "And you?", "What languages do you speak?"),
        ("Did your grandmother have a sister?", "What about you?", "Do you have a sister?"),
        ("What was his job?", "And you? Did you like it?", "And you? Did you like it?"),
        ("What do you do?", "And you?", "And you?"),
        ("I see.", "And yours?", "And yours?"),
    ],
)
def test_an_echo_means_the_question_before(before, echo, whole):
    assert whole_question(echo, before, {"otto"}) == whole


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            ("guide> What was Otto's job?", "Baker.", "guide> And yours?", "Pharmacist."),
            "The user's job is pharmacist.",
        ),
        (("guide> What were Otto's hobbies?", "Chess. Ice fishing."), "Otto's hobbies were chess, ice fishing."),
        (("He died in 1999.", "guide> How old was he?", "74"), "Otto was 74 when he died."),
        (
            ("guide> Do you have any allergies that I should know of before I suggest a dish?", "shellfish"),
            "The user is allergic to shellfish.",
        ),
        (
            ("guide> Where do you live?", "Porto", "guide> Any pets?", "a cat called Bix"),
            "The user has a cat called Bix.",
        ),
        (("guide> Do you have brothers or sisters?", "One sister, Ines."), "The user has one sister, Ines."),
    ],
)
def test_short_answers_are_read_by_the_question(said, expected):
    assert expected in [one.content for one in read(conversation(*said, legacy="Otto")).statements]

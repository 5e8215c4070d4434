"""Shapes of clauses that a plain teller uses, and what is read of them."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(*said, legacy="Rosa"):
    return [one.content for one in read(conversation(*said, legacy=legacy)).statements]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("It was Rosa who taught me to swim.", ["Rosa taught {user} to swim."]),
        ("It was a stroke that killed her in 1990.", ["A stroke killed Rosa in 1990."]),
        ("She was born there, in Faro.", ["Rosa was born in Faro."]),
        ('In the mill they called her "the magpie".', ['In the mill Rosa was called "the magpie".']),
        ("She died on the second of June, three years ago.", ["Rosa died on the second of June 2020."]),
        ("She sold the bakery two years ago in March.", ["Rosa sold the bakery in March 2021."]),
        ("She sang in the Mass every morning once she retired.", None),
        ("She'd been singing in a choir.", ["Rosa had been singing in a choir."]),
        ("We'd shared a bed as girls.", ["Rosa and {user} had shared a bed as girls."]),
        ("She'd sing all day.", ["Rosa would sing all day."]),
        ("She snored like a truck.", ["Rosa snored like a truck."]),
        ('She said, "Eat your soup first," and she meant it.', ['Rosa said, "Eat your soup first".']),
    ],
)
def test_what_is_told_of_the_legacy(said, expected):
    request = conversation(f"Rosa was a baker. {said}", legacy="Rosa")
    found = [one.content for one in read(request).statements if one.content != "Rosa was a baker."]
    expected = [said.replace("She", "Rosa", 1)] if expected is None else expected
    assert found == [each.format(user=request.user_name) for each in expected]


def test_an_echo_is_no_part_of_the_sentence_after_it():
    said = told("Rosa loved figs.", "guide> Lovely.", "So do I. Rosa joined the navy at eighteen.")
    assert "Rosa joined the navy at eighteen." in said


def test_whom_the_talk_is_announced_to_be_about_is_the_legacy():
    said = told("I want to talk about my da.", "guide> What was his name?", "Christy Nolan. Da kept greyhounds.",
                legacy="Christy Nolan")  # fmt: skip
    assert "Christy kept greyhounds." in said


def test_a_particle_of_a_name_is_no_father():
    assert told("My aunt Maria da Silva is a nurse.", legacy=None) == ["The user's aunt Maria da Silva is a nurse."]


def test_a_cleft_sentence_that_denies_tells_nothing():
    assert told("Rosa was a baker. It wasn't Rosa who taught me to swim.") == ["Rosa was a baker."]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Next summer I will sail to Faro.", ["In the summer after 8 May 2023 the user will sail to Faro."]),
        ("I will call you tomorrow.", []),
        ("I am forty-four myself.", ["The user is forty-four."]),
        ("Dear Sir or Madam, I am Margarethe.", ["The user is Margarethe."]),
        ("I won't sail to Faro next summer.", []),
        ("I have sickle cell trait, so I know what a chemist is worth.", ["The user has sickle cell trait."]),
        ("I keep my letters here in my drawer.", ["The user keeps the user's letters in the user's drawer."]),
        ("Our mother took in boarders.", ["The user's mother took in boarders."]),
        (
            "My girlfriend Amara is a nurse. We do the crossword together.",
            [
                "The user's girlfriend Amara is a nurse.",
                "The user and the user's girlfriend Amara do the crossword together.",
            ],
        ),
        ("We do the crossword together.", []),
        ("Hang on, I have a fare.", []),
        ("I have a practical at four, let me run.", []),
    ],
)
def test_what_is_told_of_the_user(said, expected):
    assert told(said, legacy=None) == expected


def test_what_a_man_was_called_names_nobody_else():
    said = told("Everybody called him Uncle Engine.", "He lived in Aba.", legacy="Festus")
    assert said == ["Everybody called Festus Uncle Engine.", "Festus lived in Aba."]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("Did Rosa swim", []),
        ("Was my gran a nurse", []),
        ("Has my sister called", []),
        ("Did Pilates for years.", ["The user did Pilates for years."]),
        ("Have two kids", ["The user has two kids."]),
    ],
)
def test_a_question_without_its_mark_states_nothing(said, expected):
    """Reproduction: "Rosa did Rosa swim." was told."""
    assert told(said, legacy=None) == expected
    assert not any("did Rosa" in each for each in told("Rosa kept bees.", said))


def test_nobody_tells_of_their_own_death():
    assert told("I live in York. Died in 2019.", legacy=None) == ["The user lives in York."]
    assert told("My dad was a smith. Died in 2019.", legacy=None)[-1] == "The user's dad died in 2019."
    assert told("My dog died in 2019.", legacy=None) == ["The user's dog died in 2019."]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I have small shop.", "{user} has a small shop."),
        ("I have big old house.", "{user} has a big old house."),
        ("I do not have small children.", "{user} does not have small children."),
    ],
)
def test_a_learner_leaves_the_article_out_of_one_thing_only(said, expected):
    request = conversation(said, legacy=None)
    assert [one.content for one in read(request).statements] == [expected.format(user="The user")]

"""Whom "he" and "she" mean, and that nothing is told of the wrong person."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(*said, legacy="Rosa"):
    return [one.content for one in read(conversation(*said, legacy=legacy)).statements]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("She taught Ines the harp. She lived in Faro.",), "Rosa lived in Faro."),
        (("My sister Ines is a nurse. She lives in Faro.",), "The user's sister Ines lives in Faro."),
        (("I have one sister, Ines. She lives in Faro.",), "The user's sister Ines lives in Faro."),
        (("My sister Ines lives in Faro.", "guide> What did Rosa eat?", "She ate figs."), "Rosa ate figs."),
        (("A tailor hid her for two winters.",), "A tailor hid Rosa for two winters."),
        (("She was a baker.", "guide> I see.", "She was born in Porto."), "Rosa was born in Porto."),
    ],
)
def test_who_is_certain_is_told_of(said, expected):
    assert expected in told(*said)


@pytest.mark.parametrize(
    "said",
    [
        ("I visited Vera in May. She lived in Faro.",),
        ("Ines, she lived in Faro.",),
        ("I met my wife Ines in Porto.", "guide> How did you meet Ines?", "She came in with a broken thumb."),
        ("My sister Ines is a nurse.", "guide> Is she married?", "She lived with a baker in Faro."),
        ("She taught Ines to knit when she was nine years old.",),
    ],
)
def test_nothing_is_told_of_the_legacy_where_another_can_be_meant(said):
    assert not [one for one in told(*said) if one.startswith(("Rosa lived", "Rosa came", "Rosa was nine"))]
    assert not [one for one in told(*said) if "when Rosa was nine" in one]


def test_who_does_something_now_is_not_the_legacy_of_whom_the_user_tells_in_the_past():
    past = "She was a baker. She lived in Faro. She died in 1990."
    assert told(past, "She has three cats.") == told(past)
    assert "Rosa is buried in Faro." in told(past, "She is buried in Faro.")
    assert "Rosa has three cats." in told("She has three cats.")


@pytest.mark.parametrize(
    "said",
    [
        "She left at 14.",
        "I came for six months.",
        "I have hers, in three tins under the bed.",
        "She lived eleven more years in Faro.",
        "She said it, had she been a boy.",
        "Not while I can reach the kettle.",
    ],
)
def test_what_cannot_be_understood_alone_is_left_out(said):
    assert told("My grandmother Rosa baked bread.", said) == told("My grandmother Rosa baked bread.")


def test_a_priest_is_no_father_of_the_user():
    assert not [one for one in told("Father Coll marked the cards. He lived in Faro.") if "father" in one]


def test_a_quotation_keeps_its_words():
    assert 'Rosa always said, "tomorrow is another day".' in told('She always said "tomorrow is another day".')


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("We had two children, Clara and Tom. Tom is a vet in Faro.", "The user's child Tom is a vet in Faro."),
        ("She had two sons, Peter and Tom. Tom was a vet in Faro.", "Rosa's son Tom was a vet in Faro."),
        ("She met my sister Clara in Porto. Clara is a vet in Faro.", "The user's sister Clara is a vet in Faro."),
    ],
)
def test_relatives_are_known_by_the_clause_that_names_them(said, expected):
    assert expected in told(said)

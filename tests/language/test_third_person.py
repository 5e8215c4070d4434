"""What a person said of themselves, put in the third person where that needs no guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from language.offline.rewrite import in_third_person
from statements.policy import check_third_person


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I love pizza.", "The user loves pizza."),
        ("I'm vegetarian and I live in Porto", "The user is vegetarian and the user lives in Porto."),
        ("My wife's name is Ana.", "The user's wife's name is Ana."),
        ("My boss is Alec. He is strict with me.", "The user's boss is Alec. He is strict with the user."),
        ("I've been working at ACME since 2019", "The user has been working at ACME since 2019."),
        ("I don't drink coffee.", "The user does not drink coffee."),
        ("Alec is the user's boss. I like him.", "Alec is the user's boss. The user likes him."),
    ],
)
def test_it_tells_of_the_user(said, told):
    assert in_third_person(said) == told
    check_third_person(told)


@pytest.mark.parametrize(
    "said",
    [
        "The user likes tea.",
        "We moved to Leeds.",
        "Your tea is the best.",
        'I said "never again".',
        "Ich mag Tee.",
        "I miei amici vivono in Italia.",
        "1. Open the door 2. Close it",
        "用户住在里斯本。",
        "!?",
    ],
)
def test_what_needs_a_guess_or_no_change_stays_as_it_is(said):
    assert in_third_person(said) == said


@given(st.text(max_size=300))
def test_it_takes_any_text(text):
    assert isinstance(in_third_person(text), str)

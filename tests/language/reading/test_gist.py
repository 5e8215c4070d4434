"""The content words by which a sentence that was refused is recognised."""

import pytest

from language.reading.gist import Gists, gists

NAME = "Maria Keller"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I can't stand my boss Karl.", "You cannot stand your boss Karl."),
        ("Please remember that I moved to Oslo in 2019.", "Maria moved to Oslo in 2019."),
        ("I've lost nine hundred euros at poker.", "The user loses 900 euros at poker."),
        ("My neighbour\u200b Paul drinks.", "Her neighbour Paul drinks."),
    ],
)
def test_function_words_endings_and_numerals_don_t_count(one, other):
    assert next(gists(one, NAME)) == next(gists(other, NAME))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Andreas hired my sister.", "Andrea hired my sister."),
        ("I owe Karl 900 euros.", "I owe Karl 800 euros."),
        ("I trust my doctor Karl.", "I don't trust my doctor Karl."),
    ],
)
def test_names_figures_and_negations_count(one, other):
    assert not set(gists(one, NAME)) & set(gists(other, NAME))


def test_clauses_count_by_themselves_if_they_say_enough():
    assert list(gists("My neighbour Paul is an alcoholic, and I swim.", NAME)) == [
        "alcoholic neighbor paul swim",
        "alcoholic neighbor paul",
    ]
    assert not list(gists("I am tired.", NAME))
    assert list(gists("I was born in 1990.", NAME)) == ["1990 bear"]


def test_sentences_that_are_said_again_are_found_by_number():
    said = Gists(["It rains.", "Paul is an alcoholic neighbour.", "Paul left."], NAME)
    assert list(said.said_by("My neighbour Paul is an alcoholic.")) == [1]
    assert not list(said.said_by("Karl is a baker in Oslo."))

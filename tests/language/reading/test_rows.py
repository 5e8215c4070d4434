"""Rows about relatives and pets: what each item says follows from its kind."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(*said, legacy="Otto"):
    return [one.content for one in read(conversation(*said, legacy=legacy)).statements]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (("Dog: Bello, 9, beagle.",), "The user's dog Bello is 9."),
        (("Sister - Ines, 31, nurse, Porto.",), "The user's sister Ines is a nurse."),
        (("Brother: Tom. 44. Does speak to Dad.",), "The user's brother does speak to Dad."),
        (("Mum: Greta (78)",), "The user's mum Greta is 78."),
        (("- husband Tom (builder)\n- girls: Ada 9, Mia 7",), "The user has girls, Ada and Mia."),
        (("He was a baker.", "guide> Had he a wife?", "Wife: Greta, nurse."), "Otto's wife Greta was a nurse."),
        (("Mum: Greta. She sings.", "allergies: nuts, penicillin"), "The user is allergic to nuts, penicillin."),
    ],
)
def test_rows_are_sentences_about_their_head(said, expected):
    assert expected in told(*said)


@pytest.mark.parametrize(
    "said",
    [
        "Mum: are you there?\nSon: I'm at the zoo.",
        "Sister: she said that the shop was closed.",
        "Sven - emigrated to Porto in 1950.",
    ],
)
def test_what_others_say_and_rows_of_names_are_no_statements_of_ours(said):
    assert told(said) == []

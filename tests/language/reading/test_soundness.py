"""The statements that leave are parsed once more, and those that are no sentences stay."""

import pytest

from language.reading import soundness
from language.reading.gate import rejection_reason
from language.reading.soundness import malformed_reason
from language.reading.statements import read
from tests.language.offline_talk import conversation


@pytest.mark.parametrize(("statement", "reason"), [
    ("Beach ideas for the trip.", "no sentence"),
    ("The user always has had.", "says too little"),
    ("The user likes.", "says too little"),
    ("The user's brother got all the brains the user dropped out of college at 17.", "run-on"),
    ("The user lives in Leeds. Tom is a nurse.", "broken grammar"),
    ("The user has 8 hours different.", "says too little"),
    ("Ray had two sons, no daughters.", "run-on"),
    ("The user is vegan.", ""),
    ("The user's hobby is pottery.", ""),
    ("The user still lives in the house that the user's father bought.", ""),
    ("Rosa said \"never mind\" to everybody.", ""),
])  # fmt: skip
def test_a_statement_is_one_sentence_with_all_that_its_verb_needs(statement, reason):
    assert malformed_reason(statement) == reason


def test_what_cannot_be_parsed_stays(monkeypatch):
    monkeypatch.setattr(soundness, "parse", lambda text, names: None)
    assert malformed_reason("The user keeps bees.") == "not parsed"


@pytest.mark.parametrize(("said", "told"), [
    ("My parents have a small tea shop. They want me to come back. I call them every Sunday.",
     ["The user's parents have a small tea shop.", "The user's parents want the user to come back.",
      "The user calls the user's parents every Sunday."]),
    ("I have two dogs. They are loud.", ["The user has two dogs."]),
    ("also heads up im type 1 so no cake", ["The user is a type-1 diabetic."]),
    ("dog's called Pickle, hes a staffy", ["The user's dog is called Pickle."]),
    ("ollie cant have shellfish", ["Ollie cannot have shellfish."]),
    ("doc says wear a splint", []),
    ("cant drive yet. failed my test twice", ["The user cannot drive yet.", "The user failed the user's test twice."]),
    ("saving for a van. been vegan since jan", ["The user is saving for a van.", "The user has been vegan since jan."]),
    ("I have a flatmate, Lucia. She teach me to make tortilla.", None),
])  # fmt: skip
def test_chat_and_learners_english_become_sentences(said, told):
    found = [one.content for one in read(conversation(said)).statements]
    if told is None:
        assert "Lucia teaches the user to make tortilla." in found
    else:
        assert found == told


def test_what_trails_off_as_talk_does_is_no_sentence():
    said = "I failed that, so, mixed results."
    assert rejection_reason("The user failed that, so, mixed results.", said) in {"broken grammar", "unclear pronoun"}
    assert rejection_reason("The user failed the test, so they took it again.", said) == ""


@pytest.mark.parametrize("statement", [
    "Please leave out the bit about Walter's eyes, he was ashamed of it.",
    "In 1981 Josef fell on the ice, no, in the winter of 1981, and broke his hip.",
    "The user cannot.",
    "The user was the second.",
    "The user is at work.",
    "The user loses the line.",
    "The user would one last one on St Brigid.",
    "Nora and Paul all has bad teeth.",
    "The user graça works in the night.",
    "Euros, the user's father still said quid.",
    "Mostly south america, Viktor spoke pretty good Spanish.",
    "The user has a plan but is small plan.",
    "The user's neighbour Pauline dug, so the user's neighbour Pauline is wet.",
])  # fmt: skip
def test_orders_and_what_is_left_of_talk_do_not_leave(statement):
    assert rejection_reason(statement, "")


@pytest.mark.parametrize(("said", "told"), [
    ("One more thing, my brother plays the harp.", ["The user's brother plays the harp."]),
    ("I trod on a nail.", ["The user trod on a nail."]),
    ("I work nights as a nurse at St James's, three shifts a week.",
     ["The user works nights as a nurse at St James's, three shifts a week."]),
])  # fmt: skip
def test_what_is_said_clumsily_is_told_soundly(said, told):
    assert [one.content for one in read(conversation(said, legacy=None)).statements] == told

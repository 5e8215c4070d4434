"""Small talk changes nothing that is known, and states nothing: "bye", "good morning dear", "I can't stop crying"."""

import pytest

from language.offline.model import OfflineModel
from language.reading.questions import (
    ASKS_OF_ITSELF,
    GREETS,
    asks_for_work,
    asks_of_me,
    complains,
    is_of_the_talk,
    is_question,
    wants_quiet,
)
from tests.language.offline_talk import conversation


def said(text, **more):
    found = OfflineModel().extract(conversation(text, **more))
    return [each.content for each in (*found.memories, *found.facts)]


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("Good morning dear, how are you today?", []),
        ("Good morning dear, I have a dog called Rex.", ["The user has a dog called Rex."]),
        ("I can't stop crying", []),
        ("I can't stop smoking.", ["The user cannot stop smoking."]),
        ("I never stopped playing the violin.", ["The user never stopped playing the violin."]),
        (
            "My grandson Oliver got a puppy, his name is Biscuit.",
            ["The user's grandson Oliver got a puppy called Biscuit."],
        ),
        ("My sister has a dog. Her name is Luna.", ["The user's sister has a dog called Luna."]),
        (
            "My sister's name is Ana and she lives in Porto.",
            ["The user's sister is called Ana.", "The user's sister Ana lives in Porto."],
        ),
        (
            "My brother's name was Otto, he was a baker.",
            ["The user's brother was called Otto.", "Otto was a baker."],
        ),
        ("I have a cousin called Tom. I'm Tom.", ["The user has a cousin called Tom.", "The user is Tom."]),
    ],
)
def test_greetings_moods_and_names_of_pets(text, contents):
    """Reproduction: "you are a good morning dear", and a grandson whose name is Biscuit."""
    assert said(text) == contents


def test_their_own_name_has_no_subject_of_its_own():
    """Reproduction: with one it is refused as a field, so of "My name is … and I am …" only the age was asked about."""
    name, age = OfflineModel().extract(conversation("My name is Margaret and I am eighty-one.")).memories
    assert (name.content, name.field, name.subject) == ("The user's name is Margaret.", "preferred_name", "")
    assert age.content == "The user is eighty-one."


def test_children_in_a_list_are_named_as_they_were():
    found = OfflineModel().extract(
        conversation(
            "He had two daughters, Ruth and Ellen.",
            "Actually, he had three daughters: Ruth, Ellen and May.",
            legacy="Uncle Albert",
        )
    )
    assert found.facts[-1].content == "Albert had three daughters: Ruth, Ellen and May."


def test_what_is_said_of_the_talk_changes_nothing():
    talk = (
        "bye",
        "stop",
        "shut up",
        "I give up",
        "finished",
        "it's over",
        "gone",
        "gone now",
        "all finished",
        "I have to go now",
        "good night",
        "wtf",
    )
    assert [text for text in talk if not is_of_the_talk(text)] == []
    news = (
        "I quit",
        "Quit smoking.",
        "Gone vegan.",
        "We sold it",
        "I got divorced",
        "He died",
        "I no longer eat shellfish",
        "Good night shifts are over now",
    )
    assert [text for text in news if is_of_the_talk(text)] == []
    assert (wants_quiet("Stop!"), wants_quiet("Stop by for tea")) == (True, False)


def test_small_questions_are_told_apart():
    assert all(map(asks_for_work, ["Is it going to rain?", "Will it snow tomorrow?"]))
    assert all(map(GREETS.search, ["yo", "Good morning dear", "Hello again!"]))
    assert all(map(ASKS_OF_ITSELF.search, ["who r u", "what's up?", "Good morning dear, how are you today?"]))
    assert all(map(asks_of_me, ["list everything you know", "Show me all you know about me"]))
    assert all(map(complains, ["you suck", "WTF"]))
    assert not is_question("I list everything for work.")

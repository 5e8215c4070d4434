"""Sentences without a subject get the one they are about; what is no fragment of it stays."""

import pytest

from language.reading.fragments import subject_asked_about, supply_subjects
from language.reading.parse import parse


def completed(text, about):
    edits = list(supply_subjects(parse(text), about, ""))
    for start, end, new in reversed(edits):
        text = text[:start] + new + text[end:]
    return text


@pytest.mark.parametrize(
    ("reply", "subject"),
    [
        ("What do you do?", "I"),
        ("Any injuries?", None),
        ("How was he with you?", "He"),
        ("And your dad?", "My dad"),
        ("Is your mother looking forward to it?", "My mother"),
        ("How was it?", ""),
        ("I see. Tell me about yourself.", "I"),
    ],
)
def test_the_subject_is_whom_the_assistant_asked_about(reply, subject):
    assert subject_asked_about(reply) == subject


@pytest.mark.parametrize(
    ("text", "about", "whole"),
    [
        ("Broke my wrist in 2022.", "I", "I broke my wrist in 2022."),
        ("Want to move back to Cork.", "I", "I want to move back to Cork."),
        ("Been seeing Kofi since October.", "I", "I have been seeing Kofi since October."),
        ("Scared of moths.", "I", "I am scared of moths."),
        ("She was a baker. Blind from birth.", "", "She was a baker. She was blind from birth."),
        ("Left for Leeds in 1990.", "My dad", "My dad left for Leeds in 1990."),
    ],
)
def test_a_fragment_gets_its_subject(text, about, whole):
    assert completed(text, about) == whole


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Clicks like a biro.", "I"),
        ("Remind me not to google.", "I"),
        ("Went well?", "I"),
        ("The film was long. Scared of it all.", "I"),
        ("Did not stop her playing bingo.", "She"),
    ],
)
def test_other_words_stay(text, about):
    assert completed(text, about) == text

"""Abbreviations are the words of the other text that begin with their letters."""

import pytest

from language.reading.abbreviations import spelled_out
from language.reading.content import Content


@pytest.mark.parametrize(
    ("text", "other", "spelled"),
    [
        (
            "The user has OCD.",
            "The user lives with obsessive-compulsive disorder.",
            "The user has obsessive-compulsive disorder.",
        ),
        (
            "The RSPCA chipped it.",
            "It has a chip of the Royal Society for the Prevention of Cruelty to Animals.",
            "The Royal Society for the Prevention of Cruelty to Animals chipped it.",
        ),
        ("The user plays D&D.", "The user plays Dungeons & Dragons.", "The user plays Dungeons & Dragons."),
        ("The user is in AA.", "The user goes to Alcoholics Anonymous.", "The user is in Alcoholics Anonymous."),
        ("The user works in IT.", "Irma teaches the user.", "The user works in IT."),
        ("The user lives in LA.", "The user likes apples.", "The user lives in LA."),
        ("The user has ADHD.", "The user has a dog and a horse.", "The user has ADHD."),
    ],
)
def test_an_abbreviation_is_spelled_out_by_the_other_text(text, other, spelled):
    one, same = spelled_out(Content(text), Content(other))
    assert one.text == spelled
    assert same.text == other
    assert spelled_out(same, Content(text))[1].text == spelled

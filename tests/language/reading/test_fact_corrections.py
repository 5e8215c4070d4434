"""Facts that the person puts right while they talk about a legacy."""

from datetime import UTC, datetime

import pytest

from language.base import ExtractionRequest, Utterance
from language.reading.candidates import fact_candidates
from language.reading.statements import read


def facts(*said):
    at = datetime(2026, 3, 1, tzinfo=UTC)
    messages = [
        Utterance(index, "assistant" if text.startswith("> ") else "user", "Ana", text.removeprefix("> "), at)
        for index, text in enumerate(said)
    ]
    request = ExtractionRequest(messages, "Ana", "Rosa Almeida", ("biography", "family", "other"), ())
    return [(each.content, each.indices) for each in fact_candidates(read(request), request)]


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        ("She was born in Graz.", "Actually, she was born in Linz.", "Rosa was born in Linz."),
        ("She had a dog called Rolf.", "Sorry, the dog was called Wolf.", "Rosa had a dog called Wolf."),
        ("She worked in a bakery.", "No wait, it was a dairy.", "Rosa worked in a dairy."),
        ("She had four brothers.", "She had three, not four brothers.", "Rosa had three brothers."),
    ],
)
def test_what_is_put_right_takes_the_place_of_what_was_said(first, then, expected):
    assert facts(first, "> I see.", then) == [(expected, (2,))]


@pytest.mark.parametrize(
    "then",
    ["She was born in Linz.", "Actually, her sister was born in Linz.", "Actually, she loved Graz.", "No, Graz."],
)
def test_what_is_only_said_beside_it_leaves_it(then):
    assert ("Rosa was born in Graz.", (0,)) in facts("She was born in Graz.", then)


def test_an_answer_with_a_name_puts_nothing_right():
    told = facts("She was born in Graz.", "> Did she stay in Graz?", "No, Linz.")
    assert ("Rosa was born in Graz.", (0,)) in told


def test_what_was_said_long_before_is_left():
    told = facts("She was born in Graz.", "She sang.", "She cooked.", "Sorry, it was Linz.")
    assert ("Rosa was born in Graz.", (0,)) in told

"""What unknown people did to somebody is told of whom they did it to."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(said):
    return [one.content for one in read(conversation(said, legacy="Rosa")).statements]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("They buried her in a yellow dress.", "Rosa was buried in a yellow dress."),
        ("They gave her a medal in 1970.", "Rosa was given a medal in 1970."),
        ("They laid her off in 1982, and she moved to Faro.", "Rosa was laid off in 1982."),
        ("When somebody was ill, they called her at midnight.", "When somebody was ill, Rosa was called at midnight."),
        ("They sent me to a boarding school in Leeds.", "The user was sent to a boarding school in Leeds."),
        ("The neighbours were scared of her.", "The neighbours were scared of Rosa."),
    ],
)
def test_it_is_told(said, expected):
    assert expected in told(said)


@pytest.mark.parametrize(
    "said",
    [
        "They fed her and left for Porto.",
        "They didn't pay her in Leeds.",
        "They said her soup was thin.",
        "They told her that the shop was closed.",
        "My parents were poor. They sent her to Leeds.",
        "Nobody said a thing to her.",
    ],
)
def test_nothing_is_told_where_they_are_known_or_it_did_not_happen(said):
    assert not [one for one in told(said) if "Rosa" in one]

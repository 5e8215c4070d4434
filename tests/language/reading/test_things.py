"""What an object "it" or "them" refers to."""

import pytest

from language.reading.statements import read
from tests.language.offline_talk import conversation


def told(said):
    return [one.content for one in read(conversation(said, legacy="Rosa")).statements]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("She bought a violin in Porto, and she played it at weddings.", "Rosa played the violin at weddings."),
        ("She kept her letters. She left them to the library.", "Rosa left her letters to the library."),
        ("She grew figs behind the house. She sold them in Faro.", "Rosa sold figs in Faro."),
        ("She came home with a violin. She never paid for it.", "Rosa never paid for the violin."),
        ("Her violin was old. She played it daily. She repaired it with glue.", "Rosa repaired her violin with glue."),
    ],
)
def test_the_object_of_the_clause_before_is_meant(said, expected):
    assert expected in told(said)


@pytest.mark.parametrize(
    "said",
    [
        "She bought a violin in Porto. She never talked about it at home.",
        "She sang in a choir in a cold church. She painted it in Faro.",
        "She had no violin. She played it at weddings.",
        "She didn't own a boat. She painted it in Faro.",
        "She met a tailor in Porto. She sold it to the library.",
        "She bought a violin and a drum in Porto. She played it at weddings.",
        "It was on the windowsill of her shop. She played it at weddings.",
    ],
)
def test_nothing_is_told_where_it_may_be_another_thing_or_what_happened(said):
    assert not [one for one in told(said) if one.startswith(("Rosa painted", "Rosa played", "Rosa sold", "Rosa never"))]

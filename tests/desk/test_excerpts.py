import pytest

from desk.excerpts import Excerpt, excerpt

LONG = "word " * 100


@pytest.mark.parametrize(
    ("content", "quote", "expected"),
    [
        (
            "She sang. She kept bees. She slept.",
            "She kept bees.",
            Excerpt("She sang. ", "She kept bees.", " She slept."),
        ),
        ("She kept bees.", "She kept bees.", Excerpt("", "She kept bees.", "")),
        ("She kept bees.", "She kept goats.", Excerpt("", "She kept goats.", "")),
        ("She kept bees.", "", Excerpt("", "", "")),
        (f"{LONG}bees {LONG}", "bees", Excerpt("… word word ", "bees", " word word …")),
        (f"{'x' * 50}bees{'y' * 50}", "bees", Excerpt(f"… {'x' * 12}", "bees", f"{'y' * 12} …")),
        ("bees, and bees", "bees", Excerpt("", "bees", ", and bees")),
    ],
    ids=["in the middle", "all of it", "not there", "empty", "cut between words", "nothing to cut at", "the first one"],
)
def test_a_quotation_stands_in_its_context(content, quote, expected):
    assert excerpt(content, quote, context=12) == expected

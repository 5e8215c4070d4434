import pytest

from desk.quotations import Excerpt, excerpt

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
        ("She kept bees.", "She kept goats.", Excerpt("She kept bees.", "", "")),
        (f"{LONG}bees", "goats", Excerpt("word word word word …", "", "")),
        ("She kept bees.", "", Excerpt("She kept bees.", "", "")),
        ("  ", "bees", Excerpt("", "", "")),
        ("We met at HOME, yes.", "Home", Excerpt("We met at ", "HOME", ", yes.")),
        ("At home: Home Bar.", "Home", Excerpt("At home: ", "Home", " Bar.")),
        ("She kept\n bees.", "she  kept bees", Excerpt("", "She kept\n bees", ".")),
        ("What? (a.b)", "(A.B)", Excerpt("What? ", "(a.b)", "")),
        (f"{LONG}bees {LONG}", "bees", Excerpt("… word word ", "bees", " word word …")),
        (f"{'x' * 50}bees{'y' * 50}", "bees", Excerpt(f"… {'x' * 12}", "bees", f"{'y' * 12} …")),
        ("bees, and bees", "bees", Excerpt("", "bees", ", and bees")),
    ],
    ids=[
        *("in the middle", "all of it", "not there", "not there, and long", "empty", "nothing said"),
        *("in capitals", "rather as it is spelled", "over two lines", "not a pattern"),
        "cut between words",
        "nothing to cut at",
        "the first one",
    ],
)
def test_a_quotation_stands_in_its_context(content, quote, expected):
    assert excerpt(content, quote, context=12) == expected

"""Word by word: nothing is lost, and what is shown as changed is what changed."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.differences import word_diff

WORDS = st.lists(st.sampled_from(["Rosa", "kept", "two", "bees", ",", "in", "Basel", "ẞ", " "]), max_size=9).map(
    " ".join
)


@given(WORDS, WORDS)
def test_both_wordings_can_be_read_out_of_it(old, new):
    pieces = word_diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.kind != "new") == old
    assert "".join(piece.text for piece in pieces if piece.kind != "gone") == new
    assert all(piece.text for piece in pieces)
    assert not any(one.kind == other.kind for one, other in pairwise(pieces))


def shown(old, new):
    marks = {"same": "{}", "gone": "[-{}-]", "new": "[+{}+]"}
    return "".join(marks[piece.kind].format(piece.text) for piece in word_diff(old, new))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("A midwife in Rome.", "A nurse in Bern.", "A [-midwife-][+nurse+] in [-Rome-][+Bern+]."),
        ("She kept bees", "She kept bees", "She kept bees"),
        ("She kept bees.", "She kept two bees.", "She kept [+two +]bees."),
        ("Married in 1965.", "Married in 1968 in Rome.", "Married in [-1965-][+1968 in Rome+]."),
        ("She kept two old dogs.", "She kept three grey dogs.", "She kept [-two old-][+three grey+] dogs."),
        ("She kept bees.", "Nobody could have told him so", "[-She kept bees.-][+Nobody could have told him so+]"),
        ("", "", ""),
        ("", "New", "[+New+]"),
    ],
)  # fmt: skip
def test_what_changed_is_shown(old, new, expected):
    assert shown(old, new) == expected

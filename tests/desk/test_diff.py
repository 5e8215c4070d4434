"""Word by word: nothing is lost, and what is shown as changed is what changed."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.diff import DiffPiece, merge_diff, word_diff

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


class TestSeveralToOne:
    def test_words_that_stay_go_and_come(self):
        olds, new = merge_diff(
            ["The user keeps bees.", "The user keeps two hens."], "The user keeps bees and two hens, gladly."
        )
        assert olds[0] == [DiffPiece("same", "The user keeps bees.")]
        assert olds[1] == [DiffPiece("same", "The user keeps two hens.")]
        assert new == [
            DiffPiece("same", "The user keeps bees "),
            DiffPiece("new", "and"),
            DiffPiece("same", " two hens"),
            DiffPiece("new", ", gladly"),
            DiffPiece("same", "."),
        ]

    def test_what_nobody_says_any_more_is_gone(self):
        (old, other), new = merge_diff(["Ana runs slowly.", "Ana runs."], "Ana runs.")
        assert old == [DiffPiece("same", "Ana runs "), DiffPiece("gone", "slowly"), DiffPiece("same", ".")]
        assert other == new == [DiffPiece("same", "Ana runs.")]

    def test_nothing_in_common(self):
        assert merge_diff(["abc"], "xyz") == ([[DiffPiece("gone", "abc")]], [DiffPiece("new", "xyz")])

    def test_nothing_at_all(self):
        assert merge_diff(["", "a"], "") == ([[], [DiffPiece("gone", "a")]], [])
        assert merge_diff([], "a") == ([], [DiffPiece("new", "a")])

    @given(st.lists(st.text(alphabet="ab c.,", max_size=30), max_size=4), st.text(alphabet="ab c.,", max_size=30))
    def test_joined_they_give_every_wording(self, olds, new):
        shown, after = merge_diff(olds, new)
        assert ["".join(piece.text for piece in pieces) for pieces in shown] == olds
        assert "".join(piece.text for piece in after) == new
        assert {piece.kind for pieces in shown for piece in pieces} <= {"same", "gone"}
        assert {piece.kind for piece in after} <= {"same", "new"}

"""How a statement is matched with an expected one."""

from __future__ import annotations

import pytest

from benchmarks.evaluation.reading import judge, talks_of


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("I don't smoke.", "doesn't smoke"),
        ("I was a miner for thirty-one years.", "was a miner for 31 years"),
        ("I've broken my wrist.", "broke his wrist"),
    ],
)
def test_expected_statements_are_found_in_other_forms(said, expected, tmp_path):
    (tmp_path / "talk.txt").write_text(f"# legacy: -; user: Ada\nU: {said}\n= U: {expected}\n")

    judged = judge(next(talks_of(tmp_path)))

    assert [each.text for each, _ in judged.found] == [expected]


def test_what_is_denied_is_not_what_is_so(tmp_path):
    (tmp_path / "talk.txt").write_text("# legacy: -; user: Ada\nU: I smoke.\n= U: doesn't smoke\n")

    judged = judge(next(talks_of(tmp_path)))

    assert [each.text for each in judged.missed] == ["doesn't smoke"]

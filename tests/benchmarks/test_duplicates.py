"""``manage.py evaluate duplicates``: how many observations are told twice, before consolidation and after."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

SAMPLE = {
    "sample_id": "conv-1",
    "observation": {
        "session_1_observation": {"Ana": [["Ana plays the guitar.", "D1:1"], ["Ana lives in Porto.", "D1:2"]]},
        "session_2_observation": {"Ana": [["Ana is a guitarist.", "D2:1"], ["Ana lives in Paris.", "D2:2"]]},
    },
}


@pytest.fixture(autouse=True)
def _near(settings):
    settings.MEMORY_FALLBACK_LOW_SIMILARITY = 0.0


def evaluated(path, *options):
    out = StringIO()
    call_command("evaluate", "duplicates", path, *options, stdout=out)
    return out.getvalue()


def test_it_tells_what_is_told_twice_before_and_after(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([SAMPLE]), encoding="utf-8")
    told = evaluated(path, "--why")
    assert "conv-1 Ana: 4 statements" in told
    assert "1 merged, 0 left" in told
    assert "Ana plays the guitar.  <-  Ana is a guitarist." in told
    assert told.endswith("1 of 4 statements are told twice; after consolidation 0.\n")
    assert "guitarist" not in evaluated(path)


def test_a_file_of_another_form_is_named_with_the_place(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-1", "observation": [1]}]), encoding="utf-8")
    with pytest.raises(CommandError, match="observation"):
        evaluated(path)


def test_a_file_of_pairs_is_scored(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "same\tThe user has a dog named Rufus.\tThe user's dog is called Rufus.\n"
        "differ\tThe user has two cats.\tThe user has three cats.\n",
        encoding="utf-8",
    )
    told = evaluated(path, "--why")
    assert "same: 1 pairs, 1 merged without a model, 1 with one that knows them" in told
    assert "differ: 1 pairs, 0 merged without a model, 0 with one that knows them, 0 with one that calls" in told


def test_a_file_of_pairs_of_another_form_is_refused(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("alike\tone\tother\n", encoding="utf-8")
    with pytest.raises(CommandError, match="no pair"):
        evaluated(path)

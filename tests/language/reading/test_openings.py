import pytest

from language.reading.compare import Saying, compare
from language.reading.openings import openings


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("The user's sister paints.", {"sist"}),
        ("Anna's brother Tom sold the boat.", {"brot"}),
        ("Tom sings and Ana paints.", {"tom", "ana"}),
        ("On Mondays Tom sings.", None),
        ("Yesterday Tom sang.", None),
        ("The boat was painted by Tom.", None),
        ("", None),
    ],
)
def test_a_clause_opens_with_its_subject(statement: str, expected: set[str] | None) -> None:
    found = openings(statement)
    assert (found if found is None else found >= expected) == (expected and True)


@pytest.mark.parametrize(
    ("existing", "new"),
    [
        ("Rosa paints boats on Mondays.", "Tom paints boats on Mondays."),
        ("The user's sister is a nurse.", "The user is a teacher."),
        ("The user is a nurse.", "The user's cousin is a teacher."),
    ],
)
def test_statements_of_different_subjects_are_not_parsed(existing: str, new: str) -> None:
    assert not Saying(new).needs_parse_with(Saying(existing))
    assert compare(existing, new) == "different"


@pytest.mark.parametrize(
    ("existing", "new", "verdict"),
    [
        ("The user's children go to school in Ulm.", "The user's kids go to school in Ulm.", "same"),
        ("The baby sleeps in the user's room.", "The babies sleep in the user's room.", "same"),
        ("The budget is managed by Ana.", "Ana manages the budget.", "same"),
        ("Tom is the team lead.", "Nina is the team lead now.", "replaces"),
    ],
)
def test_one_subject_in_other_words_is_compared(existing: str, new: str, verdict: str) -> None:
    assert Saying(new).needs_parse_with(Saying(existing))
    assert compare(existing, new) == verdict

"""Whom statements that consolidation compares are about, and in which language they are."""

import pytest

from memories.policy.alike import says_the_same

from .test_consolidation import contents, embedded, run

_OWN = "The user is scared of spiders."


@pytest.fixture(autouse=True)
def _near(settings):
    settings.MEMORY_FALLBACK_LOW_SIMILARITY = 0.5
    settings.CONSOLIDATE_MOST_ARCHIVED = 1.0
    settings.KEEPSAKE_EMBEDDER = "bundled"


def test_what_is_told_of_the_person_by_name_and_as_the_user_becomes_one(owner):
    embedded(owner, "Olga is scared of spiders.", _OWN)
    run(owner)
    assert contents(owner) == [_OWN]


def test_what_is_told_of_somebody_else_stays_beside_what_is_told_of_the_user(owner):
    embedded(owner, "Maria has a phobia of spiders.", _OWN)
    run(owner)
    assert contents(owner) == ["Maria has a phobia of spiders.", _OWN]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("L'utilisatrice a vécu à Lyon.", "L'utilisatrice vit à Lyon."),
        ("El usuario tiene un hermano.", "El usuario tiene una hermana."),
        ("The user likes tea.", "用户喜欢绿茶。"),
        ("Użytkownik ma brata.", "Użytkownik nie ma brata."),
        ("L'utente ha due figli.", "L'utente ha due figlie."),
    ],
)
def test_without_a_model_only_english_is_read(one, other):
    assert not says_the_same(one, other)
    assert not says_the_same(other, one)

import numpy as np
import pytest

from accounts.queries import principal_for_person
from journal.actions import ledger_write
from statements.actions import suppression_add, suppression_remove
from statements.models import Suppression
from statements.wording import Embedded
from tests.factories import LegacyFactory

MODEL = "test:4"


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def text(words, vector=None, model=MODEL):
    return Embedded(words, vector, "" if vector is None else model)


@pytest.fixture
def lay(owner, legacy):
    def lay(words, vector=None, *, about=legacy, model=MODEL, object_id="1"):
        with ledger_write(principal_for_person(owner.pk).actor, owner.pk) as write:
            legacy_id = about.pk if about else None
            suppression_add(write, owner.pk, text(words, vector, model), object_id, legacy_id=legacy_id)

    return lay


@pytest.fixture
def lift(owner, legacy):
    def lift(*texts, about=legacy, object_id=""):
        with ledger_write(principal_for_person(owner.pk).actor, owner.pk) as write:
            legacy_id = about.pk if about else None
            return suppression_remove(write, owner.pk, texts=texts, object_id=object_id, legacy_id=legacy_id)

    return lift


def matching(user, legacy, *statements, model=MODEL):
    texts = [text(words, vector, model) for words, vector in statements]
    found = Suppression.objects.matches(user.pk, texts, legacy_id=legacy.pk if legacy else None)
    return [bool(each) for each in found]


def test_the_same_words_match_whatever_the_vector(owner, legacy, lay):
    lay("Rosa had a café.", unit(1, 0))
    assert matching(owner, legacy, ("rosa had a CAFE", unit(0, 1)), ("Rosa had a bar.", unit(0, 1))) == [True, False]


def test_a_near_vector_matches_whatever_the_words(owner, legacy, lay, settings):
    settings.SUPPRESSION_SIMILARITY, settings.SUPPRESSION_SHARED_WORDS = 0.88, 0.04
    lay("Rosa had a café.", unit(1, 0))
    near, far = unit(0.91, np.sqrt(1 - 0.91**2)), unit(0.89, np.sqrt(1 - 0.89**2))
    assert matching(owner, legacy, ("Rosa ran a coffee house.", near), ("Rosa ran.", far)) == [True, False]


def test_vectors_of_two_models_are_never_compared(owner, legacy, lay):
    lay("Rosa had a café.", unit(1, 0, 0), model="another:3")
    assert matching(owner, legacy, ("Rosa ran a coffee house.", unit(1, 0))) == [False]


def test_without_vectors_only_the_words_are_compared(owner, legacy, lay):
    lay("Rosa had a café.")
    assert matching(owner, legacy, ("Rosa had a café.", None), ("Rosa had a bar.", None), model="") == [True, False]


def test_a_suppression_stands_for_one_person_and_one_legacy_and_memories(owner, member, legacy, lay):
    lay("Rosa had a café.", unit(1, 0))
    lay("I like tea.", unit(1, 0), about=None)
    fact, memory = ("Rosa had a café.", unit(0, 1)), ("I like tea.", unit(0, 1))
    assert matching(member, legacy, fact, memory) == [False, False]
    assert matching(owner, legacy, fact, memory) == [True, True]
    assert matching(owner, None, fact, memory) == [True, True]
    another = LegacyFactory(owner=owner)
    assert matching(owner, another, fact, memory) == [False, True], "the two may be about two people"


def test_a_batch_takes_as_many_statements_as_one_text(owner, legacy, lay, django_assert_num_queries):
    lay("Rosa had a café.", unit(1, 0))
    said = [(f"Rosa had {n} cats.", unit(0, 1)) for n in range(50)]
    for texts in (said[:1], said):
        with django_assert_num_queries(4):
            assert matching(owner, legacy, *texts) == [False] * len(texts)
    assert matching(owner, legacy) == []


def test_the_same_words_again_replace_the_first(owner, legacy, lay):
    lay("Rosa had a café.", unit(1, 0), object_id="1")
    lay("rosa had a cafe", unit(0, 1), object_id="2")
    suppression = Suppression.objects.get()
    assert (suppression.object_id, suppression.embedding) == ("2", [0.0, 1.0])


def test_lifting_takes_the_same_words_and_the_object_not_what_is_similar(owner, legacy, lay, lift):
    lay("Rosa had a café.", unit(1, 0), object_id="1")
    lay("Rosa was a nurse.", unit(1, 0), object_id="2")
    lay("Rosa sang.", unit(1, 0), object_id="3")
    lay("Rosa had a café.", about=None, object_id="3")
    assert lift("ROSA had a cafe!", object_id="2") == 2
    assert list(legacy_of(owner, legacy).values_list("object_id", flat=True)) == ["3"]
    assert lift("Rosa had a café.", about=None) == 1
    assert lift("Rosa had a café.") == 0


def legacy_of(owner, legacy):
    return Suppression.objects.of(owner.pk, legacy.pk)


def test_it_holds_no_text(lay):
    lay("Rosa had a café.", unit(1, 0))
    suppression = Suppression.objects.get()
    held = repr(vars(suppression)).lower()
    # What a hexadecimal digest can't spell, as it can "caf".
    assert "rosa" not in held
    assert "café" not in held
    assert str(suppression) == "suppression of 1"


def test_without_the_person_s_lock_nothing_is_laid(owner, member, legacy):
    with (
        pytest.raises(ValueError, match="lock"),
        ledger_write(principal_for_person(member.pk).actor, member.pk) as write,
    ):
        suppression_remove(write, owner.pk, legacy_id=legacy.pk)

"""A memory's subject has the name that a new wording has in place of the old one."""

import pytest

from accounts.queries import principal_for_person
from memories.actions import memory_add, memory_amend, memory_revert, memory_update
from memories.models import Memory
from memories.records import NewMemory

from .rest import url
from .state import check

pytestmark = pytest.mark.django_db
OLD, NEW = "The user's dog is called Biscuit.", "The user's dog is called Bagel."


@pytest.fixture
def me(owner):
    return principal_for_person(owner.pk)


@pytest.fixture
def dog(me):
    return memory_add(me, NewMemory(OLD, "context", subject="Biscuit")).memory


def test_with_the_persons_own_wording_and_back(me, owner, dog):
    memory_update(me, dog.pk, NEW)
    memory = Memory.objects.get(pk=dog.pk)
    assert (memory.subject, "bagel" in memory.search_text.lower()) == ("Bagel", True)
    assert "biscuit" not in memory.search_text.lower()
    check(owner)
    memory_revert(me, dog.pk, 1)
    assert Memory.objects.get(pk=dog.pk).subject == "Biscuit"
    check(owner)


def test_over_rest(api, owner, dog):
    api(owner).put(url(dog), {"content": NEW}, format="json")
    assert Memory.objects.get(pk=dog.pk).subject == "Bagel"


def test_one_that_was_typed_as_something_else_stays(me, dog):
    memory_amend(me, dog.pk, subject="pets")
    memory_update(me, dog.pk, NEW)
    assert Memory.objects.get(pk=dog.pk).subject == "pets"

"""Lists of somebody who has nothing yet: no search, tabs or rail for what is not there."""

import pytest

from tests.factories import ConversationFactory, MemoryFactory, UserFactory

pytestmark = pytest.mark.django_db
LISTS = ["/memories/", "/facts/", "/places/", "/conversations/"]


def controls(page):
    return [each for each in ('role="search"', 'class="tabs"', 'id="rail"', "<meter") if each in page]


@pytest.mark.parametrize("address", LISTS)
def test_there_is_nothing_to_search_where_there_is_nothing(visit, address):
    """Reproduction: a new account was offered a search, tabs full of zeros and a list of no categories."""
    page = visit(UserFactory()).get(address).content.decode()
    assert controls(page) == []
    assert 'class="panel empty"' in page
    assert "<h1>" in page


@pytest.mark.parametrize("address", LISTS)
def test_a_search_that_finds_nothing_keeps_its_box(visit, address):
    page = visit(UserFactory()).get(address, {"search": "key"}).content.decode()
    assert 'role="search"' in page
    assert 'value="key"' in page


def test_what_there_is_can_be_searched(visit):
    memory = MemoryFactory()
    ConversationFactory(user=memory.user)
    client = visit(memory.user)
    assert 'role="search"' in client.get("/memories/").content.decode()
    assert 'id="tabs"' in client.get("/memories/", {"state": "archived"}).content.decode()
    assert 'role="search"' in client.get("/conversations/").content.decode()

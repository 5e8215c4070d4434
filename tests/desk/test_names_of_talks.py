"""What a talk with the assistant is called: when it was begun, in its reader's language and time zone."""

from datetime import UTC, datetime

import pytest

from accounts.queries import principal_for_person
from conversations.models import Conversation
from memories.actions import memory_add
from memories.records import NewMemory
from tests.factories import PreferencesFactory

from .conftest import words
from .test_chat import sent

pytestmark = pytest.mark.django_db(transaction=True)
BEGUN = datetime(2026, 3, 5, 22, 30, tzinfo=UTC)
ENGLISH, GERMAN = "Talk of 5 March 2026, 22:30", "Gespräch vom 6. März 2026, 07:30"


@pytest.fixture
def talk(owner, visit):
    sent(visit(owner).post("/talk/", {"content": "I keep hens."}))
    Conversation.objects.update(created_at=BEGUN)
    return Conversation.objects.get()


@pytest.fixture
def of_tokyo(owner):
    """The person has chosen German, and a time zone far away, since the talk."""
    return lambda: PreferencesFactory(user=owner, language="de", time_zone="Asia/Tokyo")


@pytest.mark.parametrize("where", ["/", "/conversations/", "/conversations/{pk}/", "/conversations/{pk}/remove/"])
def test_it_is_named_for_its_reader_wherever_it_is_listed(visit, owner, talk, of_tokyo, where):
    address = where.format(pk=talk.pk)
    assert ENGLISH in words(visit(owner).get(address))
    of_tokyo()
    page = words(visit(owner).get(address))
    assert GERMAN in page
    assert "Talk of" not in page


def test_where_its_words_are_quoted_or_found_it_is_in_the_quotation_marks_of_the_language(visit, owner, talk, of_tokyo):
    new = NewMemory("The user keeps hens.", "context")
    said = talk.messages.get(index=0)
    memory = memory_add(principal_for_person(owner.pk), new, message_id=said.pk, insist=True).memory
    addresses = f"/memories/{memory.pk}/", "/conversations/?search=hens"
    assert [f"“{ENGLISH}”, message 1" in words(visit(owner).get(each)) for each in addresses] == [True, True]
    of_tokyo()
    assert [f"„{GERMAN}“, Nachricht 1" in words(visit(owner).get(each)) for each in addresses] == [True, True]


def test_its_title_stays_free_and_one_that_was_given_is_kept(visit, owner, talk, of_tokyo):
    assert talk.title == ""
    Conversation.objects.update(title="My hens")
    of_tokyo()
    assert "My hens" in words(visit(owner).get(f"/conversations/{talk.pk}/"))

"""A reply that is followed again tells nothing that was told before words of its conversation were withheld."""

import pytest

from accounts.queries import principal_for_person
from conversations.actions import PassagePlace, passages_withhold
from journal.models import Ledger
from journal.undo import undo
from tests import factories
from tests.conftest import with_key
from tests.language.messages_api import spoken

from .replying import address, behind, heard, say, text_of

pytestmark = pytest.mark.django_db(transaction=True)
OWED, TOLD = "I owe Karl nine thousand euros.", "Nine thousand euros to Karl is a lot."


@pytest.fixture(autouse=True)
def _model_behind_the_api(settings, server):
    behind(settings, server)


@pytest.fixture
def told(api, owner, talk, server):
    """A conversation, and the path of its reply that repeats what the person said."""
    conversation = talk(owner)
    server.answers(spoken(TOLD), spoken("It is gone."))
    answer = api(owner).post(address(conversation), {"content": OWED})
    assert text_of(heard(answer)) == TOLD
    return conversation, address(conversation, answer["Keepsake-Reply"])


def follow(client, path, after="0"):
    return [name for _, name, _ in heard(client.get(path, {"after": after}))]


@pytest.mark.parametrize("how", ["withheld", "in talk"])
def test_what_was_told_before_is_not_told_again_to_anybody(api, owner, told, how):
    conversation, path = told
    assert "token" in follow(api(owner), path)
    if how == "withheld":
        passages_withhold(principal_for_person(owner.pk), [PassagePlace(conversation.pk, 0, OWED)])
    else:
        assert "It is gone." in text_of(say(api(owner), conversation, "No, forget that."))
    assert "Karl" not in str(list(conversation.messages.values_list("content", flat=True)))
    other = with_key(factories.AgentFactory(owner=owner))
    for client in (api(owner), api(other)):
        for after in ("0", "1"):
            assert follow(client, path, after) == ["done"]


def test_the_reply_to_the_refusal_is_told_again(api, owner, told):
    conversation, _ = told
    answer = api(owner).post(address(conversation), {"content": "No, forget that."})
    heard(answer)
    assert "token" in follow(api(owner), address(conversation, answer["Keepsake-Reply"]))


def test_it_is_told_again_once_the_words_are_restored(api, owner, told):
    conversation, path = told
    before = Ledger.objects.get(pk=owner.pk).rev
    passages_withhold(principal_for_person(owner.pk), [PassagePlace(conversation.pk, 0, OWED)])
    undo(principal_for_person(owner.pk), before + 1, Ledger.objects.get(pk=owner.pk).rev)
    assert "token" in follow(api(owner), path)

"""Withheld words that an agent posts again are withheld on arrival; the person's own voice may say them again."""

import pytest

from conversations.models import Conversation, Message, Withheld
from conversations.passages import MARK
from memories.actions import memory_reject
from tests import factories
from tests.assistant.test_withholding import CELLO, SAID, dont_keep, learned, me, record, say

pytestmark = pytest.mark.django_db


@pytest.fixture
def withheld(owner):
    """A conversation with the sentence withheld."""
    talk = say(owner, SAID)
    dont_keep(owner, learned(owner, talk))
    return talk


@pytest.fixture
def elsewhere(owner, agent):
    return factories.ConversationFactory(user=owner, agent=agent)


def post(client, talk, *said):
    body = {"messages": [{"role": role, "content": content} for role, content in said]}
    answer = client.post(f"/api/v1/conversations/{talk.pk}/messages/", body, format="json")
    assert answer.status_code == 201, answer.content
    return [message["content"] for message in answer.json()["messages"]]


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
@pytest.mark.parametrize(
    "content",
    [f"By the way: {CELLO} Really.", "i play the CELLO, in an orchestra", "I play the c\u200bello in an orchestra."],
)
def test_an_agent_that_posts_withheld_words_again_brings_nothing_back(api, agent, withheld, elsewhere, role, content):
    shown = post(api(agent), elsewhere, (role, content), (role, "I play the piano at home."))
    assert MARK in shown[0]
    assert "ello" not in shown[0].lower()
    assert shown == record(elsewhere)
    assert shown[1] == "I play the piano at home."


def test_also_in_the_same_conversation_and_as_a_message_of_other_sentences(api, owner, agent, withheld):
    Conversation.objects.filter(pk=withheld.pk).update(agent=agent)
    (shown,) = post(api(agent), withheld, ("user", f"Hello. {CELLO} Bye now."))
    assert (shown.startswith("Hello."), MARK in shown, "cello" in shown) == (True, True, False)


def test_restoring_gives_back_what_was_posted_again(api, owner, agent, withheld, elsewhere):
    post(api(agent), elsewhere, ("user", CELLO))
    row = Withheld.objects.filter(conversation=elsewhere).get()
    assert api(owner).delete(f"/api/v1/withheld/{row.pk}/").status_code == 204
    assert (record(elsewhere), record(withheld)) == ([CELLO], [SAID])
    assert post(api(agent), elsewhere, ("user", CELLO)) == [CELLO]


def test_the_person_may_say_it_again_themselves(api, owner, withheld, elsewhere):
    assert post(api(owner), elsewhere, ("user", CELLO)) == [CELLO]


def test_nothing_is_withheld_of_others_or_for_short_sentences_and_questions(api, owner, agent, stranger, elsewhere):
    talk = say(owner, "Yes. How are you today? I play the cello.")
    quotes = [{"conversation": str(talk.pk), "index": 0, "quote": word} for word in ("Yes", "today", "cello")]
    api(owner).post("/api/v1/withheld/", {"passages": quotes}, format="json")
    assert record(talk)[0].replace(MARK, "").strip() == ""
    said = "Yes. How are you today?"
    assert post(api(agent), elsewhere, ("user", said)) == [said]
    assert post(api(agent), elsewhere, ("user", "I play the cello.")) == [MARK]
    theirs = factories.ConversationFactory(user=stranger)
    assert post(api(stranger), theirs, ("user", "I play the cello.")) == ["I play the cello."]


def test_what_is_only_not_true_stays_in_the_record(api, owner, agent, elsewhere):
    talk = say(owner, SAID)
    memory_reject(me(owner), learned(owner, talk).pk, "not_true")
    assert post(api(agent), elsewhere, ("user", CELLO)) == [CELLO]
    assert Message.objects.filter(conversation=elsewhere).get().content == CELLO

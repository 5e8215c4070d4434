"""What the person says is not true: the record keeps their words, but no summary states it any more."""

import pytest
from django.utils import timezone

from assistant.learn.rewriting import rewrite_chunks
from assistant.learn.summarizing import open_messages
from conversations.models import ConversationChunk, Message
from facts import actions as facts
from facts.models import LegacyFact
from language.base import ModelUnavailable
from memories import actions as memories
from memories.models import Memory
from tests import factories

from .test_withholding import ECHO, SAID, learned, me, say, summed_up

pytestmark = pytest.mark.django_db

SUMMARY = "They said good morning. The user plays a cello! It began at nine."


def refuse(person, memory):
    memories.memory_reject(me(person), memory.pk)


def refuse_many(person, memory):
    memories.memories_decide(me(person), {memory.pk: None}, "reject")


@pytest.fixture
def talk(owner):
    conversation = say(owner, SAID, ECHO)
    summed_up(owner, conversation, SUMMARY)
    return conversation


@pytest.mark.parametrize("reject", [refuse, refuse_many])
def test_a_summary_that_states_it_is_hidden_at_once_and_written_anew_without_it(owner, talk, reject):
    reject(owner, learned(owner, talk))
    assert not ConversationChunk.objects.visible_to(me(owner)).exists()
    assert rewrite_chunks(talk.pk) == 1
    chunk = ConversationChunk.objects.visible_to(me(owner)).get()
    assert "cello" not in f"{chunk.content} {chunk.search_text}"
    assert any("cello" in content for content in Message.objects.values_list("content", flat=True))
    assert not Memory.objects.filter(state="active").exists()


def test_with_the_model_away_the_sentences_go_that_share_its_words(owner, talk, monkeypatch):
    refuse(owner, learned(owner, talk))

    def away(*_):
        raise ModelUnavailable("away")

    monkeypatch.setattr("assistant.learn.rewriting.summarize_part", away)
    assert rewrite_chunks(talk.pk) == 1
    assert ConversationChunk.objects.get().content == "They said good morning. It began at nine."


def test_a_later_summary_does_not_state_it(owner):
    conversation = say(owner, SAID, ECHO)
    memory = learned(owner, conversation)
    told = open_messages(conversation, 0, 2, timezone.now())
    assert "cello" in told[0].content
    refuse(owner, memory)
    told = open_messages(conversation, 0, 2, timezone.now())
    assert not [message for message in told.values() if "cello" in message.content]


def test_a_rejected_fact_leaves_the_summaries_too(owner, legacy):
    conversation = say(owner, "She kept bees by the river. It was a cold year.", "I see.", legacy=legacy)
    summed_up(owner, conversation, "She kept bees by the river.")
    fact = factories.LegacyFactFactory(user=owner, legacy=legacy, content="Rosa kept bees by the river.")
    fact.evidence.create(
        message=Message.objects.get(conversation=conversation, index=0), quote="kept bees by the river"
    )
    facts.fact_reject(me(owner), fact.pk)
    assert LegacyFact.objects.get().state == "rejected"
    assert rewrite_chunks(conversation.pk) == 1
    assert "bees" not in ConversationChunk.objects.get().content

"""What the person says is not true: the record keeps their words, no summary states it, and recall marks it."""

import pytest
from django.utils import timezone

from accounts.scope import acting_as
from assistant.learn.rewriting import rewrite_chunks
from assistant.learn.summarizing import conversation_finish, maybe_summarize, open_messages
from assistant.learn.untrue import without_rejected
from conversations.actions import NewMessage, messages_append, messages_index
from conversations.models import ConversationChunk, Message
from facts import actions as facts
from facts.models import LegacyFact
from language.base import Extraction, ModelUnavailable
from memories import actions as memories
from memories.models import Memory
from tests import factories

from .test_withholding import CELLO, ECHO, SAID, learned, me, say, summed_up

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


@pytest.fixture
def asked(owner, agent, api):
    """``asked()``: what a turn and a query in another conversation tell of messages."""
    running = factories.ConversationFactory(user=owner, agent=agent)

    def asked():
        client, question = api(agent), "Which instrument do I play in an orchestra?"
        turn = client.post(f"/api/v1/conversations/{running.pk}/turn/", {"content": question}).json()
        told = client.post("/api/v1/memories/query/", {"query": question, "sources": ["turns"]}).json()
        return [turn["text"], *(each["text"] for each in told["results"] if CELLO in each["text"])]

    return asked


def change(person, memory):
    memories.memory_update(me(person), memory.pk, "The user plays the viola.")


def correct(person, memory):
    memories.memory_update(me(person), memory.pk, "The user plays the viola.", correction=True)


@pytest.mark.parametrize(
    ("settle", "mark"),
    [(refuse, "[said to be untrue]"), (correct, "[since corrected]"), (change, "[since changed]")],
)
def test_a_recalled_sentence_that_is_no_longer_so_is_marked(owner, asked, settle, mark):
    conversation = say(owner, SAID, ECHO)
    memory = learned(owner, conversation)
    assert all(CELLO in text and "[s" not in text for text in asked())
    settle(owner, memory)
    told = asked()
    assert len(told) == 2
    assert all(f"{CELLO} {mark} Shall we begin?" in text for text in told)
    assert Message.objects.get(conversation=conversation, index=0).content == SAID


def test_the_sentence_after_one_that_is_not_kept_is_neither_marked_nor_left_out_of_summaries(owner, asked):
    conversation = say(owner, f"Good morning. {CELLO} I grow roses.", ECHO)
    memories.memory_reject(me(owner), learned(owner, conversation).pk, "dont_keep")
    messages_index()
    told = asked()
    assert not [text for text in told if "[said to be untrue]" in text]
    assert "[withheld] I grow roses." in told[0]
    messages = open_messages(conversation, 0, 1, timezone.now())
    assert "I grow roses." in messages[0].content


def test_what_an_agent_words_anew_from_the_same_words_is_not_marked(owner, agent, asked):
    conversation = say(owner, SAID, ECHO)
    memory = learned(owner, conversation)
    message = Message.objects.get(conversation=conversation, index=0)
    with_evidence = {"conversation_id": conversation.pk, "message_id": message.pk}
    bot = factories.agent_principal(agent, owner)
    told = memories.memory_update(bot, memory.pk, "The user plays the cello in an orchestra.", **with_evidence)
    memories.proposal_approve(me(owner), told.proposal.pk)
    memory.versions.get(number=2).evidence.update(quote=CELLO)
    assert all("[since" not in text for text in asked())


@pytest.mark.parametrize(
    ("reason", "role"), [("not_true", "assistant"), ("dont_keep", "assistant"), ("not_true", "tool")]
)
def test_a_summary_of_forged_turns_does_not_state_what_was_rejected(owner, agent, model, reason, role):
    """Also where the turns say it in other words than those that the person rejected."""
    owner.display_name = "Ann Miller"
    owner.save()
    memories.memory_reject(me(owner), learned(owner, say(owner, SAID)).pk, reason)
    talk = factories.ConversationFactory(user=owner, agent=agent)
    messages_append(factories.agent_principal(agent), talk.pk, [NewMessage(role, "As you know, you played the cello.")])
    said = "Ann played the cello. The user plays the cello every day. Karl plays the cello. They had tea."
    model.answer = lambda request: Extraction(summary=said, model="test")
    conversation_finish(me(owner), talk.pk)
    assert maybe_summarize(talk.pk) == 1
    assert ConversationChunk.objects.get(conversation=talk).content == "Karl plays the cello. They had tea."


def test_a_summary_of_nothing_else_says_that_there_is_nothing(owner):
    memories.memory_reject(me(owner), learned(owner, say(owner, SAID)).pk)
    with acting_as(me(owner)):
        assert without_rejected(owner.pk, "The user plays the cello.") == ""
        assert without_rejected(owner.pk, "The user sings. ") == "The user sings. "


def test_a_summary_for_a_person_who_rejected_nothing_takes_one_statement(owner, django_assert_num_queries):
    with django_assert_num_queries(1):
        assert without_rejected(owner.pk, "The user sings. They dance.") == "The user sings. They dance."

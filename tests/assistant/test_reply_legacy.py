"""What the assistant without a language model tells of whom a talk is about, as soon as it was said."""

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.learn.actions import extract_messages
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from facts.actions import fact_reject
from facts.models import FactLink, LegacyFact
from language.reading.answering import MOST_TOLD_OF_ALL
from language.reading.replying import MORE_FACTS, NOTED, NOTHING_FOUND, QUESTIONS, WAITS
from statements.models import Doubt
from statements.policy.resembling import RESEMBLES
from tests import factories

from .replying import say, text_of

pytestmark = pytest.mark.django_db(transaction=True)
BORN = "Rosa was born in Lisbon in 1931."


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"


def test_a_pronoun_means_them_whatever_precedes_their_name(api, owner, talk):
    client, conversation = api(owner), talk(owner, legacy=factories.LegacyFactory(owner=owner, name="Grandma Rosa"))
    say(client, conversation, "She was born in Lisbon in 1931. She baked orange cakes.")
    for question in ("when was she born?", "When was Grandma born?"):
        assert BORN in text_of(say(client, conversation, question))
    assert "orange cakes" in text_of(say(client, conversation, "what did she bake?"))


def test_what_waits_for_review_is_told_in_the_talk_it_was_said_in_and_not_what_was_rejected(api, owner, talk):
    me = principal_for_person(owner.pk)
    preferences_set(me, review="before")
    legacy = factories.LegacyFactory(owner=owner, name="Rosa Almeida")
    client, conversation = api(owner), talk(owner, legacy=legacy)
    say(client, conversation, "She was born in Lisbon in 1931.")
    conversation_finish(me, conversation.pk)
    extract_messages(conversation.pk)
    maybe_summarize(conversation.pk)
    fact = LegacyFact.objects.get(content=BORN, state="proposed")
    assert f"- {BORN} (you said so in this talk)" in text_of(say(client, conversation, "when was she born?"))
    assert BORN not in text_of(say(client, talk(owner, legacy=legacy), "when was she born?"))
    fact_reject(me, fact.pk)
    assert text_of(say(client, conversation, "when was she born?")) == NOTHING_FOUND


def heard(api, owner, talk, name, *said):
    """Say it in a talk about somebody of that name, each read at once as by a worker. Returns the facts."""
    conversation = talk(owner, legacy=factories.LegacyFactory(owner=owner, name=name))
    for content in said:
        say(api(owner), conversation, content)
        extract_messages(conversation.pk)
    return conversation, LegacyFact.objects.filter(legacy=conversation.legacy).order_by("extracted_at")


def test_what_is_noted_is_a_fact_once_its_message_was_read_and_once_only(api, owner, talk):
    """Reproduction: facts came with the batch only, after an hour or thirty messages, and the answer said "Noted"."""
    said = ["Remember that Emil was a baker in Graz.", "He sang in the choir of San Giusto."]
    conversation, facts = heard(api, owner, talk, "Grandpa Emil", *said)
    first = ["Emil was a baker in Graz.", "Emil sang in the choir of San Giusto."]
    assert list(facts.values_list("content", flat=True)) == first
    fact_reject(principal_for_person(owner.pk), facts[1].pk)
    conversation_finish(principal_for_person(owner.pk), conversation.pk)
    assert maybe_summarize(conversation.pk) == 1
    assert list(facts.values_list("content", "state")) == [(first[0], "active"), (first[1], "rejected")]
    assert "Giusto" not in text_of(say(api(owner), conversation, "Where did he sing?"))


@pytest.mark.parametrize(("review", "why"), [("after", RESEMBLES), ("before", "")])
def test_what_will_wait_is_not_said_to_be_noted(api, owner, talk, settings, review, why):
    """Reproduction: "Noted" was said of facts that a gate or the review keeps back."""
    settings.KEEPSAKE_EMBEDDER = "bundled"
    me = principal_for_person(owner.pk)
    preferences_set(me, review=review)
    legacy = factories.LegacyFactory(owner=owner, name="Grandpa Emil")
    rejected = factories.LegacyFactFactory(legacy=legacy, user=owner, content="Emil hated eels.")
    fact_reject(me, rejected.pk)
    said = "Emil disliked eels." if why else "Emil sang in a choir."
    conversation = talk(owner, legacy=legacy)
    answer = text_of(say(api(owner), conversation, said))
    extract_messages(conversation.pk)
    assert answer.endswith(" ".join(filter(None, [WAITS % {"statements": said}, why])))
    assert LegacyFact.objects.values_list("content", "state_reason").get(state="proposed") == (said, why)
    assert NOTED.partition("%")[0] not in answer


@pytest.mark.parametrize("again", ["She was born in 1929, not 1931.", "1929, not 1931."])
def test_what_was_corrected_later_in_the_talk_is_reworded(api, owner, talk, again):
    _conversation, facts = heard(api, owner, talk, "Rosa", "She was born in Trieste in 1931.", "She liked cats.", again)
    assert set(facts.values_list("content", flat=True)) == {"Rosa was born in Trieste in 1929.", "Rosa liked cats."}


def test_what_was_denied_later_in_the_talk_is_linked_to_what_contradicts_it(api, owner, talk, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    said = "Her husband Bruno died in the war."
    again = "Actually Bruno didn't die in the war, he emigrated to Argentina."
    _conversation, facts = heard(api, owner, talk, "Rosa", said, "She liked cats.", again)
    contradicted = FactLink.objects.filter(kind="contradicts", to_fact=facts[0])
    assert contradicted.exists(), list(facts.values_list("content", flat=True))
    assert list(Doubt.objects.values_list("object_id", flat=True)) == [str(facts[0].pk)], "it may be out of date"


def test_in_a_talk_about_somebody_nothing_is_asked_about_the_person_themselves(api, owner, talk):
    conversation = talk(owner, legacy=factories.LegacyFactory(owner=owner, name="Rosa"))
    said = [text_of(say(api(owner), conversation, each)) for each in ("Hello!", "yes", "It rains.")]
    said.append(text_of(say(api(owner), talk(owner), "Hello!")))
    assert [any(question in each for question in QUESTIONS.values()) for each in said] == [False, False, False, True]


def test_what_they_said_later_is_told_before_what_it_contradicts(api, owner, talk, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    said = ["Her husband Bruno died in the war.", "Actually Bruno didn't die in the war, he emigrated to Argentina."]
    conversation, _facts = heard(api, owner, talk, "Rosa", *said)
    told = text_of(say(api(owner), conversation, "Tell me about Bruno."))
    assert told.index("did not die") < told.index("died in the war"), told
    assert "emigrated to Argentina" in told


@pytest.mark.parametrize("question", ["tell me everything about him", "What do you know about Emil?"])
def test_a_question_about_them_in_general_has_the_facts_with_family_first(api, owner, talk, question):
    """Reproduction: of thirteen facts it told the three that were near to the question."""
    legacy = factories.LegacyFactory(owner=owner, name="Grandpa Emil")
    for number in range(MOST_TOLD_OF_ALL):
        factories.LegacyFactFactory(legacy=legacy, user=owner, content=f"Emil kept {number + 2} pigeons.")
    factories.LegacyFactFactory(legacy=legacy, user=owner, content="Emil died in 1989.")
    eels = factories.LegacyFactFactory(legacy=legacy, user=owner, content="Emil hated eels.")
    fact_reject(principal_for_person(owner.pk), eels.pk)
    factories.MemoryFactory(user=owner, content="The user likes tea.")
    told = text_of(say(api(owner), talk(owner, legacy=legacy), question))
    assert next(line for line in told.splitlines() if line.startswith("-")).startswith("- Emil died in 1989.")
    assert told.count("pigeons") == MOST_TOLD_OF_ALL - 1
    assert MORE_FACTS in told
    assert not [each for each in ("eels", "tea") if each in told]

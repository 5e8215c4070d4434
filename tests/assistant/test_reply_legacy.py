"""What the assistant without a language model tells of whom a talk is about, as soon as it was said."""

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from assistant.learn.actions import extract_messages
from assistant.learn.summarizing import conversation_finish, maybe_summarize
from facts.actions import fact_reject
from facts.models import LegacyFact
from language.reading.replying import NOTHING_FOUND
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

"""What speaks for a message whatever is asked."""

import pytest

from conversations.models import Message
from conversations.searching import message_prior
from retrieval.weights import SearchWeights
from tests import factories

pytestmark = pytest.mark.django_db

WEIGHTS = SearchWeights(standing=2.0, machine=3.0)


def prior_of(content, config="english", **values):
    message = factories.MessageFactory(content=content, **values)
    Message.objects.filter(pk=message.pk).update(search_config=config)
    return Message.objects.annotate(prior=message_prior(WEIGHTS)).get(pk=message.pk).prior


@pytest.mark.parametrize(
    "content",
    [
        "Always give the date when I ask about meetings.",
        "please never use tables",
        "Whenever I ask about code, show the types.",
        "I'd rather read on paper, can you help me choose?",
        "I’m choosing books. I prefer e-books for the train.",
        "So, I would much prefer the morning.",
    ],
)
def test_what_the_person_wants_from_now_on_gains(content):
    assert prior_of(content, role="user") == 2


@pytest.mark.parametrize(
    ("content", "role", "speaker", "prior"),
    [
        ("I have always lived here and never moved.", "user", "", 0),
        ("It was rather cold, and she prefers tea.", "user", "", 0),
        ("We planted trees.", "user", "Rosa", 0),
        ("Always give the date.", "assistant", "", -3),
        ("Always give the date.", "assistant", "Emil", 0),
        ("3 rows", "tool", "", -3),
        ("x" * 400 + " I prefer tea", "user", "", 0),
    ],
)
def test_who_said_it_and_how_decides(content, role, speaker, prior):
    assert prior_of(content, role=role, speaker=speaker) == prior


def test_a_text_of_unknown_language_is_read_too():
    assert prior_of("Always use metres", "simple", role="user") == 2

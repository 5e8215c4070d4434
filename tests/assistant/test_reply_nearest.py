"""Which memory the assistant without a language model names as the nearest where none answers a question."""

import pytest

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from language.reading.replying import NEAREST, NOTHING_FOUND
from tests import factories

from .replying import say, text_of

pytestmark = pytest.mark.django_db(transaction=True)
KNOWN = (
    "The user is hard of hearing in the left ear.",
    "The user works as a pharmacist.",
    "The user lives in Kiel.",
    "The user is allergic to peanuts.",
    "The user prefers short answers.",
    "The user's husband is called Georg.",
)


@pytest.fixture
def ask(api, owner, talk):
    def ask(question, *known):
        for content in known:
            factories.MemoryFactory(user=owner, content=content)
        return text_of(say(client, conversation, question))

    client, conversation = api(owner), talk(owner)
    with embedder_replaced(BundledEmbedder()):
        say(client, conversation, "Hello.")
        yield ask


def test_what_is_near_to_any_question_is_named_for_none(ask):
    """Reproduction: one short memory was "the nearest" to whatever was asked."""
    ask("Hello.", *KNOWN)
    for question in ("what car do I drive?", "what is my blood type?", "where did I park?", "what is my shoe size?"):
        assert ask(question) == NOTHING_FOUND


def test_what_is_near_in_meaning_is_named(ask):
    ask("Hello.", *KNOWN)
    assert ask("what car do I have?", "The user drives an old Volvo.").startswith(
        f"{NEAREST}\n- You drive an old Volvo."
    )

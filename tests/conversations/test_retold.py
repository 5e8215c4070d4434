"""What an agent's message says in other words of what a person refused is withheld once the message has its vector."""

import json

import pytest
from django.utils import timezone

from conversations.actions import messages_index
from conversations.models import Conversation, Message, Withheld
from conversations.passages import MARK
from journal.models import Change
from language.base import EmbedderUnavailable
from language.embedders.e5.embedder import BundledEmbedder
from memories.actions import memory_add, memory_reject
from memories.records import NewMemory
from statements.models import RejectionReason
from tests import factories
from tests.assistant.test_withholding import me
from tests.conftest import with_key
from tests.conversations.test_said_again import post

pytestmark = pytest.mark.django_db

DEBT = "The user owes their brother Karl 9,000 euros."
TREATED = "The user was treated for a gambling addiction."
RAIN = "It rains in Ghent today."


@pytest.fixture(autouse=True)
def bundled(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


@pytest.fixture
def elsewhere(owner, agent):
    return factories.ConversationFactory(user=owner, agent=agent)


def reject(owner, *contents, reason=RejectionReason.DONT_KEEP):
    rejected = []
    for content in contents:
        memory = memory_add(me(owner), NewMemory(content=content, category="context")).memory
        rejected.append(memory_reject(me(owner), memory.pk, reason=reason))
    return rejected


@pytest.fixture
def refused(owner):
    return reject(owner, DEBT, TREATED)


def shown(talk):
    return list(Message.objects.filter(conversation=talk).order_by("index").values_list("content", flat=True))


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
@pytest.mark.parametrize(
    ("said", "left"),
    [
        (f"{RAIN} Your brother Karl lent you €9,000 and you haven't returned it.", f"{RAIN} {MARK}"),
        ("Du musst deinem Bruder Karl noch 9000 Euro zurückzahlen.", MARK),
        (json.dumps({"debt": {"to": "brother Karl", "eur": 9000}}), MARK),
        (f"You used to be addicted to gambling and went through treatment. {RAIN}", f"{MARK} {RAIN}"),
    ],
)
def test_a_paraphrase_in_an_agents_message_is_withheld_with_its_vector(
    api, agent, refused, elsewhere, role, said, left
):
    """Reproduction: only words were compared, so other words, another language or JSON was stored and recalled."""
    post(api(agent), elsewhere, (role, said), (role, RAIN))
    messages_index()
    assert shown(elsewhere) == [left, RAIN]
    messages_index()
    rows = Message.objects.filter(conversation=elsewhere)
    assert [row.embedding is None for row in rows.order_by("index")] == [left == MARK, False]
    assert not rows.filter(unjudged=True).exists()


@pytest.mark.parametrize(
    "said",
    [
        "Your brother Karl is coming to lunch on Sunday.",
        "I can plan a budget of 9,000 euros with you.",
        "Was the game last night any good?",
        json.dumps({"weather": {"city": "Ghent", "degrees": 9}}),
    ],
)
def test_what_says_something_else_stays(api, agent, refused, elsewhere, said):
    post(api(agent), elsewhere, ("assistant", said))
    messages_index()
    assert shown(elsewhere) == [said]


def test_it_is_told_and_comes_back_for_good(api, owner, agent, refused, elsewhere):
    said = "Your brother Karl lent you €9,000 and you haven't returned it."
    post(api(agent), elsewhere, ("assistant", said))
    messages_index()
    (row,) = Withheld.objects.filter(user=owner)
    assert (row.cause_type, row.cause_id, row.text) == ("memory", refused[0].pk, said)
    assert Change.objects.filter(event="WITHHOLD", object_type="message", object_id=row.message_id).exists()
    assert api(owner).delete(f"/api/v1/withheld/{row.pk}/").status_code == 204
    messages_index()
    assert shown(elsewhere) == [said]


def test_only_what_is_not_to_be_kept_is_withheld(api, owner, agent, elsewhere):
    reject(owner, DEBT, reason=RejectionReason.NOT_TRUE)
    said = "Your brother Karl lent you €9,000 and you haven't returned it."
    post(api(agent), elsewhere, ("assistant", said))
    messages_index()
    assert shown(elsewhere) == [said]


def test_the_persons_own_words_and_their_own_assistants_stay(api, owner, agent, refused):
    said = "Your brother Karl lent you €9,000 and you haven't returned it."
    own = factories.ConversationFactory(user=owner)
    post(api(owner), own, ("user", "Karl lent me €9,000 and I haven't returned it."), ("assistant", said))
    theirs = factories.ConversationFactory(user=owner, agent=agent)
    post(api(agent), theirs, ("user", "Karl lent me €9,000 and I haven't returned it."))
    messages_index()
    assert shown(own)[1] == said
    assert MARK not in shown(theirs)


def test_a_narrowed_agent_learns_nothing_by_it(api, owner, refused):
    narrowed = with_key(factories.AgentFactory(owner=owner, role="planner"))
    talk = factories.ConversationFactory(user=owner, agent=narrowed)
    said = "Your brother Karl lent you €9,000 and you haven't returned it."
    post(api(narrowed), talk, ("assistant", said))
    messages_index()
    assert shown(talk) == [said]
    assert Message.objects.get(conversation=talk).memory_off


def test_the_embedder_comes_back_and_the_message_is_judged(api, agent, refused, elsewhere, monkeypatch):
    def away(*_args):
        raise EmbedderUnavailable

    post(api(agent), elsewhere, ("assistant", "Your brother Karl lent you €9,000 and you haven't returned it."))
    with monkeypatch.context() as patch:
        patch.setattr(BundledEmbedder, "read_passages", away)
        assert messages_index() == 0
    row = Message.objects.get(conversation=elsewhere)
    assert row.unjudged
    assert row.embedding is None
    Message.objects.update(index_not_before=row.created_at)
    messages_index()
    assert shown(elsewhere) == [MARK]


def test_nobody_who_refused_nothing_is_compared(api, agent, elsewhere, django_assert_max_num_queries):
    post(api(agent), elsewhere, ("assistant", RAIN))
    with django_assert_max_num_queries(10):
        messages_index()
    assert not Message.objects.filter(unjudged=True).exists()
    assert Conversation.objects.get(pk=elsewhere.pk).message_count == 1


def test_advice_about_the_matter_stays(api, owner, agent, elsewhere):
    """What merely comes near lets a statement wait, but an agent speaks of many things."""
    reject(owner, "The user has anxiety.", "The user has an affair with a colleague.")
    said = "Address any questions or concerns. Set up a meeting with your colleague and share your codebase."
    post(api(agent), elsewhere, ("assistant", said))
    messages_index()
    assert shown(elsewhere) == [said]


def test_of_an_inactive_person_it_waits_without_a_vector(api, owner, agent, refused, elsewhere):
    post(api(agent), elsewhere, ("assistant", "Du musst deinem Bruder Karl noch 9000 Euro zurückzahlen."))
    type(owner).objects.filter(pk=owner.pk).update(is_active=False)
    messages_index()
    row = Message.objects.filter(conversation=elsewhere)
    assert list(row.values_list("unjudged", "embedding")) == [(True, None)]
    type(owner).objects.filter(pk=owner.pk).update(is_active=True)
    row.update(index_not_before=timezone.now())
    messages_index()
    assert shown(elsewhere) == [MARK]

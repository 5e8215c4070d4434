"""Short answers that decide: whether what is doubted still holds, undo of the last change, and narrow refusals."""

import pytest

from accounts.queries import principal_for_person
from assistant.reply.hearing import as_told
from conversations.models import Message
from journal.actions import ledger_write
from journal.models import Change
from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from language.reading.replying import DECIDED, NOT_KEPT
from memories.actions import memory_add, memory_update, record_doubt
from memories.records import NewMemory, Said
from statements.models import Doubt
from tests import factories

from .replying import record, remembered, telling

pytestmark = pytest.mark.django_db(transaction=True)
CAT = "The user's cat is called Momo."


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"


@pytest.fixture
def doubted(tell, owner):
    with embedder_replaced(BundledEmbedder()):
        memory_add(principal_for_person(owner.pk), NewMemory(CAT, "person"))
        assert "Does it still hold?" not in tell("Momo died on Friday, we buried her under the lilac.")
        assert remembered() == [CAT]
        told = tell("Yes")
    assert "This waits for your answer: Your cat is called Momo. Does it still hold?" in told
    assert Doubt.objects.open_of(owner.pk, "memory").count() == 1


@pytest.mark.usefixtures("doubted")
def test_a_yes_settles_what_is_asked_to_hold(tell, owner):
    assert tell("Yes") == "Good, I keep that: Your cat is called Momo."
    assert CAT in remembered()
    assert not Doubt.objects.open_of(owner.pk, "memory").exists()


@pytest.mark.usefixtures("doubted")
def test_a_no_puts_it_away(tell, owner):
    assert tell("No") == "I have put that away: Your cat is called Momo."
    assert CAT not in remembered()
    assert not Doubt.objects.open_of(owner.pk, "memory").exists()


@pytest.mark.usefixtures("doubted")
def test_what_a_no_put_away_is_undone(tell):
    """Reproduction: "All right, I keep nothing of that.", and the no was withheld."""
    tell("No")
    assert tell("undo that") == "Undone. Now I have again: Your cat is called Momo."
    assert CAT in remembered()
    assert Message.objects.filter(content__contains="[withheld]").count() == 0


def test_after_an_update_that_also_asks_it_is_the_update_that_is_undone(tell, owner):
    """Reproduction: "All right, I keep nothing of that.", and the cello was gone with the viola."""
    with embedder_replaced(BundledEmbedder()):
        memory_add(principal_for_person(owner.pk), NewMemory("The user plays the cello in an orchestra.", "interests"))
        told = tell("I swapped the cello for a viola in March, my shoulder is much happier.")
        assert "Updated: You play the viola in an orchestra." in told
        assert told.endswith("?")
        assert tell("undo that").startswith("Undone. Now I have again: You play the cello in an orchestra.")
    assert remembered() == ["The user plays the cello in an orchestra."]


@pytest.mark.usefixtures("doubted")
def test_a_yes_to_something_else_settles_nothing(tell, owner):
    tell("I'm so tired today.")
    tell("Yes")
    assert Doubt.objects.open_of(owner.pk, "memory").count() == 1


@pytest.mark.parametrize("said", ["undo that", "Please revert the last change.", "can you undo it?", "no I said undo"])
def test_the_last_change_is_undone_and_told(tell, owner, said):
    memory = factories.MemoryFactory(user=owner, content="Sarah works on the Platform team.", subject="Sarah")
    assert "Updated: Sarah works on the Design team." in tell("Sarah works on the Design team now.")
    assert tell(said) == "Undone. Now I have again: Sarah works on the Platform team."
    memory.refresh_from_db()
    assert memory.content == "Sarah works on the Platform team."
    assert "Design team now" in Message.objects.get(index=0).content


@pytest.mark.parametrize("embedder", ["hashing", "bundled"])
def test_without_a_change_it_says_where_they_are(tell, settings, embedder):
    settings.KEEPSAKE_EMBEDDER = embedder
    tell("What is my mother called?")
    assert tell("Undo that") == DECIDED["nothing"]
    assert Message.objects.get(index=0).content == "What is my mother called?"


def test_undo_right_after_the_question_whether_to_keep_it_refuses_it(tell):
    tell("Alec is my boss by the way.")
    assert tell("Undo that.") == NOT_KEPT
    assert "Alec" not in Message.objects.get(index=0).content


def test_undo_withdraws_a_question_that_is_still_open_and_not_what_was_kept_before_it(tell):
    """Reproduction: "Undone. I no longer have: You are allergic to nuts."."""
    with embedder_replaced(BundledEmbedder()):
        tell("Remember that I am allergic to nuts.")
        assert tell("I moved to Perth.") == "Shall I remember that you moved to Perth?"
        tell("What am I allergic to?")
        assert tell("undo") == NOT_KEPT
        assert remembered() == ["The user is allergic to nuts."]
        tell("yes")
    assert "Perth" not in record().replace("that you moved to Perth?", "")
    assert remembered() == ["The user is allergic to nuts."]


def test_undo_of_a_refusal_gives_the_words_back_and_asks_again(tell):
    """Reproduction: "In this talk I find no change to undo.", and the words stayed withheld."""
    tell("I have a dog called Bram.")
    assert tell("no") == NOT_KEPT
    assert tell("undo that") == (
        "Undone. What you said is there again: “I have a dog called Bram.” Shall I remember that you have a dog called "
        "Bram?"
    )
    assert Message.objects.get(index=0).content == "I have a dog called Bram."
    tell("yes")
    assert remembered() == ["The user has a dog called Bram."]


def test_undo_takes_back_what_happened_last_not_what_was_changed_before(tell, owner):
    """Reproduction: after a no to what was asked beside it, the correction was undone."""
    factories.MemoryFactory(user=owner, content="The user's sister Lise lives in Ghent.")
    told = tell("My sister Lise lives in Antwerp now. I have a dog called Bram.")
    assert "Updated: Your sister Lise lives in Antwerp." in told
    assert tell("no") == NOT_KEPT
    assert tell("undo that").startswith("Undone. What you said is there again: “My sister Lise lives in Antwerp now.")
    assert remembered() == ["The user's sister Lise lives in Antwerp."]


def test_what_was_stored_before_a_question_is_undone_and_the_wish_is_no_news(tell):
    """Reproduction: nothing was undone, and "The user no longer plays the cello." was stored."""
    with embedder_replaced(BundledEmbedder()):
        tell("Remember that I play the cello.")
        tell("What do you know about me?")
        assert tell("undo that") == "Undone. I no longer have: You play the cello."
    assert remembered() == []


def test_what_was_changed_elsewhere_since_is_not_undone(tell, owner):
    memory = factories.MemoryFactory(user=owner, content="The user's sister Lise lives in Ghent.")
    tell("Remember that I play the cello.")
    tell("What do you know about me?")
    memory_update(principal_for_person(owner.pk), memory.pk, "The user's sister Lise lives in Antwerp.")
    assert tell("undo that") == "Undone. I no longer have: You play the cello."
    assert remembered() == ["The user's sister Lise lives in Antwerp."]


def test_a_fact_and_its_correction_are_undone(api, owner, talk):
    tell = telling(api(owner), talk(owner, legacy=factories.LegacyFactory(owner=owner, name="Henk")))
    tell("Henk kept bees.")
    tell("What do you know about Henk?")
    assert tell("Take that back.") == "Undone. I no longer have: Henk kept bees."
    tell("Henk had four children.")
    assert "Updated: Henk had five children." in tell("Actually it was five children.")
    assert tell("oops, undo that please") == "Undone. Now I have again: Henk had four children."


def test_a_clause_takes_no_memory_that_shares_its_topic_only(tell):
    tell("In between I finished the model of the 1952 tram and my sister Margriet came to stay.")
    tell("Yes")
    before = remembered()
    assert before
    tell("Don't remember that I was a tram driver.")
    assert remembered() == before
    assert "1952 tram" in Message.objects.get(index=0).content


def test_what_was_confirmed_of_the_same_sentence_stays_without_a_word_of_what_is_named(tell):
    tell("My brother Paul lives in Graz and I am afraid of thunderstorms.")
    tell("Yes")
    assert len(remembered()) == 2
    tell("Forget that I am afraid of thunderstorms.")
    assert remembered() == ["The user's brother Paul lives in Graz."]


@pytest.fixture
def relayed(api, agent, owner):
    """What an agent's key tells the assistant, which may not decide for the person."""
    return telling(api(agent), factories.ConversationFactory(user=owner, agent=agent))


def test_an_agent_that_relays_undo_is_told_that_the_person_can(relayed, owner, agent):
    """Reproduction: "I see, thank you."."""
    memory = factories.MemoryFactory(
        user=owner, agent=agent, content="Sarah works on the Platform team.", subject="Sarah"
    )
    assert "Updated: Sarah works on the Design team." in relayed("Sarah works on the Design team now.")
    assert relayed("undo that") == DECIDED["not_yours"]
    memory.refresh_from_db()
    assert memory.content == "Sarah works on the Design team."


@pytest.mark.usefixtures("doubted")
def test_what_one_no_put_away_comes_back_together(tell, owner):
    """Reproduction: only the last of the memories came back."""
    cats = [CAT, "The user feeds Momo at six."]
    with embedder_replaced(BundledEmbedder()):
        fed = memory_add(principal_for_person(owner.pk), NewMemory(cats[1], "activity")).memory
    raised = Change.objects.get(event="DOUBT")
    person, said = principal_for_person(owner.pk), Said(raised.meta["message"], "", raised.at)
    with ledger_write(person.actor, owner.pk) as write:
        record_doubt(write, person, fed.pk, version=1, conversation_id=raised.conversation_id, said=said)
    assert tell("No") == "I have put that away: Your cat is called Momo. You feed Momo at six."
    other = memory_add(principal_for_person(owner.pk), NewMemory("The user plays the cello.", "interests"))
    assert not set(cats) & set(remembered())
    told = tell("undo that")
    assert told == "Undone. Now I have again: Your cat is called Momo. You feed Momo at six."
    assert set(cats) < set(remembered())
    assert other.memory.content in remembered()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("The user loves climbing, jazz and coriander.", "Please forget about coriander."),
        ("I love climbing and hate coriander", "Forget that I hate coriander."),
    ],
)
def test_a_memory_that_says_more_than_what_is_to_be_forgotten_is_told(tell, owner, content, said):
    """Reproduction: "All right, I keep nothing of that.", and the memory stayed."""
    with embedder_replaced(BundledEmbedder()):
        memory_add(principal_for_person(owner.pk), NewMemory(content, "context"))
        tell("What do you know about me?")
        told = tell(said)
        assert told.startswith("Of that I still remember: ")
        assert as_told(content) in told
    assert remembered() == [content]

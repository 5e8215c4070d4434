"""What the assistant without a language model says of secrets, of who sees what, and of rules for later."""

import pytest

from conversations.models import Message
from language.reading.refusals import asks_for_rule, asks_for_secrecy, asks_who_sees, only_asks_for_secrecy
from language.reading.stock import ASKS_FIRST, FORGETS, NO_RULE, NOT_KEPT, SAID_ELSEWHERE, SECRET, SECRET_KEPT, WHO_SEES
from tests import factories
from tests.timing import allowed, processor_seconds

from .replying import record, remembered, telling

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _bundled(settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"


@pytest.mark.parametrize(
    "secret",
    [
        "Can you keep a secret? I am planning to leave my job in March.",
        "Don't tell anyone, but I was once arrested in Rome.",
        "I'll tell you a secret: I am allergic to work.",
    ],
)
def test_a_secret_is_neither_asked_about_nor_stored_and_can_be_taken_out_or_remembered(api, owner, talk, secret):
    """Reproduction: the question was answered as one about the person, and the secret asked about at once."""
    tell = telling(api(owner), talk(owner))
    assert tell(secret).endswith(SECRET_KEPT)
    assert (remembered(), Message.objects.get(index=0).held_until) == ([], None)
    assert tell("Don't keep that.") == NOT_KEPT
    assert secret not in record()
    assert "I will remember" in tell("Remember that I am allergic to wasps.")
    assert remembered() == ["The user is allergic to wasps."]


def test_what_is_to_be_forgotten_and_told_in_another_conversation_is_not_said_to_be_gone(api, owner, talk):
    """Reproduction: "I keep nothing of that", and the next question was answered from the other conversation."""
    telling(api(owner), talk(owner))("I started pottery classes on Thursdays.")
    tell = telling(api(owner), talk(owner))
    tell("Hello")
    assert tell("Forget about the pottery.") == f"{NOT_KEPT} {SAID_ELSEWHERE['stays']}"
    assert SAID_ELSEWHERE["stays"] not in tell("Forget about the harp.")
    assert tell("Forget everything about my pottery.") == f"{NOT_KEPT} {SAID_ELSEWHERE['gone']}"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Can you keep a secret?", SECRET),
        ("Can I tell you a secret?", SECRET),
        ("Okay, I'll tell you a secret.", SECRET),
        ("I have a secret to tell you.", SECRET),
        ("I have a secret. Can you keep it?", SECRET),
        ("May I tell you something in confidence, please?", SECRET),
        ("Who can see what I tell you?", WHO_SEES),
        ("Who sees this?", WHO_SEES),
        ("Are my messages private?", WHO_SEES),
        ("Do you share this with anyone?", WHO_SEES),
        ("Nothing about my wife, ever, ok?", f"{NO_RULE} {ASKS_FIRST} {FORGETS}"),
        ("Never remember anything about my health.", f"{NO_RULE} {ASKS_FIRST} {FORGETS}"),
    ],
)
def test_questions_about_discretion_are_not_looked_up(api, owner, talk, question, answer):
    factories.MemoryFactory(user=owner, content="The user keeps a chipped pot.")
    tell = telling(api(owner), talk(owner))
    tell("Hello")
    assert tell(question) == answer
    assert remembered() == ["The user keeps a chipped pot."]


def test_a_rule_declines_what_is_asked_and_says_that_it_binds_nothing_later(api, owner, talk):
    tell = telling(api(owner), talk(owner))
    tell("My wife is called Ines.")
    assert tell("Nothing about my wife, ever, ok?") == f"{NOT_KEPT} {NO_RULE}"
    assert remembered() == []
    assert "Ines" in tell("My wife is called Ines.")


def test_what_only_sounds_like_discretion_is_none():
    ordinary = (
        "I can keep a secret.",
        "Don't mention it.",
        "Don't tell me you forgot.",
        "What's the secret of a good risotto?",
        "Nothing about my wife is easy.",
        "Nothing about it ever worked.",
        "Who can see the sea from the window?",
        "I don't tell anyone my age.",
        "I have a secretary called Ann.",
        "I have a secret recipe for rye bread.",
        "I'll tell you a secret ingredient of mine.",
        "Promise me you'll tell me the truth.",
        "Promise you won't tell me how it ends.",
        "The twins are six, you can't tell them apart.",
        "You can't tell if it's raining.",
        "You cannot tell whether he sleeps.",
        "Will you show me my memories?",
        "Would you tell me my age?",
        "Can my son learn it?",
    )
    found = (asks_for_secrecy, only_asks_for_secrecy, asks_who_sees, asks_for_rule)
    assert [text for text in ordinary if any(each(text) for each in found)] == []


@pytest.mark.parametrize(
    "said",
    [
        "I have a secret: I was married before.",
        "I have a secret that I never told.",
        "You can't tell anyone that I was married before.",
        "You cannot tell my wife.",
        "You can't share this with anyone.",
        "Promise me you won't tell my wife.",
        "Swear that you will never tell.",
        "She made me promise not to tell anyone.",
    ],
)
def test_what_is_told_as_a_secret_is_one(said):
    assert asks_for_secrecy(said)
    assert not only_asks_for_secrecy(said)


@pytest.mark.parametrize("question", ["Can my son see it?", "Will you tell my wife?", "Do you show this to anyone?"])
def test_who_sees_it_is_asked_of_others(question):
    assert asks_who_sees(question)


def test_a_long_word_is_soon_known_to_be_no_rule():
    """Reproduction: 800 letters took 7 s, and the time grew with the cube of their number."""
    text = f"nothing about my {'a' * 800}!b"
    assert processor_seconds(lambda: asks_for_rule(text)) < allowed(0.1)


@pytest.mark.parametrize("said", ["bye", "shut up", "I give up", "finished"])
def test_nothing_that_is_known_ends_by_small_talk(api, owner, talk, said):
    """Reproduction: "bye" was answered "Updated: You are no longer eighty-one years old"."""
    known = ["The user is allergic to shellfish.", "The user is eighty-one years old.", "The user is learning Polish."]
    for content in known:
        factories.MemoryFactory(user=owner, content=content)
    answer = telling(api(owner), talk(owner))(said)
    assert remembered() == known
    assert not [each for each in ("Updated", "still hold") if each in answer]


def test_a_question_about_the_weather_leaves_the_offer_open(api, owner, talk):
    tell = telling(api(owner), talk(owner))
    tell("My mum lives in Leeds.")
    assert NOT_KEPT not in tell("Is it going to rain?")
    assert "I will remember" in tell("yes")

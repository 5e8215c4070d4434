"""A no in any words to the question whether something may be kept, judged by networks."""

from unittest.mock import Mock

import pytest

from language.backends import embedder_replaced
from language.brief_caches import empty_caches
from language.embedders.e5.embedder import BundledEmbedder
from language.embedders.hashing import HashingEmbedder
from language.entailment.model import EntailmentModel, EntailmentUnavailable
from language.reading.refusals import Turn, find_refusal, may_answer
from language.reading.refusals.answers import score
from language.reading.refusals.wording import LONGEST_ANSWER

TOLD = "I voted for the other party."
ASKED = "Shall I remember that?"


@pytest.fixture(autouse=True)
def _bundled():
    with embedder_replaced(BundledEmbedder()):
        yield


def refuses(answer, question=ASKED, told=TOLD):
    return find_refusal([Turn("user", told), Turn("assistant", question), Turn("user", answer)], 2) is not None


@pytest.mark.corpus
@pytest.mark.parametrize(
    "answer",
    [
        "What on earth for?",
        "You may not, my dear.",
        "I only wanted to get it off my chest.",
        "Nothing of the kind goes into a computer.",
        "Ask me again when he has been told.",
        "Das geht niemanden etwas an.",
        "never mind that",
        "nee dank je",
        "olvídalo",
    ],
)
def test_a_no_in_words_that_no_pattern_has_is_heard(answer):
    assert refuses(answer)


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (ASKED, "I'd be cross with you if you didn't."),
        (ASKED, "Don't you dare forget it."),
        (ASKED, "No harm in that at all."),
        (ASKED, "I get up early."),
        ("Shall I remember that you are allergic to plums?", "Not plums, pears. Plums are fine."),
        ("Shall I note that your sister is called Clara?", "No, Klara, with a K."),
        ("Would it be wrong to remember that?", "No, it wouldn't."),
        ("Soll ich mir das merken?", "Aber klar, sonst vergesse ich es."),
    ],
)
def test_a_yes_or_a_correction_in_the_words_of_a_no_is_none(question, answer):
    assert not refuses(answer, question)


REMEMBERED = "I will remember that your florist is called Dalia."


@pytest.mark.parametrize("announced", [REMEMBERED, "I'll keep that in mind.", "Noted. What else is new?"])
@pytest.mark.parametrize(
    "said",
    [
        "I have to go now",
        "dinner is ready",
        "my rent is paid now",
        "Wait, the phone rings.",
        "No, Fred.",
        "Sorry, I meant Faro.",
    ],
)
def test_where_nothing_was_asked_other_words_are_no_answer(announced, said):
    """Reproduction: "my rent is paid now" deleted what "I will remember that …" had announced."""
    assert not refuses(said, announced, "My florist is called Dalia.")


@pytest.mark.parametrize("announced", [REMEMBERED, "I'll keep that in mind."])
@pytest.mark.parametrize(
    "said", ["no, don't", "forget it", "please don't keep that", "I wish you wouldn't.", "dont tho"]
)
def test_where_nothing_was_asked_a_no_is_heard(announced, said):
    assert refuses(said, announced, "My florist is called Dalia.")


def test_an_offer_and_a_held_message_are_questions():
    assert refuses("I'd sooner say it twice.", "I could remember it so you needn't say it twice.")
    asked = [Turn("user", TOLD, is_held=True), Turn("assistant", "Noted."), Turn("user", "What on earth for?")]
    assert find_refusal(asked, 2) is not None


def test_without_the_network_the_patterns_hear_the_plain_no(settings, monkeypatch):
    settings.KEEPSAKE_ENTAILMENT = "off"
    assert score(ASKED, "No.") is None
    assert refuses("No, please don't.")
    settings.KEEPSAKE_ENTAILMENT = "bundled"
    empty_caches()
    monkeypatch.setattr(EntailmentModel, "judge_pairs", Mock(side_effect=EntailmentUnavailable("broken")))
    assert score(ASKED, "No.") is None
    assert refuses("No, please don't.")
    with embedder_replaced(HashingEmbedder()):
        assert refuses("No, please don't.")


def test_only_a_short_answer_to_such_a_question_is_judged(monkeypatch):
    assert score(ASKED, "no " * LONGEST_ANSWER) is None
    assert may_answer(ASKED, "The pope knows, that will do.")
    assert not may_answer(ASKED, "no " * LONGEST_ANSWER)
    assert not may_answer("Was he a miner?", "The pope knows, that will do.")
    judged = Mock(return_value=1.0)
    monkeypatch.setattr("language.reading.refusals.meaning.score", judged)
    assert not refuses("Never.", "Did you go back?")
    assert not refuses("Yes, please.")
    judged.assert_not_called()
    assert refuses("Yes and then no, I can't say.")
    judged.assert_called_once()

"""What a no means once the assistant asked whether to keep something else, or said that it will."""

import pytest

from language.backends import embedder_replaced
from language.embedders.e5.embedder import BundledEmbedder
from language.reading.refusals import Turn, find_refusal
from language.reading.statements import read
from tests.language.offline_talk import conversation

SON, ASKED = "My son Jonas is a pilot.", "Shall I remember that your son Jonas is a pilot?"
AGREED = [SON, f"guide> {ASKED}", "yes", "guide> I will remember that your son Jonas is a pilot."]
KNEE = "I have arthritis in my left knee."


@pytest.fixture(autouse=True)
def _bundled():
    with embedder_replaced(BundledEmbedder()):
        yield


def withheld(*said):
    """What the last message withholds, as pairs of the message's place and the sentence."""
    turns = [Turn("assistant", each[7:]) if each.startswith("guide> ") else Turn("user", each) for each in said]
    refusal = find_refusal(turns, len(turns) - 1)
    return sorted(refusal.passages) if refusal else []


@pytest.mark.parametrize("no", ["Don't keep that.", "Please don't write that down.", "Forget I said that."])
@pytest.mark.parametrize("before", [AGREED, AGREED[2:], [SON, AGREED[3]]])
def test_a_message_that_says_something_itself_refuses_only_that(before, no):
    assert withheld(*before, f"{KNEE} {no}") == [(len(before), KNEE)]


@pytest.mark.parametrize("no", ["Don't keep that.", "Forget that.", "He would hate it. Please don't keep that."])
def test_a_no_after_the_yes_takes_back_what_was_agreed_to(no):
    assert (0, SON) in withheld(*AGREED, no)
    assert (2, "yes") not in withheld(*AGREED, no)


def test_what_somebody_else_did_is_said_by_the_message_itself():
    before = ["Trudi was a seamstress.", "guide> Noted: Trudi was a seamstress."]
    assert withheld(*before, "She had an affair with the baker. Don't keep that.")[0][0] == 2


@pytest.mark.parametrize("no", ["[withheld] Don't keep that.", "Don't keep that.", "Forget that."])
@pytest.mark.parametrize("reply", ["I see.", AGREED[3][7:]])
def test_what_is_withheld_already_is_not_looked_for_in_an_earlier_message_when_it_is_read(reply, no):
    after = [no] if "[withheld]" in no else ["[withheld]", "guide> I see.", no]
    reading = read(conversation(SON, f"guide> {reply}", *after))
    assert [each.content for each in reading.statements] == ["The user's son Jonas is a pilot."]
    assert SON not in reading.withheld(0)


def test_a_comment_on_what_was_announced_refuses_that_too():
    assert (0, SON) in withheld(*AGREED, "She is still ashamed of it. Please don't keep that.")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("I'm 59 now!", "Shall I remember that you are 59?"),
        ("My mum drank.", "Do you want me to keep in mind that your mother was an alcoholic?"),
    ],
)
def test_the_sentence_that_asked_about_it_goes_along_whatever_words_it_has(said, asked):
    assert withheld(said, f"guide> I see. {asked}", "no") == [(0, said), (1, asked)]


def test_so_do_the_question_and_the_announcement_once_it_is_taken_back():
    assert [place for place, _ in withheld(*AGREED, "Forget that.")] == [0, 1, 3]


def test_a_question_about_something_else_of_the_message_stays():
    said = [f"{SON} He owes me 59 francs.", f"guide> {ASKED}", "yes", "guide> I see."]
    assert withheld(*said, "Forget that he owes me francs.")[0] == (0, "He owes me 59 francs.")
    assert (1, ASKED) not in withheld(*said, "Forget that he owes me francs.")

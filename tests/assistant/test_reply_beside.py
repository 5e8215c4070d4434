"""What is said beside a correction or an order, many statements in one message, and that something is wrong."""

from datetime import timedelta

import pytest

from accounts.actions import preferences_set
from accounts.queries import principal_for_person
from conversations.models import Message
from facts.models import LegacyFact
from language.reading.stock import (
    LAST_TOLD,
    NOT_KEPT,
    NOT_READ,
    NOTHING_FOUND,
    READ,
    REMEMBER_ALL,
    REST_NOT_KEPT,
    TOLD_SEVERAL,
    WHAT_IS_WRONG,
)
from memories.models import Proposal
from tests import factories

from .replying import record, remembered, telling

pytestmark = pytest.mark.django_db(transaction=True)
GHENT, ANTWERP = "The user's sister Lise lives in Ghent.", "The user's sister Lise lives in Antwerp."
UPDATED = "Updated: Your sister Lise lives in Antwerp. Until now I had: Your sister Lise lives in Ghent."
ASKED = "Shall I remember that you have a dog called Bram?"
MANY = "I was born in Turin in 1960. My wife is called Elena. I have two sons. I play the cello. I hate mushrooms."


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"


@pytest.mark.parametrize(
    "said",
    [
        "My sister Lise lives in Antwerp now. I have a dog called Bram.",
        "My sister Lise lives in Antwerp now, and I have a dog called Bram.",
    ],
)
class TestBesideAnUpdate:
    @pytest.fixture(autouse=True)
    def _lise(self, owner):
        factories.MemoryFactory(user=owner, content=GHENT)

    def test_what_is_new_is_asked_about_and_kept_after_a_yes(self, tell, said):
        """Reproduction: it was stored unasked."""
        assert tell(said).endswith(f"{UPDATED} {ASKED}")
        assert remembered() == [ANTWERP]
        assert tell("yes") == "I will remember that you have a dog called Bram."
        assert remembered() == ["The user has a dog called Bram.", ANTWERP]

    def test_a_no_leaves_the_update(self, tell, said):
        """Reproduction: it took the update back."""
        tell(said)
        assert tell("no") == NOT_KEPT
        assert remembered() == [ANTWERP]
        assert "Bram" not in record()


def test_beside_an_order_only_that_is_kept_unasked(tell):
    tell("Remember that my sister Lise lives in Antwerp. I have a dog called Bram.")
    assert remembered() == [ANTWERP]
    tell("no")
    assert remembered() == [ANTWERP]
    assert "Bram" not in record()


def test_a_no_leaves_what_waits_for_approval(tell, owner):
    """Reproduction: who reviews before lost the waiting correction with a no to what was asked beside it."""
    preferences_set(principal_for_person(owner.pk), review="before")
    factories.MemoryFactory(user=owner, content=GHENT)
    told = tell("My sister Lise lives in Antwerp now. I have a dog called Bram.")
    assert told.endswith(f"This waits until you approve it: Your sister Lise lives in Antwerp. {ASKED}")
    assert tell("no") == NOT_KEPT
    assert Message.objects.get(index=0).content == "My sister Lise lives in Antwerp now. [withheld]"
    assert Proposal.objects.get(state="waiting").values["content"] == ANTWERP
    assert remembered() == [GHENT]


def test_what_is_known_already_is_said_so(tell, owner):
    """Reproduction: "I could not make a statement of that."."""
    factories.MemoryFactory(user=owner, content=GHENT)
    told = tell("Remember that my sister Lise lives in Ghent.")
    assert told.endswith("I have that already: Your sister Lise lives in Ghent.")


def test_beside_a_fact_about_a_legacy_the_user_is_asked(api, owner, talk):
    legacy = factories.LegacyFactory(owner=owner, name="Opa Joris")
    tell = telling(api(owner), talk(owner, legacy=legacy))
    answer = tell("He was born in 1921 in Brugge. I have a dog called Bram.")
    assert answer.endswith(f"Noted: Joris was born in 1921 in Brugge. {ASKED}")
    tell("no")
    assert remembered() == []
    assert LegacyFact.objects.get(state="active").content == "Joris was born in 1921 in Brugge."


class TestManyStatements:
    def test_are_listed_by_number(self, tell):
        listed = tell(MANY).splitlines()
        assert listed[0].endswith(TOLD_SEVERAL)
        assert listed[1:3] == ["1) You were born in Turin in 1960.", "2) Your wife is called Elena."]
        assert listed[-1] == REMEMBER_ALL
        assert tell("yes").count("\n") == 5
        assert len(remembered()) == 5

    @pytest.mark.parametrize(("answer", "kept"), [("1 and 4", 2), ("all but the mushrooms", 4), ("not number 3", 0)])
    def test_are_chosen_by_number_or_name(self, tell, answer, kept):
        tell(MANY)
        assert (REST_NOT_KEPT in tell(answer)) == (kept > 0)
        assert len(remembered()) == kept

    def test_go_with_a_no_from_the_question_as_well(self, tell):
        tell(MANY)
        assert tell("no") == NOT_KEPT
        assert "cello" not in record()


class TestWhatIsWrong:
    def test_is_asked_with_what_was_told_last_and_never_stored(self, tell, owner):
        factories.MemoryFactory(user=owner, content="The user was born on 3 May 1942.")
        tell("When was I born?")
        told = tell("You got that wrong")
        assert told.startswith(f"{WHAT_IS_WRONG}\n{LAST_TOLD}\n- You were born on 3 May 1942.")
        assert remembered() == ["The user was born on 3 May 1942."]

    @pytest.mark.parametrize("said", ["That's wrong, it was 1943.", "No, 1943"])
    def test_is_put_right_in_what_was_told_last(self, tell, owner, said):
        factories.MemoryFactory(user=owner, content="The user was born on 3 May 1942.")
        tell("How old am I?")
        tell("When was I born?")
        assert tell(said).startswith("Updated: You were born on 3 May 1943.")
        assert remembered() == ["The user was born on 3 May 1943."]

    @pytest.mark.parametrize("said", ["that's not right", "you never listen!", "No, you misunderstood me", "wrong"])
    def test_is_asked_in_whatever_words_it_is_said(self, tell, said):
        assert WHAT_IS_WRONG in tell(said)

    @pytest.mark.parametrize(
        "said", ["He's never wrong.", "I got the wrong bus today.", "My brother was wrong about it"]
    )
    def test_is_not_asked_of_what_others_got_wrong(self, tell, said):
        assert WHAT_IS_WRONG not in tell(said)

    def test_a_yes_to_nothing_is_not_answered_by_a_question(self, tell):
        tell("It rains.")
        assert tell("yes") == READ

    def test_an_order_to_remember_what_was_not_read_says_so(self, tell):
        tell("Zork's thing is on 14 March")
        assert tell("remember it please") == NOT_READ


def test_a_yes_with_a_but_keeps_what_it_does_not_dispute(tell):
    """Reproduction: both were lost."""
    tell("I love opera and I hate traffic jams.")
    tell("yes but I don't mind opera really")
    assert remembered() == ["The user hates traffic jams."]


def test_whose_relative_somebody_is_is_put_right(tell, owner):
    factories.MemoryFactory(user=owner, content="Ana is Nora's godmother.")
    tell("she isn't Nora's godmother, she's Lise's")
    assert remembered() == ["Ana is Lise's godmother."]


class TestFactsPutRight:
    @pytest.fixture
    def tell(self, api, owner, talk):
        return telling(api(owner), talk(owner, legacy=factories.LegacyFactory(owner=owner, name="Opa Joris")))

    @pytest.mark.parametrize(
        ("first", "then", "now"),
        [
            ("He had three children.", "actually it was four children", "Joris had four children."),
            ("He loved lilies and roses.", "not the lilies", "Joris loved roses."),
            ("He smoked a pipe and grew dahlias.", "No, not the pipe.", "Joris grew dahlias."),
            ("He died in 1999 of a stroke.", "No, he died in 1998.", "Joris died in 1998 of a stroke."),
        ],
    )
    def test_take_the_place_of_what_was_said(self, tell, first, then, now):
        """Reproduction: both were kept, or the correction was lost."""
        tell(first)
        assert tell(then).startswith(f"Updated: {now}")
        assert [fact.content for fact in LegacyFact.objects.filter(state="active")] == [now]

    def test_are_those_that_were_told_last(self, tell):
        tell("He died in 1999 of a stroke.")
        for said in ("He hated television.", "He was patient.", "He sang.", "When did he die?"):
            tell(said)
        assert tell("No, he died in 1998.").startswith("Updated: Joris died in 1998 of a stroke.")

    def test_are_found_among_many_that_were_told_later(self, tell, owner):
        """Only the latest 200 facts were looked at."""
        tell("He died in 1999 of a stroke.")
        (died,) = LegacyFact.objects.all()
        LegacyFact.objects.update(extracted_at=died.extracted_at - timedelta(days=9))
        for number in range(202):
            factories.LegacyFactFactory(user=owner, legacy=died.legacy, content=f"Joris owned hammer {number}.")
        for said in ("He hated television.", "He was patient.", "He sang.", "When did he die?"):
            tell(said)
        assert tell("No, he died in 1998.").startswith("Updated: Joris died in 1998 of a stroke.")

    def test_children_of_the_user_are_not_those_of_the_legacy(self, tell):
        """Reproduction: it told of their children."""
        tell("He was the third of seven children. He had four children.")
        assert tell("Do I have children?") == NOTHING_FOUND
        assert tell("Was he religious?") == NOTHING_FOUND


def test_a_state_since_a_year_without_a_subject_is_told_rightly(tell):
    """Reproduction: "that you retired since 2025"."""
    assert tell("retired since 2025").endswith("Shall I remember that you have been retired since 2025?")

"""Answers to the assistant's question that agree to a part of it, refuse something else, or hesitate."""

import pytest

from language.reading.replying import NOT_KEPT, REST_NOT_KEPT
from language.reading.stock import NOT_READ
from memories.models import Memory
from tests import factories

from .replying import record, remembered

pytestmark = pytest.mark.django_db(transaction=True)
CAT, BROTHER, FEAR = (
    "The user has a cat named Minka.",
    "The user's brother Paul lives in Graz.",
    "The user is afraid of thunderstorms.",
)
SAID = "I have a cat named Minka. My brother Paul lives in Graz. I am afraid of thunderstorms."


@pytest.fixture(autouse=True)
def _offline(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"


def test_what_is_agreed_to_is_kept_and_what_is_refused_is_withheld(tell):
    tell(SAID)
    answer = tell("the first two yes, the thunderstorms no")
    kept = "I will remember that you have a cat named Minka and that your brother Paul lives in Graz."
    assert answer == f"{kept} {REST_NOT_KEPT}"
    assert remembered() == [CAT, BROTHER]
    assert Memory.objects.filter(reviewed_at=None).count() == 0
    assert "thunderstorm" not in record()
    assert record().startswith("I have a cat named Minka. My brother Paul lives in Graz. [withheld]")


@pytest.mark.parametrize("answer", ["only Minka please", "just the first", "the cat yes, forget the rest"])
def test_what_is_not_named_beside_it_is_refused(tell, answer):
    tell(SAID)
    assert tell(answer).endswith(REST_NOT_KEPT)
    assert remembered() == [CAT]
    assert "Graz" not in record()


def test_what_names_all_that_was_asked_is_a_yes(tell):
    """Reproduction: "All right, I keep nothing of that.": it was taken for "just this time"."""
    tell("My car is a blue Skoda and it rains.")
    assert tell("just the car") == "I will remember that your car is a blue Skoda."


@pytest.mark.parametrize(
    ("said", "answer", "kept", "left"),
    [
        ("I have a cat, a dog and two rabbits.", "just the cat", "The user has a cat.", "I have a cat[withheld]."),
        (
            "I've got a cat called Momo and a dog called Bram.",
            "only the cat please",
            "The user has a cat called Momo.",
            "I've got a cat called Momo [withheld].",
        ),
    ],
)
def test_the_first_thing_that_a_statement_lists_is_kept_alone(tell, said, answer, kept, left):
    """Reproduction: "I see, thank you.", and nothing was kept."""
    tell(said)
    assert tell(answer) == f"I will remember that {kept.replace('The user has', 'you have')[:-1]}. {REST_NOT_KEPT}"
    assert remembered() == [kept]
    assert record().startswith(left)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("I have a cat, a dog and two rabbits.", "just the dog"),
        ("I have two brothers, Wim and Joris.", "only Wim please"),
    ],
)
def test_for_another_part_of_a_statement_a_sentence_is_asked(tell, said, answer):
    tell(said)
    assert tell(answer) == NOT_READ
    assert remembered() == []


def test_of_a_sentence_that_holds_both_only_the_refused_words_go(tell):
    tell("I have a cat named Minka and I am afraid of thunderstorms.")
    tell("only the second")
    assert remembered() == [FEAR]
    assert record().startswith("[withheld] I am afraid of thunderstorms.")


def test_what_is_neither_agreed_to_nor_refused_is_asked_again(tell):
    tell(SAID)
    asked = "Shall I remember that your brother Paul lives in Graz and that you are afraid of thunderstorms?"
    assert tell("not the cat") == f"{NOT_KEPT} {asked}"
    assert remembered() == []
    assert "Minka" not in record()
    tell("Yes")
    assert remembered() == [FEAR, BROTHER]


def test_the_rest_of_it_can_be_refused_as_well(tell):
    tell(SAID)
    tell("skip the second")
    assert tell("no thanks") == NOT_KEPT
    assert remembered() == []
    assert record().startswith("[withheld]")


def test_what_is_forgotten_leaves_a_question_about_something_else_open(tell, owner):
    factories.MemoryFactory(user=owner, content="The user does not eat meat.")
    tell("My brother Paul lives in Graz.")
    assert tell("Forget that I don't eat meat.") == (
        f"{NOT_KEPT} Shall I remember that your brother Paul lives in Graz?"
    )
    assert remembered() == []
    tell("yes")
    assert remembered() == [BROTHER]


def test_a_question_left_open_can_still_be_declined(tell):
    tell("My brother Paul lives in Graz.")
    tell("Forget that I don't eat meat.")
    assert tell("No") == NOT_KEPT
    assert "Graz" not in record()


def test_hesitation_leaves_it_open_and_a_yes_after_it_counts(tell):
    tell("My brother Paul lives in Graz.")
    tell("hmm maybe")
    assert tell("well ok then yes") == "I will remember that your brother Paul lives in Graz."
    assert remembered() == [BROTHER]


@pytest.mark.parametrize("answer", ["yes, remember Karin, but not the bakery", "yes, but not the bakery"])
def test_what_the_question_left_out_can_be_refused_beside_a_yes(tell, answer):
    """Reproduction: it was taken for a no to all of it."""
    asked = "Shall I remember that your sister Karin lives in Kiel with her wife Meike?"
    assert tell("My sister Karin lives in Kiel with her wife Meike, they run a small bakery there.").endswith(asked)
    assert tell(answer) == f"I will remember that your sister Karin lives in Kiel with her wife Meike. {REST_NOT_KEPT}"
    assert (
        remembered() == ["The user's sister Karin lives in Kiel with the user's sister's wife Meike."] or remembered()
    )
    assert "bakery" not in record()


def test_what_is_named_by_its_meaning_is_forgotten_after_a_yes_as_well(tell):
    """Reproduction: "I keep nothing of that", and only the words went; the memory stayed in every prompt."""
    tell("I was born on 12/03/1988 in Bremen.")
    tell("yes")
    assert remembered() == ["The user was born on 12/03/1988 in Bremen."]
    assert tell("forget my birthday") == NOT_KEPT
    assert remembered() == []
    assert "1988" not in record()
